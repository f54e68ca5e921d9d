// Contention between messages, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/fit/load_fit.h"
#include "replay/study/run_replay.h"
#include "tests/unit/contended.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// Ranks 0 and 1 of one node send 1000 bytes each to 2 and 3 of another, rank 1 at `start`.
std::string pairs(int start) {
  const std::string at = std::to_string(start);
  return "nodes 0 0 1 1\n0: 0..0 send 2 1000B\n1: 0..0 local MPI_Comm_rank\n1: " + at + ".." + at +
         " send 3 1000B\n2: 0..10 recv 0 1000B\n3: 0..10 recv 1 1000B\n";
}

void check_refused(const std::string& contention, const std::string& why) {
  try {
    contended(contention);
    FAIL("was accepted: " << contention);
  } catch (const InputError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find(why) != std::string::npos);
  }
}

}  // namespace

// T = L + n / B * LR * DR, with two live requests on each node from start to end: 100 + 1000 * 2 *
// DR. So 2100 at DR = 1, 4100 at 2, 20100 at 10, 300 at 0.1.
TEST_CASE("degradation: two live requests on a node, several ratios at once") {
  const auto source = parse_text_trace(pairs(0));
  const Results results =
      run_replay(*source, {degraded(1), degraded(2), degraded(10), degraded(0.1)}, {});
  check(ends_of(results.scenarios[0]), {0, 0, 2100, 2100});
  check(ends_of(results.scenarios[1]), {0, 0, 4100, 4100});
  check(ends_of(results.scenarios[2]), {0, 0, 20100, 20100});
  check(ends_of(results.scenarios[3]), {0, 0, 300, 300});
}

// Calibration measures k pairs that pass n bytes to and fro. Alone 100 + n ns between nodes and 10
// + n within one; two pairs between nodes 100 + 1.5 n, which is DR = 1.5 / 2 = 0.75, three within
// one 10 + 6 n, DR = 2. The file that says so, switched on, gives those times back: three round
// trips of 1000 bytes take 6 * 1600 and 6 * 6010. (One pair alone takes 100 + 0.75 n then, and 10 +
// 2 n: that is what MPInside's form says of LR = 1.)
TEST_CASE("degradation: the replay reproduces calibrated times of several pairs") {
  const auto replayed = [](Level level, int pairs, double loaded, const std::string& nodes) {
    const double latency = level == Level::kNode ? 10e-9 : 100e-9;
    const Scenario quiet = contended("");
    Platform platform = quiet.platform;
    const std::string comment = note_load(
        platform.measured,
        {{level,
          {{1, 0, latency}, {1, 1e6, latency + 1e-3}, {pairs, 1e6, latency + loaded * 1e-3}}}},
        false);
    std::string file = format_platform(platform, {{}, comment});
    for (size_t at = file.find("# [contention]"); at != std::string::npos;
         at = file.find("\n# ", at))
      file.erase(file[at] == '#' ? at : at + 1, 2);
    Scenario scenario;
    scenario.platform = parse_platform(file, "cluster.toml");
    std::string trace = "nodes " + nodes + "\n";
    for (int pair = 0; pair < pairs; ++pair) {
      const std::string a = std::to_string(pair), b = std::to_string(pairs + pair);
      for (int trip = 0; trip < 3; ++trip) {
        trace += a + ": 0..0 send " + b + " 1000B\n" + a + ": 0..0 recv " + b + " 1000B\n";
        trace += b + ": 0..0 recv " + a + " 1000B\n" + b + ": 0..0 send " + a + " 1000B\n";
      }
    }
    return ends(trace, scenario)[0];
  };
  CHECK(replayed(Level::kNetwork, 2, 1.5, "0 0 1 1") == Approx(6 * 1600).margin(1e-3));
  CHECK(replayed(Level::kNode, 3, 6, "0 0 0 0 0 0") == Approx(6 * 6010).margin(1e-3));
}

