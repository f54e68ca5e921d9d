// Wait states on hand-made traces, worked out by hand. One tick is one nanosecond.

#include "replay/observe/wait_states.h"
#include "replay/study/run_replay.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

const Scenario kPerfect = parse_scenario("perfect");
const Scenario kMeasured = parse_scenario("measured");

ScenarioResult replay_with_waits(const std::string& text, const Scenario& scenario,
                                 ReplayOptions options = {}) {
  options.wait_states = true;
  ScenarioResult result = replay(text, {scenario}, options).scenarios[0];
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  REQUIRE(result.has_waits);
  return result;
}

/// Late sender, late receiver, collective wait, one-sided wait, in ns.
using Waits = std::array<double, kWaitKinds>;
const Waits kNone{};
Waits late_sender(double ns) {
  return {ns, 0, 0, 0};
}
Waits late_receiver(double ns) {
  return {0, ns, 0, 0};
}
Waits collective(double ns) {
  return {0, 0, ns, 0};
}
Waits one_sided(double ns) {
  return {0, 0, 0, ns};
}

/// Waits of each rank.
void check(const ScenarioResult& result, const std::vector<Waits>& expected) {
  REQUIRE(result.ranks.size() == expected.size());
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      INFO("rank " << rank << ", " << kWaitNames[kind]);
      CHECK(result.ranks[rank].waits[kind] * 1e9 == Approx(expected[rank][kind]).margin(1e-3));
    }
  }
}

void check(const std::string& text, const Scenario& scenario, const std::vector<Waits>& expected) {
  check(replay_with_waits(text, scenario), expected);
}

}  // namespace

TEST_CASE("waits are summed up only on request") {
  const auto source = parse_text_trace("0: 0..10 barrier\n1: 9..10 barrier\n");
  CHECK_FALSE(run_replay(*source, {kPerfect}, {}).scenarios[0].has_waits);
}

TEST_CASE("late sender: from the enter of the receive to that of the send") {
  const char* text = R"(
    0: 0..0 init
    0: 50..60 send 1 8B
    0: 100 end
    1: 0..0 init
    1: 20..90 recv 0 8B
    1: 100 end
  )";
  // Rank 1 receives from 20 on; the send is entered at 50. Overheads, the port and the way of the
  // message come behind that: on every machine, and as recorded, it is 30.
  check(text, kPerfect, {kNone, late_sender(30)});
  check(text, parse_scenario("bandela:latency=1us,bandwidth=1GB/s"), {kNone, late_sender(30)});
  check(text, toy(), {kNone, late_sender(30)});
  check(text, kMeasured, {kNone, late_sender(30)});
  // Twice as fast processors: 10 and 25.
  check(text, parse_scenario("perfect:cpu*2"), {kNone, late_sender(15)});
}

TEST_CASE("what the port and the network take is no wait") {
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
  // Toy: rank 1 waits from 0 to 1130. The second message leaves its port at 510, but its send is
  // entered at 10, behind the o_s of the first.
  check(text, toy(), {kNone, late_sender(10)});
  check(text, parse_scenario("bandela:latency=1us,bandwidth=1GB/s"), {kNone, kNone});
}

TEST_CASE("a send that ends with its late receive reveals an unrecorded eager limit") {
  // Rank 0 is in its send for 25 us before the receive is posted, and for 5 us after that.
  const std::string late_receive = R"(
    0: 0..30000 send 1 8000B
    1: 25000..30000 recv 0 8000B
  )";
  ReplayOptions options;
  options.wait_states = true;
  const auto replayed = [&](const std::string& more) {
    return replay(late_receive + more + "0: 200000 end\n1: 200000 end\n", {kMeasured}, options);
  };
  const Results results = replayed("");
  check(results.scenarios[0], {late_receiver(25000), kNone});
  CHECK(results.trace.eager.node.bytes == 7999);
  CHECK(results.trace.eager.node.from == EagerLimit::From::kRecording);
  CHECK_FALSE(results.trace.eager.network.bytes);
  const auto is_none = [&](const std::string& more) {
    const Results known = replayed(more);
    check(known.scenarios[0], {kNone, kNone});
    CHECK_FALSE(known.trace.eager.node.bytes);
  };
  // As much was sent without a receiver: so 30 us are something else (a core that was lost).
  is_none("0: 50000..51000 send 1 8000B\n1: 90000..91000 recv 0 8000B\n");
  // An option that says more is right.
  options.eager_limit = 8000;
  check(replayed("").scenarios[0], {kNone, kNone});
  CHECK(replayed("").trace.eager.node.from == EagerLimit::From::kOption);
  // A send that may have been busy all the time: 12 us before the post and 18 after it. One that
  // says that it lost its core.
  options.eager_limit.reset();
  const auto nothing_learned = [&](const std::string& text) {
    const Results known = replay(text, {kMeasured}, options);
    check(known.scenarios[0], {kNone, kNone});
    CHECK_FALSE(known.trace.eager.node.bytes);
  };
  nothing_learned("0: 0..30000 send 1 8000B\n1: 12000..30000 recv 0 8000B\n");
  nothing_learned("0: 0..30000 send 1 8000B lost 20000\n1: 25000..30000 recv 0 8000B\n");
}

