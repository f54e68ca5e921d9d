// Times of hand-made traces, worked out by hand (tests/unit/toy.h). One tick is one nanosecond.

#include "replay/run/replay_options.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "tests/unit/each_width.h"
#include "tests/unit/toy.h"
#include "tools/words/note_words.h"

using namespace rubato;

TEST_CASE("eager: the receive leaves when the message arrives, the send at once") {
  // Perfect: the send takes no time: rank 0 ends at 50 + (100 - 60) = 90. The receive leaves at the
  // send's enter, 50; then 10 of compute: 60.
  check(ends(kLateSenderTrace, on("perfect")), {90, 60});
  // Bandela 1 us, 1 GB/s: arrival = 50 + 1000 + 8 = 1058, + 10 = 1068. The sender does not wait.
  check(ends(kLateSenderTrace, on("bandela:latency=1us,bandwidth=1GB/s")), {90, 1068});
  // Toy: sender leaves at 50 + 10; + 40 = 100. Arrival = 60 + 108 = 168; + o_r 20 = 188; + 10 =
  // 198.
  check(ends(kLateSenderTrace, toy()), {100, 198});
}

TEST_CASE("a message that waits for its receiver costs the receiver only its overhead") {
  const char* text = R"(
    0: 0..5 send 1 8B
    0: 10 end
    1: 0 local MPI_Comm_rank
    1: 500..510 recv 0 8B
    1: 600 end
  )";
  // Arrival = 10 + 108 = 118, long before 500: leave = 500 + 20, then 90 of compute = 610.
  check(ends(text, toy()), {15, 610});
  // Where unexpected messages cost more: leave = 500 + 50, then 90: 640.
  Scenario scenario = toy();
  scenario.platform.level(Level::kNode)->unexpected_overhead = TransferCurve({{0, 50e-9, 0, 0}});
  check(ends(text, scenario), {15, 640});
  // Not when the receive was posted before: kLateSenderTrace above.
  check(ends(kLateSenderTrace, scenario), {100, 198});
}

TEST_CASE("rendezvous: sender and receiver synchronise, whichever is late") {
  // 2000 B: T = 100 + 2000 = 2100 counts from both-ready and holds the handshake; L = T(0) = 100.
  const char* late_receiver = R"(
    0: 0..5 send 1 2000B
    0: 10 end
    1: 5000..5010 recv 0 2000B
    1: 5010 end
  )";
  // start = 10 (o_s); arrival = max(10 + 100, 5000) + 2100 - 100 = 7000. The sender leaves then, +
  // 5 compute. The receiver: 7000 + 20.
  check(ends(late_receiver, toy()), {7005, 7020});

  const char* early_receiver = R"(
    0: 3000..3005 send 1 2000B
    0: 3010 end
    1: 0..10 recv 0 2000B
    1: 10 end
  )";
  // start = 3010, arrival = max(3110, 0) + 2000 = 5110; receiver + 20; sender + 5.
  check(ends(early_receiver, toy()), {5115, 5130});
}

TEST_CASE("the out-port lets one message through at a time") {
  const char* text = R"(
    0: 0..1 isend 1 500B tag 1 req 1
    0: 1..2 isend 1 500B tag 2 req 2
    0: 2..3 wait 1 2
    0: 3 end
    1: 0..1 irecv 0 500B tag 1 req 1
    1: 1..2 irecv 0 500B tag 2 req 2
    1: 2..3 wait 1 2
    1: 3 end
  )";
  // First: ready at 10, start 10, port free at 10 + 500 = 510, arrival 10 + 600 = 610.
  // Second: ready at 20, start 510, arrival 1110. In-port: 610, then max(1110, 610 + 500) = 1110.
  // Receiver: max(Sum o_r = 40, 610 + 20, 1110 + 20) = 1130. Sender: 20, no wait.
  check(ends(text, toy()), {20, 1130});
}

TEST_CASE("the in-port drains what several senders send at once") {
  const char* text = R"(
    0: 0..1 send 2 500B
    0: 1 end
    1: 0..1 send 2 500B
    1: 1 end
    2: 0..1 recv 0 500B
    2: 1..2 recv 1 500B
    2: 2 end
  )";
  // Both are at the receiver at 10 + 600 = 610. The first is drained at 610, its receive leaves at
  // 630; the second is drained at 610 + g = 1110, leaves at 1130.
  check(ends(text, toy()), {10, 10, 1130});
}