// DR = 2. The first message is alone until the second starts at 1100: its latency ends at 100, of
// its data (1100 - 100) / 2 = 500 bytes are through by then. From there on LR = 2: the other 500
// take 500 * 2 * 2 = 2000, until 3100. The second: latency until 1200, (3100 - 1200) / 4 = 475
// bytes until the first has arrived, 525 alone at 2 ns each: 3100 + 1050 = 4150.
TEST_CASE("degradation: requests count while they are live") {
  check(ends(pairs(1100), degraded(2)), {0, 1100, 3100, 4150});
}

// Node 0 has two live requests, nodes 1 and 2 one each: the node with more counts, DR = 2.
// 100 + 1000 * 2 * 2. The message within node 0, 10 + 1000, is none of the network's.
TEST_CASE("degradation: of the two nodes of a message the one with more live requests") {
  check(ends(R"(
    nodes 0 0 1 2 0
    0: 0..0 send 2 1000B
    1: 0..0 send 3 1000B
    1: 0..0 send 4 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 1 1000B
    4: 0..10 recv 1 1000B
  )",
             degraded(2)),
        {0, 0, 4100, 4100, 1010});
}

// 10000 bytes by async: the request is there at 100, the receive is posted at 300. T - L = 10000 is
// what the data takes, so there is nothing left for an answer: 300 + 10000 * 3. The sender leaves
// with it.
TEST_CASE("degradation: the handshake is not affected by load") {
  check(ends(R"(
    nodes 0 1
    0: 0..0 send 1 10000B
    1: 0..0 local MPI_Comm_rank
    1: 300..310 recv 0 10000B
  )",
             degraded(3)),
        {30300, 30300});
}

// The same where T(n) = 300 + n from 5000 bytes on, which includes three trips of 100; only the
// request has arrived when the receive is posted. So 300 + 100 + 100 + 10000 * 3 by degradation;
// and with one link out of the node, which the data keeps from 400 on for 10000, a second one is
// there at 10400 + 100 + 10000.
TEST_CASE("contention: the trips of a handshake are latency, all three") {
  const auto with_trips = [](Scenario scenario) {
    LevelModel& network = *scenario.platform.level(Level::kNetwork);
    network.transfer = TransferCurve({{0, 100e-9, 1e-9}, {5000, 300e-9, 1e-9}});
    return scenario;
  };
  check(ends(R"(
    nodes 0 1
    0: 0..0 send 1 10000B
    1: 0..0 local MPI_Comm_rank
    1: 300..310 recv 0 10000B
  )",
             with_trips(degraded(3))),
        {30500, 30500});
  check(ends(R"(
    nodes 0 0 1 1
    0: 0..0 send 2 10000B
    1: 0..0 send 3 10000B
    2: 0..0 local MPI_Comm_rank
    2: 300..310 recv 0 10000B
    3: 0..0 local MPI_Comm_rank
    3: 300..310 recv 1 10000B
  )",
             with_trips(buses("out = 1"))),
        {10500, 20500, 10500, 20500});
}

// Eight Isends of 1000 bytes at once by one rank: LR = 8 for all, 100 + 1000 * 8.
TEST_CASE("degradation: every request of a rank is one") {
  std::string text = "nodes 0 1\n";
  for (int i = 0; i < 8; ++i)
    text += "0: 0..0 isend 1 1000B req " + std::to_string(i) + "\n1: 0..0 irecv 0 1000B req " +
            std::to_string(i) + "\n";
  text += "0: 0..0 waitall 0 1 2 3 4 5 6 7\n1: 0..10 waitall 0 1 2 3 4 5 6 7\n";
  check(ends(text, degraded(1)), {0, 8100});
}

// Both want the only link out of node 0: rank 0 has it first, for the 1000 that its data takes; so
// rank 1 starts at 1000 and arrives at 2100.
TEST_CASE("buses: one link out of a node, one into it, one bus") {
  check(ends(pairs(0), buses("out = 1")), {0, 0, 1100, 2100});
  check(ends(pairs(0), buses("in = 1")), {0, 0, 1100, 2100});
  check(ends(pairs(0), buses("network = 1")), {0, 0, 1100, 2100});
  check(ends(pairs(400), buses("network = 1")), {0, 400, 1100, 2100});
}