TEST_CASE("so does a nonblocking send that a call waits for alone") {
  ReplayOptions options;
  options.wait_states = true;
  const auto replayed = [&](const std::string& text) {
    return replay(text + "0: 200000 end\n1: 200000 end\n", {kMeasured}, options);
  };
  // In MPI_Wait from 1 us on, the receive is posted at 25 us, and 5 us later it leaves.
  const std::string isend = "0: 0..500 isend 1 8000B req 1\n";
  const std::string late = isend + "0: 1000..30000 wait 1\n1: 25000..30000 recv 0 8000B\n";
  const Results results = replayed(late);
  check(results.scenarios[0], {late_receiver(24000), kNone});
  CHECK(results.trace.eager.node.bytes == 7999);
  const auto nothing_learned = [&](const std::string& text) {
    INFO(text);
    const Results known = replayed(text);
    check(known.scenarios[0], {kNone, kNone});
    CHECK_FALSE(known.trace.eager.node.bytes);
  };
  // It lost its core. It computed until the receive was posted. As much was sent without a
  // receiver.
  nothing_learned(isend + "0: 1000..30000 wait 1 lost 20000\n1: 25000..30000 recv 0 8000B\n");
  nothing_learned(isend + "0: 24000..30000 wait 1\n1: 25000..30000 recv 0 8000B\n");
  nothing_learned(late + "0: 50000..51000 isend 1 8000B req 1\n0: 51000..52000 wait 1\n" +
                  "1: 90000..91000 recv 0 8000B\n");
  // An MPI_Wait that took as long for something else does not undo it: 8 B were sent without.
  const Results outlier =
      replayed(late + "0: 40000..40500 send 1 8B\n1: 60000..60500 recv 0 8B\n" +
               "0: 100000..100500 isend 1 8B req 1\n0: 101000..125000 wait 1\n" +
               "1: 120000..121000 recv 0 8B\n");
  CHECK(outlier.trace.eager.node.bytes == 7999);
  // It waited for a message of rank 1, which that sent right behind the receive.
  const Results halo = replayed("0: 0..500 irecv 1 8B req 2\n0: 500..1000 isend 1 8000B req 1\n" +
                                std::string("0: 1000..30000 waitall 1 2\n") +
                                "1: 25000..26000 irecv 0 8000B req 3\n1: 26000..27000 send 0 8B\n" +
                                "1: 27000..28000 wait 3\n");
  check(halo.scenarios[0], {late_sender(25000), kNone});
  CHECK_FALSE(halo.trace.eager.node.bytes);
}