TEST_CASE("Ssend waits for its receive even where all is free") {
  const char* text = R"(
    0: 0..300 ssend 1 8B
    0: 300 end
    1: 250..260 recv 0 8B
    1: 260 end
  )";
  // Perfect: leaves when the receive is posted, 250.
  check(ends(text, on("perfect")), {250, 250});
  // Toy: arrival = 10 + 108 = 118 < posted 250; the sender has seen the answer, an empty message,
  // 10 + 100 + 20 later: 380.
  check(ends(text, toy()), {380, 270});
}

TEST_CASE("a buffered send copies its data before anything else") {
  // o_s = 10, T = 100 + n, o_r = 20. A copy takes 30 + n / 4: of 8 bytes 32, of 2000 bytes 530.
  Scenario copies = toy();
  copies.platform.copy = TransferCurve({{0, 30e-9, 0.25e-9, 0}});
  const auto text = [](const std::string& send, const std::string& bytes) {
    return "0: 0..9 " + send + " 1 " + bytes + "\n0: 9 end\n1: 0..9 recv 0 " + bytes +
           "\n1: 9 end\n";
  };
  // Eager: 10 + 32, there 108 later, + 20.
  check(ends(text("bsend", "8B"), copies), {42, 170});
  check(ends(text("bsend", "8B"), toy()), {10, 138});
  check(ends(text("send", "8B"), copies), {10, 138});
  // With a handshake: the sender leaves at 10 + 530, the data arrive at 540 + 2100, + 20.
  check(ends(text("bsend", "2000B"), copies), {540, 2660});
  // Side by side, as lanes of one pass: each as alone.
  const Results lanes = replay(text("bsend", "8B"), {toy(), copies});
  check(ends_of(lanes.scenarios[0]), {10, 138});
  check(ends_of(lanes.scenarios[1]), {42, 170});
}

TEST_CASE("Sendrecv starts both halves at its enter") {
  const char* text = R"(
    0: 0..5 sendrecv 1 2000B 1 2000B
    0: 5 end
    1: 100..105 sendrecv 0 2000B 0 2000B
    1: 105 end
  )";
  // Rendezvous both ways without deadlock. 0 -> 1: start 10, arrival = max(110, 100) + 2000 = 2110.
  // 1 -> 0: start 110, arrival = max(210, 0) + 2000 = 2210. Each waits for both, receives cost 20.
  // Rank 0: max(sends 2110, receive 2230) = 2230. Rank 1: max(2110 + 20, 2210) = 2210.
  check(ends(text, toy()), {2230, 2210});
}

TEST_CASE("matching is in post order, not in completion order") {
  // Two receives of one channel complete in the other order; lengths differ, so that a wrong match
  // would be noticed as unmatched messages.
  const char* text = R"(
    0: 0..1 send 1 100B
    0: 1..2 send 1 200B
    0: 2 end
    1: 0..1 irecv 0 100B req 1
    1: 1..2 irecv 0 200B req 2
    1: 2..3 wait 2
    1: 3..4 wait 1
    1: 4 end
  )";
  const Results results = replay(text, {toy()});
  CHECK(results.trace.messages == 2);
  CHECK(results.trace.unmatched_sends == 0);
  CHECK(results.trace.unmatched_receives == 0);
}

TEST_CASE("collectives: dependencies between members") {
  const char* text = R"(
    0: 10..40 bcast root 1 8B 8B
    0: 40..90 reduce root 0 8B 24B
    0: 90..99 scan 24B 8B
    0: 100..120 barrier
    0: 120 end
    1: 30..31 bcast root 1 24B 8B
    1: 81..82 reduce root 0 8B 0B
    1: 82..99 scan 16B 16B
    1: 100..120 barrier
    1: 120 end
    2: 35..40 bcast root 1 0B 8B
    2: 40..41 reduce root 0 8B 0B
    2: 41..99 scan 8B 24B
    2: 100..120 barrier
    2: 120 end
  )";
  // Perfect, by hand. Bcast: the root leaves at 30, rank 0 at max(10, 30) = 30, rank 2 at 35.
  // Reduce: enters at 30 + 0, 30 + (81 - 31) = 80, 35 + 0; leaves: the root 0 at 80, others at
  // once. Scan: enters at 80, 80, 35; rank 0 leaves at 80, rank 1 at max(80, 80), rank 2 at max(80,
  // 80, 35). One tick of compute each (99 -> 100), barrier at 81 for all.
  check(ends(text, on("perfect")), {81, 81, 81});
}

