// Causes of waits and the critical path, on hand-made traces worked out by hand. One tick is one
// nanosecond.

#include "replay/observe/wait_causes.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/unit/toy.h"
#include "tests/unit/watched.h"

using namespace rubato;

// Rank 2 computes 40 and sends; rank 1 receives from 10 on (waits 30), computes 20 and sends at 60;
// rank 0 receives from 0 on (waits 60). Of these 60, rank 1 itself waited for rank 2 from 10 to 40.
TEST_CASE("the root of a wait is the rank that did not wait itself") {
  const char* text = R"(
    0: 0..60 recv 1 8B
    0: 60 end
    1: 0..10 local MPI_Comm_rank
    1: 10..40 recv 2 8B
    1: 60..60 send 0 8B
    1: 60 end
    2: 0..0 init
    2: 40..40 send 1 8B
    2: 60 end
  )";
  for (const char* scenario : {"perfect", "measured"}) {
    INFO(scenario);
    const Watched watched = watch(text, parse_scenario(scenario));
    CHECK(watched.wait(0, "MPI_Recv", "late sender") == Approx(60));
    CHECK(watched.wait(1, "MPI_Recv", "late sender") == Approx(30));
    CHECK(watched.causes->direct().at({0, 1}) == Approx(60));
    CHECK(watched.causes->direct().at({1, 2}) == Approx(30));
    CHECK(watched.causes->direct().size() == 2);
    // Rank 1: 0 to 10 and 40 to 60 of rank 0's wait. Rank 2: the other 30, and those of rank 1.
    CHECK(watched.causes->roots()[0] == 0);
    CHECK(watched.causes->roots()[1] == Approx(30));
    CHECK(watched.causes->roots()[2] == Approx(60));
    // Backwards from the end at 60: all ranks, like rank 2, continue until then without waits; the
    // first timeline that ends last is rank 0's. Rank 0 <- rank 1 (20 of compute) <- rank 2 (40).
    CHECK(watched.path.hops == 2);
    CHECK(watched.path.compute == std::vector<double>{0, 20, 40});
    CHECK(sum_of(watched.path) == Approx(60));
  }
}

// Rank 0 sends at 1000. Rank 1 probes from 100 to 1010 and has the message at 1015; in the barrier
// rank 0 waits for it from 1006 to 1100. Back from the end at 1300: 100 of rank 0, 100 of the
// barrier, 85 and 1 of rank 1 with 4 of the receive between, 10 from the send to the end of the
// probe, 990 of rank 0.
TEST_CASE("a probe waits for the sender of the message that it finds") {
  const std::string text = R"(
    0: 0..10 init
    1: 0..10 init
    0: 1000..1005 send 1 8B tag 7
    1: 100..1010 probe 0 tag 7 any_source
    1: 1011..1015 recv 0 8B tag 7
    0: 1006..1200 barrier
    1: 1100..1200 barrier
    0: 1300..1310 finalize
    1: 1300..1310 finalize
  )";
  const Watched watched = watch(text, parse_scenario("measured"));
  CHECK(watched.wait(1, "MPI_Probe", "late sender") == Approx(900));
  CHECK(watched.wait(0, "MPI_Barrier", "wait at barrier") == Approx(94));
  CHECK(watched.causes->direct().at({1, 0}) == Approx(900));
  CHECK(watched.causes->roots()[0] == Approx(900));
  CHECK(watched.causes->roots()[1] == Approx(94));
  const auto late = static_cast<size_t>(WaitKind::kLateSender);
  CHECK(watched.result.ranks[1].waits[late] == Approx(900e-9));
  CHECK(watched.path.compute == std::vector<double>{1090, 86});
  CHECK(watched.crossing("MPI_Probe") == Approx(10));
  CHECK(watched.crossing("MPI_Barrier") == Approx(100));
  CHECK(sum_of(watched.path) == Approx(1290));
  // As a lane beside one in which all compute takes half of it: probe from 55, send at 505.
  ReplayOptions options;
  options.wait_states = true;
  const auto source = parse_text_trace(text);
  const Results lanes =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("measured:cpu*2")}, options);
  CHECK(lanes.scenarios[0].ranks[1].waits[late] == Approx(900e-9));
  CHECK(lanes.scenarios[1].ranks[1].waits[late] == Approx(450e-9));
}