TEST_CASE("every way to complete a send reveals the eager limit") {
  ReplayOptions options;
  options.wait_states = true;
  const auto replayed = [&](const std::string& text) {
    return replay(text + "0: 200000 end\n1: 200000 end\n", {kMeasured}, options);
  };
  // Each call waits from 1 us on, the receive is posted at 25 us, and the call leaves at 30 us.
  const std::string isend = "0: 0..500 isend 1 8000B req 1\n";
  const std::string small = "0: 500..600 isend 1 8B tag 1 req 2\n";
  const std::string late = "1: 25000..30000 recv 0 8000B\n";
  const std::string late_small = "1: 30000..30100 recv 0 8B tag 1\n";
  const std::string polls = "0: 1000..1010 test not 1\n0: 1010..1020 test not 1\n";
  const std::pair<std::string, std::string> ways[] = {
      {isend + "0: 1000..30000 waitall 1\n", late},
      {isend + "0: 1000..30000 waitsome 1\n", late},
      {isend + "0: 1000..30000 waitany 1\n", late},
      {isend + small + "0: 1000..30000 waitall 1 2\n", late + late_small},
      {isend + "0: 600..600 irecv 1 8B req 2\n0: 1000..30000 waitall 1 2\n",
       "1: 0..100 send 0 8B\n" + late},
      {"0: 1000..30000 sendrecv 1 8000B 1 8B\n", "1: 0..100 send 0 8B\n" + late},
      {isend + "0: 1000..30000 test 1\n", late},
  };
  for (const auto& [sender, receiver] : ways) {
    INFO(sender << receiver);
    const Results results = replayed(sender + receiver);
    check(results.scenarios[0], {late_receiver(24000), kNone});
    CHECK(results.trace.eager.node.bytes == 7999);
  }
  // A loop of polls from 1 us on, of 10 ns each, of which the last one succeeds.
  std::string loop = isend;
  for (int at = 1000; at < 30000; at += 10)
    loop += "0: " + std::to_string(at) + ".." + std::to_string(at + 10) +
            (at < 29990 ? " test not 1\n" : " test 1\n");
  const Results polled = replayed(loop + late);
  CHECK(polled.trace.eager.node.bytes == 7999);
  check(polled.scenarios[0], {late_receiver(24000), kNone});

  const auto nothing_learned = [&](const std::string& text) {
    INFO(text);
    const Results known = replayed(text);
    CHECK(known.scenarios[0].ranks[0].waits[static_cast<int>(WaitKind::kLateReceiver)] == 0);
    CHECK_FALSE(known.trace.eager.node.bytes);
  };
  // Partners that exchange messages: rank 1 entered late and sent at once.
  nothing_learned("0: 1000..30000 sendrecv 1 8000B 1 8B\n1: 25000..30000 sendrecv 0 8B 0 8000B\n");
  // The call may have waited for a file, or for the barrier that rank 1 entered at 25 us.
  nothing_learned("0: 0..0 local MPI_File_iwrite\n" + isend + "0: 1000..30000 waitall 1\n" + late);
  nothing_learned(isend + "0: 600..700 ibarrier req 2\n0: 1000..30000 waitall 1 2\n" +
                  "1: 25000..25000 ibarrier req 2\n1: 25000..30000 recv 0 8000B\n" +
                  "1: 30000..30100 wait 2\n");
  // Ranks on one node and on another one have limits of their own: one of the two waited.
  nothing_learned("nodes 0 0 1\n" + isend + "0: 500..600 isend 2 9000B req 2\n" +
                  "0: 1000..30000 waitall 1 2\n" + late + "2: 24990..30000 recv 0 9000B\n");
}

TEST_CASE("rendezvous: the late side is reported at the other side") {
  // 2000 B: T = 2100 holds the handshake, L = 100.
  const char* late_receive = R"(
    0: 0..7010 send 1 2000B
    0: 7020 end
    1: 5000..7010 recv 0 2000B
    1: 7010 end
  )";
  // The receive is posted at 5000, the send leaves at 7000; the receive waits for the data alone.
  check(late_receive, toy(), {late_receiver(5000), kNone});
  // As recorded, where it is above the eager limit; else nothing says that it waited.
  ReplayOptions options;
  options.eager_limit = 999;
  check(replay_with_waits(late_receive, kMeasured, options), {late_receiver(5000), kNone});
  check(late_receive, kMeasured, {kNone, kNone});
  // Perfect: never rendezvous.
  check(late_receive, kPerfect, {kNone, kNone});

  const char* late_send = R"(
    0: 3000..3005 send 1 2000B
    0: 3010 end
    1: 0..10 recv 0 2000B
    1: 10 end
  )";
  // The receive is posted at 0: the send leaves at 5110, but does not wait for the receiver.
  check(late_send, toy(), {kNone, late_sender(3000)});

  // The same in time order without contention.
  Scenario buses = toy();
  buses.platform.contention.model = network_model("buses");
  buses.platform.contention.levels.fill(true);
  check(late_receive, buses, {late_receiver(5000), kNone});
  check(late_send, buses, {kNone, late_sender(3000)});
}

TEST_CASE("a rendezvous that needs its receiver inside MPI: the post counts, not later polls") {
  Scenario pull = toy();
  pull.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "pull" } ]
  )",
                                 "pull");
  const char* text = R"(
    0: 0..900 send 1 8B
    0: 900 end
    1: 300..301 irecv 0 8B req 1
    1: 801..900 wait 1
    1: 900 end
  )";
  // Posted at 300, where rank 1 is inside MPI for no time, with the request there since 100: the
  // send waits 300 for it, and then for the data. Rank 1 waits from 800 on, but not for another
  // rank.
  check(text, pull, {late_receiver(300), kNone});
}