TEST_CASE("buses: as many as there are messages are as good as any") {
  const auto alone = ends(pairs(0), contended(""));
  check(alone, {0, 0, 1100, 1100});
  CHECK(ends(pairs(0), buses("out = 2\nin = 2\nnetwork = 2")) == alone);
  CHECK(ends(pairs(0), buses("")) == alone);
}

// Ranks 0, 1, 2 on nodes of their own, all to node 3. One link into it: they come in the order of
// their starts, 0 at 20, 2 at 10, 1 at 10: rank 1 before 2. So 1 has it from 10 to 1010, 2 from
// 1010, 0 from 2010: there at 1110, 2110 and 3110.
TEST_CASE("buses: first come, first served; simultaneous messages by rank") {
  check(ends(R"(
    nodes 0 1 2 3 3 3
    0: 0..0 local MPI_Comm_rank
    0: 20..20 send 3 1000B
    1: 0..0 local MPI_Comm_rank
    1: 10..10 send 4 1000B
    2: 0..0 local MPI_Comm_rank
    2: 10..10 send 5 1000B
    3: 0..10 recv 0 1000B
    4: 0..10 recv 1 1000B
    5: 0..10 recv 2 1000B
  )",
             buses("in = 1")),
        {20, 10, 10, 3110, 1110, 2110});
}

// One link out of node 0 and one into node 2. At 0 rank 0 (node 0) sends to node 1, rank 1 (node 0)
// to node 2: it waits for the link out until 1000. At 500 rank 2 (node 1) sends to node 2: the link
// into it is free, but rank 1 came before: from 1000 to 2000 rank 1 has it, so rank 2's message
// arrives at 2000 + 1100.
TEST_CASE("buses: no message overtakes an earlier one that waits for the same link") {
  check(ends(R"(
    nodes 0 0 1 1 2 2
    0: 0..0 send 3 1000B
    1: 0..0 send 4 1000B
    2: 0..0 local MPI_Comm_rank
    2: 500..500 send 5 1000B
    3: 0..10 recv 0 1000B
    4: 0..10 recv 1 1000B
    5: 0..10 recv 2 1000B
  )",
             buses("out = 1\nin = 1")),
        {0, 0, 500, 1100, 2100, 3100});
}

// One link out of node 0, two buses. Rank 1 waits for rank 0's link until 1000; the second bus is
// not reserved for it, so rank 4's message, which needs other links, flows at once.
TEST_CASE("buses: a message that waits for a link holds no bus") {
  check(ends(R"(
    nodes 0 0 1 2 3 4
    0: 0..0 send 2 1000B
    1: 0..0 send 3 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 1 1000B
    4: 0..0 send 5 1000B
    5: 0..10 recv 4 1000B
  )",
             buses("out = 1\nnetwork = 2")),
        {0, 0, 1100, 2100, 0, 1100});
}

// Eight senders on nodes of their own, one receiver's node: with k links into it they go in rounds
// of k, so the last is there at 1000 * (ceil(8 / k) - 1) + 1100.
TEST_CASE("buses: more of them never make it later") {
  std::string text = "nodes 0 1 2 3 4 5 6 7 8\n";
  for (int i = 0; i < 8; ++i) {
    text += std::to_string(i) + ": 0..0 send 8 1000B\n";
    text += "8: " + std::to_string(i) + ".." + std::to_string(i + 1) + " recv " +
            std::to_string(i) + " 1000B\n";
  }
  for (int k = 1; k <= 9; ++k) {
    INFO("k = " << k);
    const int rounds = (8 + k - 1) / k;
    CHECK(ends(text, buses("in = " + std::to_string(k)))[8] ==
          Approx(1000.0 * (rounds - 1) + 1100));
  }
}