// 50 polls of 10 every 20, from 100 on, of which the last one finds the message at 1090. Before the
// send at 905: 40 of them and half of one, 405 in all. Before one at 505, 20 of the first 33, which
// take 330 up to 750 and count as spread evenly: 405/650 of 330.
TEST_CASE("polls wait for the sender of the message that their loop finds") {
  for (const auto& [sent, waited] : {std::pair(905, 405.0), {505, 330.0 * 405 / 650}}) {
    std::string text = "0: 0..10 init\n1: 0..10 init\n0: " + std::to_string(sent) + ".." +
                       std::to_string(sent + 5) + " send 1 8B tag 7\n";
    for (int poll = 100; poll < 1100; poll += 20)
      text +=
          "1: " + std::to_string(poll) + ".." + std::to_string(poll + 10) + " local MPI_Iprobe\n";
    text += R"(
      1: 1100..1105 recv 0 8B tag 7
      0: 1250..1310 finalize
      1: 1300..1310 finalize
    )";
    const Watched watched = watch(text, parse_scenario("measured"));
    CHECK(watched.wait(1, "MPI_Iprobe", "late sender") == Approx(waited));
    CHECK(watched.causes->roots()[0] == Approx(waited));
    CHECK(watched.crossing("MPI_Iprobe") == Approx(1090 - sent));
    CHECK(watched.path.hops == 1);
  }
}

// A local call that lost its core is not what a probe looked for.
TEST_CASE("a local call after a probe does not change its wait") {
  const Watched watched = watch(R"(
    0: 0..10 init
    1: 0..10 init
    0: 1000..1005 send 1 8B tag 7
    1: 100..1010 probe 0 tag 7 any_source
    1: 1010..1020 local MPI_Get_count lost 5
    1: 1021..1025 recv 0 8B tag 7
    0: 1300..1310 finalize
    1: 1300..1310 finalize
  )",
                                parse_scenario("measured"));
  CHECK(watched.wait(1, "MPI_Probe", "late sender") == Approx(900));
}

// The receive takes 1000, including 99 of lost core at an unknown time: of the 900 by which its
// send is late, 900 x 901 / 1000 count.
TEST_CASE("what a call lost is spread over its wait and the rest") {
  const Watched watched = watch(R"(
    0: 0..10 init
    1: 0..10 init
    1: 100..1100 recv 0 1MiB lost 99
    0: 1000..1050 send 1 1MiB
    0: 2000..2010 finalize
    1: 2000..2010 finalize
  )",
                                parse_scenario("measured"));
  CHECK(watched.wait(1, "MPI_Recv", "late sender") == Approx(810.9));
  CHECK(watched.causes->roots()[0] == Approx(810.9));
  CHECK(watched.result.ranks[1].waits[static_cast<size_t>(WaitKind::kLateSender)] ==
        Approx(810.9e-9));
}

// Two receives complete together on toy(): 900 bytes of rank 0, sent at 0, are there at 10 + 100 +
// 900; 8 bytes of rank 2, sent at 700, at 700 + 10 + 100 + 8. The last to be there is the first;
// what was waited for is the later send: from 50 on for 650.
TEST_CASE("a call waits until its latest cause, whichever message arrives last") {
  const Watched watched = watch(R"(
    0: 0..10 send 1 900B
    0: 1500 end
    1: 0..10 irecv 0 900B req 1
    1: 10..20 irecv 2 8B req 2
    1: 70..1100 wait 1 2
    1: 1500 end
    2: 0..0 init
    2: 700..710 send 1 8B
    2: 1500 end
  )",
                                toy());
  CHECK(watched.wait(1, "MPI_Wait", "late sender") == Approx(650));
  CHECK(watched.causes->roots() == std::vector<double>{0, 0, 650});
  CHECK(watched.result.ranks[1].waits[static_cast<int>(WaitKind::kLateSender)] == Approx(650e-9));
}

// The 2000 bytes are never received, which is detected only when all ranks wait for each other: the
// replay starts again. Rank 2 sends at 5; rank 1 waits for that from 0 on, once.
TEST_CASE("events before a restart of the replay do not count") {
  const Watched watched = watch(R"(
    0: 0..1 send 1 2000B tag 1
    0: 1..2 send 1 8B tag 2
    0: 10 end
    1: 0..5 recv 2 8B tag 3
    1: 5..6 recv 0 8B tag 2
    1: 10 end
    2: 5..5 send 1 8B tag 3
    2: 10 end
  )",
                                toy());
  const auto waits = watched.causes->waits();
  REQUIRE(waits.size() == 1);
  CHECK(waits.begin()->second.count == 1);
  CHECK(watched.wait(1, "MPI_Recv", "late sender") == Approx(5));
  CHECK(watched.causes->roots() == std::vector<double>{0, 0, 5});
  // Both sends of rank 0 leave by 20; 2000 bytes keep its port until 2010, then come the 8: at
  // 2010 + 100 + 8 and 20 of receiving. Then rank 1 computes its last 4.
  CHECK(watched.path.elapsed == Approx(2142));
  CHECK(sum_of(watched.path) == Approx(2142));
}