TEST_CASE("synchronous sends wait for their receive, in the send or in its wait") {
  const char* ssend = R"(
    0: 0..300 ssend 1 8B
    0: 300 end
    1: 250..260 recv 0 8B
    1: 260 end
  )";
  // Posted at 250. (Toy: it leaves at 380.)
  check(ssend, kPerfect, {late_receiver(250), kNone});
  check(ssend, toy(), {late_receiver(250), kNone});
  check(ssend, kMeasured, {late_receiver(250), kNone});

  const char* issend = R"(
    0: 0..1 issend 1 8B req 1
    0: 101..300 wait 1
    0: 300 end
    1: 250..300 recv 0 8B
    1: 300 end
  )";
  // The wait is entered at 100 (perfect), at 10 + 100 (toy), at 101 (as recorded).
  check(issend, kPerfect, {late_receiver(150), kNone});
  check(issend, toy(), {late_receiver(140), kNone});
  check(issend, kMeasured, {late_receiver(149), kNone});
}

TEST_CASE("a call waits once, for the last one, and that one gives the name") {
  const auto text = [](const std::string& sender, const std::string& receiver) {
    return "0: 0..1 irecv 1 8B req 1\n0: 1..2 issend 2 8B req 2\n0: 2..900 wait 1 2\n0: 900 end\n"
           "1: " +
           sender + " send 0 8B\n2: " + receiver + " recv 0 8B\n";
  };
  // Perfect: rank 0 waits from 0 on, for a send at 100 or 500 and a receive at 300. As recorded it
  // waits from 2 on.
  check(text("100..101", "300..310"), kPerfect, {late_receiver(300), kNone, kNone});
  check(text("100..101", "300..310"), kMeasured, {late_receiver(298), kNone, kNone});
  check(text("500..501", "300..310"), kPerfect, {late_sender(500), kNone, kNone});
  check(text("500..501", "300..310"), kMeasured, {late_sender(498), kNone, kNone});
  // The order of the requests does not matter.
  std::string swapped = text("100..101", "300..310");
  swapped.replace(swapped.find("wait 1 2"), 8, "wait 2 1");
  check(swapped, kPerfect, {late_receiver(300), kNone, kNone});
}

TEST_CASE("collective waits, by the ranks for which each kind waits") {
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
  // Perfect. Broadcast: entered at 10, 30 (root), 35: rank 0 waits 20. Reduce: entered at 30
  // (root), 80, 35: the root waits 50. Scan: entered at 80, 80, 35: rank 2 waits 45. All enter the
  // barrier at 81.
  check(text, kPerfect, {collective(20 + 50), kNone, collective(45)});
  // As recorded. Broadcast: 20 again. Reduce: the root from 40 to 81. Scan: entered at 90, 82, 41:
  // rank 1 waits 8, rank 2 49. The barrier: no waits.
  check(text, kMeasured, {collective(20 + 41), collective(8), collective(49)});

  // n-to-n, for the last one; what the rounds take is no wait.
  const char* allreduce = R"(
    0: 0..60 allreduce 32B 32B
    0: 60 end
    1: 20..60 allreduce 32B 32B
    1: 60 end
    2: 50..60 allreduce 32B 32B
    2: 60 end
  )";
  for (const char* scenario : {"perfect", "bandela:latency=1us", "measured"})
    check(allreduce, parse_scenario(scenario), {collective(50), collective(30), kNone});
}

TEST_CASE("between groups no rank waits for its own group") {
  const char* text = R"(
    comm 1 0 1 | 2 3
    0: 10..11 bcast root -2 0B 0B comm 1
    0: 11..12 gather root 2 8B 0B comm 1
    0: 12 end
    1: 300..301 bcast root 1 16B 0B comm 1
    1: 302..303 gather root 2 8B 0B comm 1
    1: 303 end
    2: 20..310 bcast root 1 0B 8B comm 1
    2: 310..320 gather root 2 0B 16B comm 1
    2: 320 end
    3: 500..501 bcast root 1 0B 8B comm 1
    3: 502..503 gather root -2 0B 0B comm 1
    3: 503 end
  )";
  // Broadcast: rank 2 waits from 20 for the root, rank 1, at 300; rank 3 comes later. Gather: its
  // root, rank 2, is there at 300 (perfect) and waits for rank 1, at 301; as recorded, it does not
  // wait from 310 on.
  check(text, kPerfect, {kNone, kNone, collective(280 + 1), kNone});
  check(text, kMeasured, {kNone, kNone, collective(280), kNone});
}