// In the order of time the data of a rendezvous takes the port when it flows. T = 100 + n, g = n.
// Three receives are posted at 1 ms, after the requests arrived; the answers take 100, then 100000
// bytes pass the port every 100000: they arrive after 1.1, 1.2 and 1.3 ms, and the sender leaves
// with the last. Its 8 bytes to rank 4 find the port free at 0. Without that order all take the
// port with their sends, from 0 to 300000: there at 1.1 ms, but the 8 bytes at 300108.
TEST_CASE("the data of a rendezvous takes the port when it flows") {
  const char* text = R"(
    nodes 0 1 2 3 4
    0: 0..0 isend 1 100000B req 1
    0: 0..0 isend 2 100000B req 2
    0: 0..0 isend 3 100000B req 3
    0: 0..0 send 4 8B
    0: 0..9 waitall 1 2 3
    1: 0..0 local MPI_Comm_rank
    1: 1000000..1000010 recv 0 100000B
    2: 0..0 local MPI_Comm_rank
    2: 1000000..1000010 recv 0 100000B
    3: 0..0 local MPI_Comm_rank
    3: 1000000..1000010 recv 0 100000B
    4: 0..400000 recv 0 8B
  )";
  const auto with_port = [](Scenario scenario) {
    scenario.platform.level(Level::kNetwork)->gap.reset();
    return scenario;
  };
  check(ends(text, with_port(buses(""))), {1.3e6, 1.1e6, 1.2e6, 1.3e6, 108});
  check(ends(text, with_port(contended(""))), {1.1e6, 1.1e6, 1.1e6, 1.1e6, 300108});
}

TEST_CASE("a push that waits for its port was not under way before") {
  // o_s = 200, L = 0, o_r = 300, T = g = n ns, all pushed. Rank 0 sends 2000 bytes each to ranks 1
  // and 2, which wait: requests at 200 and 400, answered at once; the answers can be seen at 700
  // and 900. Rank 0 waits from 400 on. There are enough buses: only ports are contended.
  const Scenario scenario = slow_processors(
      "[ { from = \"0B\", latency = \"0ns\", bandwidth = \"1GB/s\" } ]\n"
      "[contention]\nmodel = \"buses\"\nlevels = [\"node\"]\nnetwork = 9\n");
  const char* text = R"(
    0: 0..0 isend 1 2000B req 1
    0: 0..0 isend 2 2000B req 2
    0: 0..0 wait 1 2
    0: 0 end
    1: 0..0 recv 0 2000B
    1: 0 end
    2: 0..0 recv 0 2000B
    2: 0 end
  )";
  // The first is under way since 400, when the sender came to wait: there at 2400. It is recorded
  // at the port from 700 to 2700. Then the second flows, until 4700. + 300 for the receivers.
  check(ends(text, scenario), {4700, 2700, 5000});
}

// Two broadcasts of 1000 bytes between the same two nodes at once: two live requests on each node,
// so 100 + 1000 * 2 = 2100 instead of 100 + 1000. Their roots, 0 and 1, do not wait.
TEST_CASE("broadcasts slow each other down") {
  const std::string text = R"(
    nodes 0 0 1 1
    comm 1 0 2
    comm 2 1 3
    0: 0..10 bcast root 0 1000B 1000B comm 1
    1: 0..10 bcast root 0 1000B 1000B comm 2
    2: 0..10 bcast root 0 1000B 1000B comm 1
    3: 0..10 bcast root 0 1000B 1000B comm 2
  )";
  check(ends(text, contended("")), {0, 0, 1100, 1100});
  check(ends(text, degraded(1)), {0, 0, 2100, 2100});
  check(ends(text, degraded(2)), {0, 0, 4100, 4100});
}

// And a message beside a broadcast, which begins when the broadcast has sent 400 of its 1000 bytes,
// at 500: both go on at half the pace, until the broadcast has sent the other 600 at 500 + 1200 =
// 1700. The message has its latency until 600, has sent 1100 / 2 = 550 by 1700, and the other 450
// by 2150.
TEST_CASE("a broadcast and a message slow each other down") {
  const std::string text = R"(
    nodes 0 0 1 1
    comm 1 0 2
    0: 0..10 bcast root 0 1000B 1000B comm 1
    1: 0..0 local MPI_Comm_rank
    1: 500..510 send 3 1000B
    2: 0..10 bcast root 0 1000B 1000B comm 1
    3: 0..10 recv 1 1000B
  )";
  check(ends(text, degraded(1)), {0, 500, 1700, 2150});
}