TEST_CASE("analytic collectives cost the rounds of their algorithms") {
  const char* barrier = R"(
    0: 0..1 barrier
    0: 1 end
    1: 0..1 barrier
    1: 1 end
    2: 50..51 barrier
    2: 51 end
  )";
  // Dissemination over 3 ranks: ceil(log2 3) = 2 rounds of T(0) = 1000. Round 1 is from 0 to 1, 1
  // to 2, 2 to 0: over at 1050 on rank 0, at 1000 on 1 and 2. Round 2 from 0 to 2, 1 to 0, 2 to 1.
  check(ends(barrier, on("bandela:latency=1us")), {2000, 2000, 2050});
  const char* allreduce = R"(
    0: 0..1 allreduce 32B 32B
    0: 1 end
    1: 0..1 allreduce 32B 32B
    1: 1 end
    2: 0..1 allreduce 32B 32B
    2: 1 end
    3: 0..1 allreduce 32B 32B
    3: 1 end
  )";
  // 32 bytes logical over 4 ranks: 8 bytes each. Recursive doubling: 2 rounds of 1000 + 8.
  check(ends(allreduce, on("bandela:latency=1us,bandwidth=1GB/s")), {2016, 2016, 2016, 2016});
}

TEST_CASE("a rank that reaches a broadcast after its data leaves at once") {
  const char* text = R"(
    0: 0..10 bcast root 0 24B 8B
    0: 20 end
    1: 5..15 bcast root 0 0B 8B
    1: 20 end
    2: 5000..5010 bcast root 0 0B 8B
    2: 5020 end
  )";
  // Binomial over 3: the root sends to both, at the same time as g = 0: 1000 + 8 after its enter at
  // 0. It leaves at once (o = 0) and computes 10 more; rank 1 leaves at 1008 and computes 5; at
  // rank 2 the data was there at 1008, so that it leaves at its enter, and computes 10.
  check(ends(text, on("bandela:latency=1us,bandwidth=1GB/s,bcast=binomial")), {10, 1013, 5010});
}

TEST_CASE("from the sync limit on, root and children synchronise") {
  const char* text = R"(
    0: 0..0 init
    0: 100..140 gather 8B 16B root 0
    0: 150 end
    1: 0..0 init
    1: 10..20 gather 8B 0B root 0
    1: 30 end
  )";
  const auto with_limit = [](double bytes) {
    Scenario scenario = toy();
    scenario.name = "limit " + std::to_string(bytes);
    scenario.platform.collectives.of(CollectiveOp::kGather).sync_limit = bytes;
    return scenario;
  };
  // One message of 8 bytes: 10 + 108 + 20 = 138; a sender alone is blocked for 10 + 8. Below the
  // limit the message is there at 10 + 138, the child leaves at 10 + 18; then 10 each. From it on
  // it needs both ends: both leave at 238. Asked for together, each scenario still gets its own
  // way.
  const Results results = replay(text, {toy(), with_limit(8), with_limit(9)});
  const auto ns = [&](int scenario, int rank) {
    return results.scenarios[scenario].ranks[rank].end * 1e9;
  };
  for (const int scenario : {0, 2}) {
    CHECK(ns(scenario, 0) == Approx(158));
    CHECK(ns(scenario, 1) == Approx(38));
  }
  CHECK(ns(1, 0) == Approx(248));
  CHECK(ns(1, 1) == Approx(248));

  // A child that sends to the root after the gather, which the root receives before it: that only
  // works while the child need not wait.
  const char* crossed = R"(
    0: 0..40 recv 1 8B
    0: 50..60 gather 8B 16B root 0
    0: 70 end
    1: 0..5 gather 8B 0B root 0
    1: 10..20 send 0 8B
    1: 30 end
  )";
  const Results two = replay(crossed, {with_limit(9), with_limit(8)});
  CHECK(two.scenarios[0].deadlock.empty());
  CHECK(two.scenarios[1].deadlock ==
        "rank 0, event 1 (MPI_Recv) waits for 8 bytes from rank 1 with tag 0 on communicator "
        "'MPI_COMM_WORLD'; rank 1, event 1 (MPI_Gather) "
        "waits for rank 0 on communicator 'MPI_COMM_WORLD'");
}