TEST_CASE("above a sync limit children wait for the root and each other") {
  const char* text = R"(
    0: 100..110 reduce root 0 64B 128B
    0: 110 end
    1: 0..10 reduce root 0 64B 0B
    1: 10 end
  )";
  Scenario holding = toy();
  holding.platform.collectives.of(CollectiveOp::kReduce).sync_limit = 64;
  check(text, toy(), {kNone, kNone});
  check(text, holding, {kNone, collective(100)});
}

TEST_CASE("a collective that was started is waited for where it completes") {
  const char* text = R"(
    0: 0..1 ibarrier req 1
    0: 41..100 wait 1
    0: 100 end
    1: 90..91 ibarrier req 1
    1: 91..100 wait 1
    1: 100 end
  )";
  // Perfect: rank 0 waits from 40 on, rank 1 starts at 90. As recorded, from 41 on.
  check(text, kPerfect, {collective(50), kNone});
  check(text, kMeasured, {collective(49), kNone});
}

TEST_CASE("the wait in an Alltoallv is for the members that send to the rank") {
  // Rank 0 receives only from rank 1, which comes at 30; rank 2, at 400, sends to rank 1. Rank 1
  // waits for that, rank 2 does not wait.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 10..450 alltoallv 8B 8B parts 0B 0B 8B
    0: 450 end
    1: 0 local MPI_Comm_rank
    1: 30..450 alltoallv 8B 8B parts 8B 0B 0B
    1: 450 end
    2: 0 local MPI_Comm_rank
    2: 400..450 alltoallv 8B 8B parts 0B 8B 0B
    2: 450 end
  )";
  check(text, kPerfect, {collective(20), collective(370), kNone});
}

TEST_CASE("one-sided: posts, completes, locks; a fence is a collective") {
  const char* late_post = R"(
    window 1
    0: 0..1 win_start 1
    0: 1..2 put 1 8B
    0: 2..310 win_complete
    0: 310 end
    1: 300..301 win_post 0
    1: 301..320 win_wait
    1: 320 end
  )";
  // Perfect: the complete is entered at 0, the post comes at 300; when rank 1 waits, the complete
  // is there. As recorded the complete is entered at 2.
  check(late_post, kPerfect, {one_sided(300), kNone});
  check(late_post, kMeasured, {one_sided(298), kNone});
  const char* late_complete = R"(
    window 1
    0: 0..1 local MPI_Comm_rank
    0: 200..201 win_start 1
    0: 201..202 put 1 8B
    0: 202..210 win_complete
    0: 210 end
    1: 0..1 win_post 0
    1: 1..220 win_wait
    1: 220 end
  )";
  // Perfect: the wait is entered at 0, the complete at 1 + 199. As recorded: 1 and 202.
  check(late_complete, kPerfect, {kNone, one_sided(200)});
  check(late_complete, kMeasured, {kNone, one_sided(201)});

  const char* lock = R"(
    window 1
    0: 0..0 init
    0: 0..10 win_lock 2 exclusive
    0: 510..520 win_unlock 2
    0: 520 end
    1: 0..0 init
    1: 100..560 win_lock 2
    1: 560..570 win_unlock 2
    1: 570 end
    2: 0..0 init
    2: 570 end
  )";
  // Perfect: rank 0 has the lock from 0 to 500; rank 1 asks at 100. As recorded: given back at 510.
  check(lock, kPerfect, {kNone, one_sided(400), kNone});
  check(lock, kMeasured, {kNone, one_sided(410), kNone});
  // Toy: rank 0 has it at 2 L = 200 and gives it back at 700, which the target sees at 800. The
  // request of rank 1 is there at 200.
  check(lock, toy(), {kNone, one_sided(600), kNone});

  const char* fence = R"(
    window 1
    0: 0..110 win_fence
    0: 110 end
    1: 100..110 win_fence
    1: 110 end
  )";
  check(fence, kPerfect, {collective(100), kNone});
  check(fence, kMeasured, {collective(100), kNone});
}