// Tag 1 is sent at 10, tag 2 at 50. Rank 1 receives tag 2 first, from 0 on: it waits 50 while tag 1
// lies there.
TEST_CASE("a wait for a message received after a later one is a wrong order") {
  const char* text = R"(
    0: 10..10 send 1 8B tag 1
    0: 50..50 send 1 8B tag 2
    0: 60 end
    1: 0..50 recv 0 8B tag 2
    1: 50..51 recv 0 8B tag 1
    1: 60 end
  )";
  const Watched watched = watch(text, kPerfect);
  CHECK(watched.wait(1, "MPI_Recv", "wrong order") == Approx(50));
  CHECK(watched.wait(1, "MPI_Recv", "late sender") == -1);
  CHECK(watched.causes->roots()[0] == Approx(50));
}

// One wait of 30 each (rank 1 is there at 10, rank 0 at 40, or the other way round), by operation.
TEST_CASE("collective waits have the name of their pattern, and their last member") {
  const auto late = [](int rank, const std::string& call) {
    const int other = 1 - rank;
    return "0: 0..0 init\n1: 0..0 init\n" + std::to_string(rank) + ": 40..41 " + call + "\n" +
           std::to_string(other) + ": 10..41 " + call + "\n0: 50 end\n1: 50 end\n";
  };
  const auto check = [&](int latest, const std::string& call, const std::string& name,
                         const std::string& pattern) {
    INFO(call);
    const Watched watched = watch(late(latest, call), kPerfect);
    CHECK(watched.wait(1 - latest, name, pattern) == Approx(30));
    CHECK(watched.causes->waits().size() == 1);
    CHECK(watched.causes->direct().at({1 - latest, latest}) == Approx(30));
    // Latest: 40 and then the end at 50, by itself or through the operation.
    CHECK(sum_of(watched.path) == Approx(watched.path.elapsed));
    CHECK(watched.path.compute[latest] >= 40);
  };
  check(0, "barrier", "MPI_Barrier", "wait at barrier");
  check(0, "allreduce 8B 8B", "MPI_Allreduce", "wait at N x N");
  check(1, "reduce root 0 8B 8B", "MPI_Reduce", "early reduce");
  check(0, "bcast root 0 8B 8B", "MPI_Bcast", "late broadcast");
  check(0, "scan 8B 8B", "MPI_Scan", "early scan");
}

// Ranks 1 and 2 enter at 40. When recorded, rank 1 was there at 940 only, so it is replayed later.
TEST_CASE(
    "of several ranks that come last simultaneously the lowest is the cause, whichever is "
    "replayed first") {
  const std::string text = R"(
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 0..0 send 1 8B
    0: 10..941 CALL
    0: 950 end
    1: 0..900 recv 0 8B
    1: 940..941 CALL
    1: 950 end
    2: 40..941 CALL
    2: 950 end
  )";
  for (const std::string call : {"barrier", "alltoallv 16B 24B parts 8B 0B 8B"}) {
    std::string with = text;
    for (size_t at = 0; (at = with.find("CALL")) != std::string::npos;) with.replace(at, 4, call);
    const Watched watched = watch(with, kPerfect);
    CHECK(watched.causes->direct().at({0, 1}) == Approx(30));
    CHECK(watched.causes->direct().count({0, 2}) == 0);
  }
}

TEST_CASE("one-sided waits have the name of their pattern") {
  // The origin completes at 20 what the target posts at 40; the target waits from 45 on for the
  // complete of the second epoch, at 90.
  const Watched watched = watch(R"(
    window 1
    0: 0..0 init
    1: 0..0 init
    0: 10..10 win_start 1
    0: 20..40 win_complete
    0: 50..50 win_start 1
    0: 90..90 win_complete
    0: 100 end
    1: 40..40 win_post 0
    1: 41..41 win_wait
    1: 42..42 win_post 0
    1: 45..90 win_wait
    1: 100 end
  )",
                                kPerfect);
  CHECK(watched.wait(0, "MPI_Win_complete", "late post") == Approx(20));
  CHECK(watched.wait(1, "MPI_Win_wait", "early wait") == Approx(45));
  CHECK(watched.causes->direct().at({0, 1}) == Approx(20));
  CHECK(watched.causes->direct().at({1, 0}) == Approx(45));
}