TEST_CASE("results contain the algorithms used") {
  const char* text = R"(
    0: 0..5 allreduce 16B 16B
    0: 6..7 allreduce 8000B 8000B
    0: 8..9 allreduce 80000B 80000B
    0: 10 end
    1: 0..5 allreduce 16B 16B
    1: 6..7 allreduce 8000B 8000B
    1: 8..9 allreduce 80000B 80000B
    1: 10 end
  )";
  Scenario openmpi = toy();
  openmpi.platform.collectives.preset = CollectivePreset::kOpenMpi;
  const Results results = replay(text, {toy(), openmpi, on("perfect"), on("measured")});
  const auto uses = [&](int scenario) {
    std::string lines;
    for (const CollectiveUse& use : results.scenarios[scenario].collectives) {
      lines += use.operation + " " + std::to_string(use.members) + " " + use.algorithm + " " +
               std::to_string(static_cast<int>(use.smallest)) + "-" +
               std::to_string(static_cast<int>(use.largest)) + "\n";
    }
    return lines;
  };
  // The archive counts what all members get: 8, 4000 and 40000 bytes of payload.
  CHECK(uses(0) == "allreduce 2 rabenseifner 4000-40000\nallreduce 2 recursive_doubling 8-8\n");
  CHECK(uses(1) == "allreduce 2 recursive_doubling 8-4000\nallreduce 2 ring 40000-40000\n");
  CHECK(uses(2) == "allreduce 2 perfect 8-40000\n");
  CHECK(uses(3).empty());
}

TEST_CASE("an algorithm for an operation that does not occur is warned about") {
  const char* text = R"(
    0: 0..5 barrier
    0: 10 end
    1: 0..5 barrier
    1: 10 end
  )";
  const Results results = replay(
      text, {on("bandela:latency=1us,barrier=linear"), on("bandela:latency=1us,allreduce=ring")});
  CHECK(warnings_about(results.scenarios[0]).empty());
  CHECK(warnings_about(results.scenarios[1]) ==
        std::vector<std::string>{"this run calls no allreduce: the change has no effect"});
}

TEST_CASE("levels: a message between nodes takes the network's price") {
  const char* text = R"(
    nodes 0 0 1
    0: 0..1 send 1 8B
    0: 1..2 send 2 8B
    0: 2 end
    1: 0..1 recv 0 8B
    1: 1 end
    2: 0..1 recv 0 8B
    2: 2 end
  )";
  const Scenario scenario = on("bandela:node.latency=1us,network.latency=5us");
  // Rank 1: 0 + 1000. Rank 2: 0 + 5000 (g = 0, o = 0), + 1 compute.
  check(ends(text, scenario), {0, 1000, 5001});
  // The same on one node of three: all at the node's price.
  check(ends(text, on("bandela:node.latency=1us,network.latency=5us,ppn=3")), {0, 1000, 1001});
}

TEST_CASE("a faster processor shortens compute, not switched-off stretches and local MPI") {
  const char* text = R"(
    0: 0..0 init
    0: 100..110 local MPI_Comm_rank
    0: 210..310 off
    0: 410..420 finalize
    1: 0..0 init
    1: 410..420 finalize
  )";
  // Compute 100 + 100 + 100 = 300, halved 150; local MPI 10; off 100: 260 at Finalize. Rank 1: 205.
  check(ends(text, on("perfect:cpu*2")), {260, 205});
  check(ends(text, on("measured:cpu*2")), {260, 205});
}

TEST_CASE("elapsed runs from the leave of Init to the enter of Finalize") {
  const char* text = R"(
    0: 0..1000 init
    0: 3000..9000 finalize
    1: 0..1200 init
    1: 2500..9000 finalize
  )";
  const Results results = replay(text, {on("measured")});
  // Latest enter of Finalize 3000 minus earliest leave of Init 1000; with both ends 9000 - 0.
  CHECK(results.scenarios[0].elapsed == Approx(2000e-9));
  CHECK(results.scenarios[0].elapsed_with_init == Approx(9000e-9));
}

TEST_CASE("calls that cannot be replayed are named; local ones are not") {
  const char* text = R"(
    0: 0..0 init
    0: 10..40 local MPI_Probe
    0: 50..60 local MPI_Comm_rank
    0: 100..100 finalize
  )";
  const Results results = replay(text, {on("measured")});
  REQUIRE(results.trace.kept.size() == 1);
  CHECK(results.trace.kept[0].call == "MPI_Probe");
  CHECK(results.trace.kept[0].count == 1);
  CHECK(results.trace.kept[0].time == Approx(30e-9));
  CHECK(results.trace.mpi_time == Approx(40e-9));
}