// Recursive doubling between two ranks is a message in each direction at once, of the 1000 bytes
// that each gives (on record are those to both). With one bus the one of rank 0 goes first, until
// 1000 and is there at 1100; the other starts then and is there at 1000 + 1100.
TEST_CASE("messages of an allreduce wait for a bus") {
  const std::string text = R"(
    nodes 0 1
    0: 0..10 allreduce 2000B 2000B
    1: 0..10 allreduce 2000B 2000B
  )";
  const std::string doubling = "\n[collectives.allreduce]\nalgorithm = \"recursive_doubling\"\n";
  check(ends(text, buses("network = 2" + doubling)), {1100, 1100});
  check(ends(text, buses("network = 1" + doubling)), {2100, 1100});
}

// Down a chain of four nodes one message flows at a time, so each takes 1100 with any of the
// models. Rank 3 comes late, at 4000, and takes what is there: without overheads that is no time.
TEST_CASE("collectives on free links take as long as without contention") {
  const std::string text = R"(
    nodes 0 1 2 3
    0: 0..10 bcast root 0 1000B 1000B
    1: 0..10 bcast root 0 1000B 1000B
    2: 0..10 bcast root 0 1000B 1000B
    3: 4000..4010 bcast root 0 1000B 1000B
  )";
  const std::string chain = "\n[collectives.bcast]\nalgorithm = \"chain\"\n";
  const std::vector<double> alone = ends(text, contended("model = \"none\"" + chain));
  CHECK(alone == ends(text, buses("network = 1" + chain)));
  CHECK(alone == ends(text, contended("model = \"degradation\"" + chain)));
}

// Rank 0 gathers before it sends, but rank 1 receives first: records are missing. The replay
// releases one rank, and later calls of the other start nothing for members that have left.
TEST_CASE("an abandoned collective has no messages") {
  for (const char* op : {"gather", "bcast"}) {
    const std::string root = std::string(op) == "gather" ? "0" : "1";
    const std::string all = std::string(op) + " root " + root + " 1000B 1000B\n";
    const std::string text = "nodes 0 1\n0: 0..10 " + all + "0: 20..30 send 1 1000B\n" +
                             "1: 0..25 recv 0 1000B\n1: 26..30 " + all;
    CHECK(ends(text, degraded(1)).size() == 2);
  }
}

// The root's 8 bytes are below the limit, so it begins; the others, with recorded 4 kB, wait for
// all.
TEST_CASE("a collective begins once, whatever its members think of its size") {
  const std::string limit = "\n[collectives.scatterv]\nsync_limit = \"1kB\"\n";
  for (const std::string first : {"0", "1"}) {
    const std::string text =
        "nodes 0 1\n0: " + std::string(first == "0" ? "0..10" : "50..60") +
        " scatterv root 0 8B 8B\n1: " + std::string(first == "0" ? "50..60" : "0..10") +
        " scatterv root 0 4kB 4kB\n";
    CHECK(ends(text, contended("model = \"none\"" + limit)) ==
          ends(text, buses("out = 9" + limit)));
  }
}

// Nodes need not be numbered without holes.
TEST_CASE("nodes of text traces have any numbers") {
  const std::string text = "nodes 7 3\n0: 0..0 send 1 1000B\n1: 0..10 recv 0 1000B\n";
  check(ends(text, degraded(1)), {0, 1100});
}

TEST_CASE("errors in [contention] are reported in one line") {
  check_refused("out = 1", "[contention] lacks 'model'");
  check_refused("model = \"busses\"", "contention.model 'busses' is not known");
  check_refused("model = \"buses\"\nout = 0", "contention.out must be a whole number above 0");
  check_refused("model = \"buses\"\nout = 1.5", "contention.out must be a whole number above 0");
  check_refused("model = \"buses\"\ndegradation_ratio = 2", "is for the model \"degradation\"");
  check_refused("model = \"degradation\"\nnetwork = 2", "is for the model \"buses\"");
  check_refused("model = \"degradation\"\ndegradation_ratio = 0", "must be a number above 0");
  check_refused("model = \"degradation\"\nlevels = [\"rack\"]", "'rack' is not known");
  check_refused("model = \"degradation\"\nratio = 2", "[contention] has no key 'ratio'");
}