TEST_CASE("a loop of polls waits as one, on a model") {
  const char* text = R"(
    0: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1001 end
    1: 0..1 irecv 0 8B req 1
    1: 400..402 test
    1: 410..412 test
    1: 1010..1012 test 1
    1: 1012 end
  )";
  // Gaps of at most 20 ticks between polls are part of a loop; that before the last one is work, so
  // its test finds the message, sent at 1000, later than 399 + 2 + 8 + 2 + 598 = 1009: no wait.
  check(text, kPerfect, {kNone, kNone});
  // Without the gap: the loop is a wait from 399 on (irecv takes nothing), until 1000.
  std::string loop =
      "0: 0..0 init\n0: 1000..1001 send 1 8B\n0: 1001 end\n1: 0..1 irecv 0 8B req 1\n";
  for (int time = 400; time <= 1000; time += 10)
    loop += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
  loop += "1: 1010..1012 test 1\n1: 1012 end\n";
  check(loop, kPerfect, {kNone, late_sender(601)});
  // As recorded the last test finds the message at once. 60 polls before the send took 2 each.
  check(loop, kMeasured, {kNone, late_sender(120)});
}

TEST_CASE("by arrival, a receive waits for the send that it takes") {
  const char* text = R"(
    0: 0..300 recv 1 8B any_source
    0: 400..410 recv 2 8B any_source
    1: 250..260 send 0 8B
    2: 50..60 send 0 8B
  )";
  // As recorded: rank 1's at 250; at 350 rank 2's is there.
  check(text, kPerfect, {late_sender(250), kNone, kNone});
  // By arrival: rank 2's at 50; 100 of compute later, at 150, rank 1's is to come at 250.
  ReplayOptions options;
  options.wildcards_by_arrival = true;
  check(replay_with_waits(text, kPerfect, options), {late_sender(50 + 100), kNone, kNone});
}

TEST_CASE("a wait for a rank that never comes has no cause") {
  // The receive has no send and keeps its 100 ticks.
  const ScenarioResult result = replay_with_waits(R"(
    0: 0..0 init
    0: 100 end
    1: 0..100 recv 0 8B
    1: 100 end
  )",
                                                  kPerfect);
  check(result, {kNone, kNone});
  CHECK(result.ranks[1].mpi * 1e9 == Approx(100));
}

TEST_CASE("only the window of a rank counts") {
  const char* text = R"(
    0: 0..100 barrier
    0: 100..110 init
    0: 110..150 barrier
    0: 160..170 finalize
    0: 170..300 barrier
    0: 300 end
    1: 100..100 barrier
    1: 100..110 init
    1: 150..150 barrier
    1: 160..170 finalize
    1: 290..300 barrier
    1: 300 end
  )";
  // Rank 0 waits 100 before its window, 40 in it and 120 behind it.
  check(text, kPerfect, {collective(40), kNone});
  check(text, kMeasured, {collective(40), kNone});
}

TEST_CASE("a balanced program has no waits, however slow the network") {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string self = std::to_string(rank) + ": ";
    const std::string left = std::to_string((rank + 3) % 4), right = std::to_string((rank + 1) % 4);
    text += self + "0..0 init\n" + self + "100..101 irecv " + left + " 8B req 1\n" + self +
            "101..102 isend " + right + " 8B req 2\n" + self + "102..110 wait 1 2\n" + self +
            "110..120 allreduce 32B 32B\n" + self + "120 end\n";
  }
  for (const char* scenario : {"perfect", "bandela:latency=1us,bandwidth=1GB/s"}) {
    const ScenarioResult result = replay_with_waits(text, parse_scenario(scenario));
    for (const RankResult& rank : result.ranks) CHECK(rank.waits == Waits{});
  }
  // The message is on its way for 1008 ns, and the allreduce of 8 B takes 2 rounds of as
  // much.
  const ScenarioResult slow =
      replay_with_waits(text, parse_scenario("bandela:latency=1us,bandwidth=1GB/s"));
  CHECK(slow.ranks[0].mpi * 1e9 == Approx(3 * 1008));
}

TEST_CASE("threads of a rank wait independently") {
  const char* text = R"(
    0: 0..0 init
    0: 10..60 recv 1 8B tag 1
    0: 100 end
    0.1: 20..90 recv 1 8B tag 2
    1: 0..0 init
    1: 50..51 send 0 8B tag 1
    1: 80..81 send 0 8B tag 2
    1: 100 end
  )";
  // As recorded: 50 - 10 and 80 - 20.
  check(text, kMeasured, {late_sender(40 + 60), kNone});
}