TEST_CASE("lanes give what single runs give, to the last bit") {
  const std::vector<std::string> texts = {"perfect", "bandela:latency=1us",
                                          "bandela:latency=2us,bandwidth=3GB/s",
                                          "bandela:latency=7us,cpu*3", "bandela:bandwidth=1MB/s"};
  std::vector<Scenario> all;
  for (const std::string& text : texts) all.push_back(on(text));
  // Passes of 16 lanes, or as many of 4 as it takes.
  const size_t scenarios = GENERATE(5u, 13u, 29u);
  CAPTURE(scenarios);
  while (all.size() < scenarios) {
    Scenario another = on("bandela:latency=" + std::to_string(all.size()) + "us");
    another.cpu = 1 + 0.1 * static_cast<double>(all.size());
    all.push_back(another);
  }
  for (const Results& together : with_each_width([&] { return replay(kLateSenderTrace, all); })) {
    for (size_t i = 0; i < all.size(); ++i) {
      const Results alone = replay(kLateSenderTrace, {all[i]});
      for (size_t rank = 0; rank < 2; ++rank) {
        CHECK(together.scenarios[i].ranks[rank].end == alone.scenarios[0].ranks[rank].end);
        CHECK(together.scenarios[i].ranks[rank].compute == alone.scenarios[0].ranks[rank].compute);
      }
    }
  }
}

TEST_CASE("an error is the same error in every engine object") {
  // Two nodes, but a platform without a network.
  std::vector<Scenario> all;
  while (all.size() < 13) {
    Scenario scenario = on("perfect");
    scenario.name = "no network";
    scenario.platform = parse_platform(R"(
      format = 1
      [level.node]
      transfer = [ { from = "0B", latency = "10ns", bandwidth = "1GB/s" } ]
    )",
                                       "node.toml");
    all.push_back(scenario);
  }
  const std::string text = "nodes 0 1\n0: 0..10 send 1 8B\n1: 0..20 recv 0 8B\n";
  const auto caught = with_each_width([&] {
    try {
      replay(text, all);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  for (const std::string& what : caught)
    CHECK(what.find("no [level.network]") != std::string::npos);
}

TEST_CASE("a platform without the level that an archive needs is refused by name") {
  const char* text = R"(
    nodes 0 1
    0: 0..1 send 1 8B
    1: 0..1 recv 0 8B
  )";
  // Messages between nodes never cost what those on a node do: that would be too little.
  CHECK_THROWS_WITH(replay(text, {toy()}), Catch::Contains("no [level.network]"));
}

// The toy has level node alone. A message to oneself costs what one on the node does: it arrives at
// 10 + 100 + 8 = 118, so the receive ends at 138, and a warning names both levels. (A second rank:
// all calls of a run of one rank keep their time.)
TEST_CASE("the next wider level replaces one that the platform lacks") {
  const char* text = R"(
    0: 0..1 isend 0 8B req 1
    0: 1..2 recv 0 8B
    0: 2..2 wait 1
    1: 0 end
  )";
  const Results results = replay(text, {toy()});
  CHECK(results.scenarios[0].elapsed * 1e9 == Approx(138));
  const std::vector<std::string> warnings = warnings_about(results.scenarios[0]);
  CHECK(std::any_of(warnings.begin(), warnings.end(), [](const std::string& line) {
    return line.find("level 'self' are priced as level 'node'") != std::string::npos;
  }));
}

// More ranks than fit into the inner caches, for which the next ranks to run are chosen a few
// ahead: forty messages go from the last of 300 ranks to the first, one rank at a time. The last
// one is done with its sends at 10, 20, ..., 400. A message takes 10 + 108 + 20 = 138 to the end of
// the next rank's receive, and that rank 20 + 10 for each one behind it: so the k-th is sent on, s
// ranks further, at 138 s + 10 + 30 k, k from 0, and received by rank 0 at 138 * 299 + 30 k.
TEST_CASE("Forty messages in a chain of 300 ranks") {
  constexpr int kRanks = 300, kMessages = 40;
  std::string text;
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string name = std::to_string(rank) + ": ";
    text += name + "0..0 init\n";
    for (int i = 0; i < kMessages; ++i) {
      if (rank < kRanks - 1) text += name + "0..0 recv " + std::to_string(rank + 1) + " 8B\n";
      if (rank > 0) text += name + "0..0 send " + std::to_string(rank - 1) + " 8B\n";
    }
    text += name + "0 end\n";
  }
  Ends expected;
  for (int rank = 0; rank < kRanks; ++rank)
    expected.push_back(138 * (kRanks - 1 - rank) + 30 * (kMessages - 1) + (rank > 0 ? 10 : 0));
  expected.back() = 10 * kMessages;
  check(ends(text, toy()), expected);
  const Results lanes = replay(text, std::vector<Scenario>(20, toy()));
  for (const ScenarioResult& lane : lanes.scenarios) check_ends(lane, expected);
}