TEST_CASE("[contention] is written as it was read") {
  for (const char* text :
       {"model = \"degradation\"\ndegradation_ratio = 2.5\nlevels = [\"node\", \"network\"]",
        "model = \"buses\"\nout = 2\nin = 1\nnetwork = 16"}) {
    const Platform platform = contended(text).platform;
    CHECK(parse_platform(format_platform(platform), "again").contention == platform.contention);
  }
}

TEST_CASE("scenarios change the degradation ratio") {
  CHECK(
      parse_scenario("bandela:latency=1us,dr=5").platform.contention.number("degradation_ratio") ==
      5);
  CHECK(parse_scenario("bandela:dr=5,dr*2").platform.contention.number("degradation_ratio") == 10);
  CHECK(parse_scenario("bandela:dr=5,contention=none").platform.contention.model == nullptr);
  CHECK(parse_scenario("bandela:dr=fit").fits_degradation);
  CHECK_FALSE(parse_scenario("bandela:dr=fit,dr=5").fits_degradation);
  CHECK_FALSE(parse_scenario("bandela:dr=fit,contention=none").fits_degradation);
  CHECK_THROWS_AS(parse_scenario("bandela:dr=fit,dr*2"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:dr=fit,contention.out=4"), UsageError);
  // Any key of any model, by its name; the model comes with it.
  const ContentionSetting buses =
      parse_scenario("bandela:contention.out=4,contention.in=2,contention.out/2")
          .platform.contention;
  CHECK(buses.is("buses"));
  CHECK(buses.number("out") == 2);
  CHECK(buses.number("in") == 2);
  CHECK_FALSE(buses.number("network").has_value());
  CHECK(parse_scenario("bandela:contention=degradation")
            .platform.contention.number("degradation_ratio") == 1);
  CHECK_THROWS_AS(parse_scenario("bandela:contention.out=1.5"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:contention.outt=1"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:contention=busses"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:contention.out=1,contention.in*2"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:dr*2"), UsageError);
  CHECK_THROWS_AS(parse_scenario("bandela:dr=-1"), UsageError);
  CHECK_THROWS_AS(parse_scenario("measured:dr=1"), UsageError);
}

// Measured times are those of DR = 3: two pairs at once take 100 + 1000 * 2 * 3 = 6100, and after
// 900 of compute the answers go back, rank 3's alone from 7000 on (rank 2 ends there): 100 + 1000 *
// 3, until 10100.
TEST_CASE("fitting the degradation ratio finds a planted one") {
  const std::string text = R"(
    nodes 0 0 1 1
    0: 0..0 send 2 1000B
    1: 0..0 send 3 1000B
    1: 0..10100 recv 3 1000B
    2: 0..6100 recv 0 1000B
    2: 7000 end
    3: 0..6100 recv 1 1000B
    3: 7000..7000 send 1 1000B
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {fitted(), fitted()}, {});
  for (const ScenarioResult& result : results.scenarios) {
    REQUIRE(result.degradation_fit.has_value());
    CHECK(*result.degradation_fit->ratio == Approx(3).epsilon(1e-4));
    // Commands in reports repeat the ratio, not the search.
    CHECK(result.changes ==
          std::vector<std::string>{change_by("dr", '=', *result.degradation_fit->ratio)});
    CHECK(result.elapsed * 1e9 == Approx(10100).epsilon(1e-5));
  }
}

// The run took 950, but the latency of 100 and the compute of 900 alone take 1000.
TEST_CASE("fitting the degradation ratio reports when no ratio fits") {
  const auto source = parse_text_trace(R"(
    nodes 0 1
    0: 0..0 send 1 1000B
    1: 0..50 recv 0 1000B
    1: 950 end
  )");
  const Results results = run_replay(*source, {fitted()}, {});
  CHECK(!results.scenarios[0].degradation_fit->ratio);
  const std::vector<std::string> warnings = warnings_about(results.scenarios[0]);
  REQUIRE(!warnings.empty());
  CHECK(warnings.back().find("no degradation ratio") != std::string::npos);
}