// Rank 1's main thread waits for rank 2 until 100. Its other thread, which computes, posts at 40
// what rank 0 completes from 10 on: rank 2 is no root of that. Likewise it enters a scan at 40.
// (Rank 0 leaves its scan at once, so there its send comes at 99.)
TEST_CASE("what another thread waits for is no root") {
  const Watched epoch = watch(R"(
    window 1
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 10..10 win_start 1
    0: 10..40 win_complete
    0: 200 end
    1: 0..100 recv 2 8B
    1: 200 end
    1.1: 1..2 local MPI_Comm_rank
    1.1: 40..40 win_post 0
    1.1: 41..45 win_wait
    2: 100..100 send 1 8B
    2: 200 end
  )",
                              kPerfect);
  CHECK(epoch.wait(0, "MPI_Win_complete", "late post") == Approx(30));
  CHECK(epoch.causes->roots() == std::vector<double>{0, 30, 100});
  const Watched scan = watch(R"(
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 5..6 scan 8B 8B
    0: 100..100 send 1 8B
    0: 200 end
    1: 0..100 recv 0 8B
    1: 200 end
    1.1: 1..2 local MPI_Comm_rank
    1.1: 40..41 scan 8B 8B
    2: 10..41 scan 8B 8B
    2: 200 end
  )",
                             kPerfect);
  CHECK(scan.wait(2, "MPI_Scan", "early scan") == Approx(30));
  CHECK(scan.causes->roots() == std::vector<double>{99, 30, 0});
}

// A wait inside an epoch, from 10 until the post at 40.
TEST_CASE("a request in an epoch waits for a late post") {
  const Watched watched = watch(R"(
    window 1
    0: 0..0 init
    1: 0..0 init
    0: 10..10 win_start 1
    0: 10..10 rput 1 8B req 1
    0: 10..40 wait 1
    0: 40..40 win_complete
    0: 50 end
    1: 40..40 win_post 0
    1: 40..41 win_wait
    1: 50 end
  )",
                                kPerfect);
  CHECK(watched.wait(0, "MPI_Wait", "late post") == Approx(30));
  CHECK(watched.causes->direct().at({0, 1}) == Approx(30));
  CHECK(watched.causes->waits().size() == 1);
}

// The send comes at 80, 70 into the receive. Of its 80 ticks the call lost 20 to a flush and 30 to
// others on its core, which may have been any of them: of the 70, 30/80 count. On `perfect` it lost
// nothing.
TEST_CASE("what a call lost is no wait, nor anybody's doing") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 80..85 send 1 8B
    0: 100 end
    1: 10..90 recv 0 8B flushed 20 lost 30
    1: 100 end
  )";
  for (const auto& [scenario, wait] :
       std::map<std::string, double>{{"measured", 26.25}, {"perfect", 70}}) {
    INFO(scenario);
    const Watched watched = watch(text, parse_scenario(scenario));
    CHECK(watched.wait(1, "MPI_Recv", "late sender") == Approx(wait));
    CHECK(watched.causes->direct().at({1, 0}) == Approx(wait));
    CHECK(watched.causes->roots()[0] == Approx(wait));
    CHECK(watched.result.ranks[1].waits[static_cast<int>(WaitKind::kLateSender)] ==
          Approx(wait * 1e-9));
  }
}

// A thread waits while its main one is still in MPI_Init, and gets a message of before behind that:
// the wait was of the wrong order. Rank 1 leaves MPI_Init together with rank 0, at 100, so it sends
// at 110 and 150, and the wait from 10 on takes 140.
TEST_CASE("the end of MPI_Init does not reset other threads") {
  const Watched watched = watch(R"(
    0: 0..100 init
    0: 120 end
    0.1: 0..1 local MPI_Comm_rank
    0.1: 10..50 recv 1 8B tag 2
    0.1: 110..111 recv 1 8B tag 1
    0.1: 120 end
    1: 0..0 init
    1: 10..10 send 0 8B tag 1
    1: 50..50 send 0 8B tag 2
    1: 120 end
  )",
                                kPerfect);
  CHECK(watched.wait(0, "MPI_Recv", "wrong order") == Approx(140));
  CHECK(watched.causes->roots() == std::vector<double>{0, 140});
}

// Rank 0 waits for rank i for i ticks.
TEST_CASE("of many causes of waits the largest are kept") {
  std::string text = "0: 0..0 init\n";
  int now = 0;
  for (int rank = 1; rank < 600; ++rank) {
    const std::string before = std::to_string(now), after = std::to_string(now += rank);
    const std::string number = std::to_string(rank);
    text += "0: " + before + ".." + after + " recv " + number + " 8B\n";
    text += number + ": " + after + ".." + after + " send 0 8B\n";
  }
  const Watched watched = watch(text + "0: " + std::to_string(now) + " end\n", kPerfect);
  const auto direct = watched.causes->direct();
  CHECK(direct.size() <= 256);
  for (int rank = 500; rank < 600; ++rank) CHECK(direct.at({0, rank}) == Approx(rank));
  CHECK(watched.wait(0, "MPI_Recv", "late sender") == Approx(599 * 600 / 2));
}
