// Ranks with several threads that call MPI, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// On measured and perfect, verified; every message has to find its other side.
Results replay(const std::string& text) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.unmatched_sends == 0);
  CHECK(results.trace.unmatched_receives == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  for (const ScenarioResult& scenario : results.scenarios) {
    INFO(scenario.name << ": " << scenario.deadlock);
    REQUIRE(scenario.deadlock.empty());
  }
  CHECK(results.scenarios[1].elapsed <= results.scenarios[0].elapsed);
  return results;
}

/// When a rank ends on perfect, in ns.
double end_of(const Results& results, int rank) {
  return results.scenarios[1].ranks[rank].end * 1e9;
}

CallTotals call_of(const ScenarioResult& scenario, const Results& results, int rank,
                   const std::string& name) {
  for (size_t i = 0; i < results.calls.size(); ++i) {
    if (results.calls[i] == name) return scenario.ranks[rank].calls[i];
  }
  return {};
}

}  // namespace

TEST_CASE("two threads, each in a ping-pong with a thread of the other rank") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 100..110 send 1 8B tag 1
    0: 120..300 recv 1 8B tag 1
    0: 1000..1000 finalize
    0.1: 50..60 send 1 8B tag 2
    0.1: 70..500 recv 1 8B tag 2
    1: 0..0 init
    1: 20..150 recv 0 8B tag 1
    1: 200..210 send 0 8B tag 1
    1: 1000..1000 finalize
    1.1: 30..100 recv 0 8B tag 2
    1.1: 400..410 send 0 8B tag 2
  )");
  // Perfect, main threads: sent at 100, so rank 1 goes on at 100, computes 50, sends at 150; rank 0
  // waits from 110 to 150 and computes 700: 850. Rank 1 computes 790 after its send: 940.
  CHECK(end_of(results, 0) == Approx(850));
  CHECK(end_of(results, 1) == Approx(940));
  // Threads 1: sent at 50, so the other goes on at 50, computes 300, sends at 350; thread 1 of rank
  // 0 waits from 60 to 350. With the 40 of the main thread that is 330 of MPI; and it computes 10
  // beside the 100 + 10 + 700 of the main one.
  CHECK(results.scenarios[1].ranks[0].mpi == Approx(330e-9));
  CHECK(results.scenarios[1].ranks[0].compute == Approx(820e-9));
  // As recorded: 10 + 180 and 10 + 430.
  CHECK(results.scenarios[0].ranks[0].mpi == Approx(630e-9));
  CHECK(results.trace.mpi_calls == 12);
  CHECK(results.trace.locations == 4);
  CHECK(results.trace.messages == 4);
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("2 threads besides the main threads") == 0);
}

TEST_CASE("a request posted by one thread is waited for by another") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 100..101 irecv 1 8B req 1
    0: 1000..1000 finalize
    0.1: 200..350 wait 1
    0.1: 400..401 local MPI_Comm_rank
    1: 0..0 init
    1: 300..310 send 0 8B
    1: 1000..1000 finalize
  )");
  // Perfect: the receive is posted in no time, so the main thread is one earlier from 101 on, and
  // thread 1 with it: it waits from 199 to 300.
  CHECK(call_of(results.scenarios[1], results, 0, "MPI_Wait").time == Approx(101e-9));
  CHECK(call_of(results.scenarios[1], results, 0, "MPI_Wait").bytes_received == 8);
  CHECK(end_of(results, 0) == Approx(999));
  CHECK(end_of(results, 1) == Approx(990));
}

TEST_CASE("a wait cannot begin before another thread has posted what it waits for") {
  const std::string text = R"(
    0: 0..0 init
    0: 10..500 recv 1 8B tag 5
    0: 510..511 irecv 1 8B req 1
    0: 1000..1000 finalize
    0.1: 5..6 local MPI_Comm_rank
    0.1: 600..700 wait 1
    0.1: 800..801 local MPI_Comm_rank
    1: 0..0 init
    1: 400..410 send 0 8B tag 5
    1: 420..430 send 0 8B
    1: 1000..1000 finalize
  )";
  replay(text);
  // A latency of 1000: the first message is there at 1400, the post at 1410; the second message is
  // sent at 410 and there at 1410 too. Thread 1 would wait from 600 on for a receive that is not
  // posted yet: it begins to wait at 1410, and ends at 1410 + 100 + 1.
  const auto source = parse_text_trace(text);
  const Results slow = run_replay(*source, {parse_scenario("bandela:latency=1us")}, {});
  REQUIRE(slow.scenarios[0].deadlock.empty());
  CHECK(call_of(slow.scenarios[0], slow, 0, "MPI_Wait").time == Approx(0).margin(1e-12));
  // The main thread: 1410 + 489.
  CHECK(slow.scenarios[0].ranks[0].end == Approx(1899e-9));
}

TEST_CASE("one request number, posted by one thread and waited for by another again and again") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 100..101 irecv 1 8B req 1
    0.1: 150..250 wait 1
    0: 300..301 irecv 1 16B req 1
    0.1: 350..450 wait 1
    0: 500..501 isend 1 4B req 1
    0.1: 550..560 wait 1
    0: 1000..1000 finalize
    1: 0..0 init
    1: 200..210 send 0 8B
    1: 400..410 send 0 16B
    1: 520..590 recv 0 4B
    1: 1000..1000 finalize
  )");
  // Perfect: thread 1 waits from 149 (100 + 50 - 1) to 200; 100 of compute; from 300, to 390 (the
  // send, 10 earlier); 100 more: 490, before the send of 498 is posted. It waits until then, not
  // longer: 51 + 90 + 0.
  CHECK(call_of(results.scenarios[1], results, 0, "MPI_Wait").time == Approx(141e-9));
  CHECK(call_of(results.scenarios[1], results, 0, "MPI_Wait").bytes_received == 24);
}

TEST_CASE(
    "threads of every rank synchronise in a barrier while the main threads wait for messages") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 10..900 recv 1 8B
    0: 1000..1000 finalize
    0.1: 50..210 barrier
    0.1: 300..310 send 1 8B tag 3
    1: 0..0 init
    1: 20..400 recv 0 8B tag 3
    1: 800..810 send 0 8B
    1: 1000..1000 finalize
    1.1: 200..210 barrier
  )");
  // Perfect: the barrier is over at 200; 90 of compute; the main thread of rank 1 goes on at 290,
  // computes 400, sends at 690, ends at 690 + 190. Rank 0 goes on at 690 and ends at 790.
  CHECK(end_of(results, 0) == Approx(790));
  CHECK(end_of(results, 1) == Approx(880));
}

TEST_CASE("the threads of a rank take turns in the collectives of a communicator") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 100..120 barrier
    0: 300..330 barrier
    0: 400..400 finalize
    0.1: 200..220 allreduce 16B 16B
    1: 0..0 init
    1: 110..120 barrier
    1: 150..220 allreduce 16B 16B
    1: 310..330 barrier
    1: 400..400 finalize
  )");
  // Perfect: rank 1 leaves the barrier at 110 and enters the allreduce at 140; thread 1 of rank 0
  // begins 80 after its main thread left the barrier: 190. Then 90 of compute on rank 1: 280; rank
  // 0's main thread is there at 110 + 180 = 290. Both compute 70.
  CHECK(results.trace.collectives == 8);
  CHECK(end_of(results, 0) == Approx(360));
  CHECK(end_of(results, 1) == Approx(360));
}

TEST_CASE("two receives open at once on one channel: the one that ended first came first") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 10..600 recv 1 16B
    0: 1000..1000 finalize
    0.1: 20..150 recv 1 8B
    1: 0..0 init
    1: 100..110 send 0 8B
    1: 500..510 send 0 16B
    1: 1000..1000 finalize
  )");
  // Perfect: sends at 100 and 490. The main thread gets the second one: 490 + 400.
  CHECK(end_of(results, 0) == Approx(890));
}

TEST_CASE("sends of two threads on one channel keep the order in which they were recorded") {
  // In whatever order the replay runs the threads: the main one is blocked at 100..290.
  const Results results = replay(R"(
    0: 0..0 init
    0: 40..45 send 1 16B
    0: 100..290 recv 1 8B tag 9
    0: 300..305 send 1 32B
    0: 1000..1000 finalize
    0.1: 50..55 send 1 8B
    0.1: 200..205 send 1 64B
    1: 0..0 init
    1: 210..220 recv 0 16B
    1: 230..231 recv 0 8B
    1: 240..250 recv 0 64B
    1: 280..285 send 0 8B tag 9
    1: 290..400 recv 0 32B
    1: 1000..1000 finalize
  )");
  // Perfect: no receive waits: rank 1 sends at 280 - 10 - 1 - 10 = 259; rank 0 goes on then, sends
  // at 269 and ends at 269 + 695. Rank 1 waits from 264 to 269 and computes 600.
  CHECK(end_of(results, 0) == Approx(964));
  CHECK(end_of(results, 1) == Approx(869));
}

TEST_CASE("a thread begins when the main one has come as far as it had then") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 10..510 recv 1 8B
    0: 2000..2000 finalize
    0.1: 610..650 send 1 8B tag 1
    1: 0..0 init
    1: 100..110 ssend 0 8B
    1: 200..640 recv 0 8B tag 1
    1: 2000..2000 finalize
  )");
  // Perfect: rank 0 has its message at 100, so thread 1 begins at 200 instead of 610.
  CHECK(end_of(results, 0) == Approx(100 + 1490));
  // Rank 1 waits from 190 to 200.
  CHECK(end_of(results, 1) == Approx(200 + 1360));
}

TEST_CASE("the window of a rank lasts until its last thread has left MPI") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 1000..1000 finalize
    0.1: 100..900 recv 1 8B
    1: 0..0 init
    1: 800..810 send 0 8B
    1: 1000..1000 finalize
  )");
  const Results results = run_replay(*source, {parse_scenario("bandela:latency=5us")}, {});
  CHECK(results.scenarios[0].ranks[0].end == Approx(5800e-9));
  CHECK(results.scenarios[0].elapsed == Approx(5800e-9));
}

TEST_CASE("a deadlock of threads names them") {
  Scenario scenario;
  scenario.name = "platform";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
  )",
                                     "platform");
  // Recorded where 2000 bytes were sent eagerly.
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 100..100 finalize
    0.1: 10..11 send 1 2000B tag 1
    0.1: 12..13 send 1 8B tag 2
    1: 0..0 init
    1: 10..20 recv 0 8B tag 2
    1: 30..40 recv 0 2000B tag 1
    1: 100..100 finalize
  )");
  const Results results = run_replay(*source, {scenario}, {});
  CHECK(results.scenarios[0].deadlock ==
        "rank 1, event 3 (MPI_Recv) waits for 8 bytes from rank 0 with tag 2 on communicator "
        "'MPI_COMM_WORLD'; rank 0 thread 1, event 1 (MPI_Send) waits to send 2000 bytes to rank 1 "
        "with tag 1 on communicator 'MPI_COMM_WORLD'");
}

TEST_CASE("a message of a thread whose length does not fit is matched by order") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 100..100 finalize
    0.1: 10..11 send 1 8B
    0.1: 20..21 send 1 16B
    1: 0..0 init
    1: 5..30 recv 0 32B
    1: 35..40 recv 0 16B
    1: 100..100 finalize
  )");
  ReplayOptions options;
  options.verify = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.misfits.count == 1);
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  // Perfect: the sends are entered at 10 and, 9 of compute later, at 19. The first receive leaves
  // at 10, the second, posted at 15, at 19; 60 of compute are behind it.
  REQUIRE(results.scenarios[1].deadlock.empty());
  CHECK(results.scenarios[1].ranks[1].end == Approx(79e-9));
}

TEST_CASE("a rank with threads does not wait in a collective without a part") {
  const auto source = parse_text_trace(R"(
    0: 10..11 igatherv root 1 0B 0B req 1
    0: 20..21 wait 1
    0: 30..31 gather root 1 8B 0B
    0: 40 end
    0.1: 11..12 local MPI_Comm_rank
    0.1: 12 end
    1: 1000..1001 igatherv root 1 0B 8B req 1
    1: 1010..1011 wait 1
    1: 1020..1021 gather root 1 8B 16B
    1: 1040 end
  )");
  const Results results =
      run_replay(*source, {parse_scenario("bandela:latency=1us,bandwidth=1GB/s")}, {});
  REQUIRE(results.scenarios[0].deadlock.empty());
  // Without overheads its three calls take nothing, so that the compute of 9 before each of the
  // last two and the one of 9 behind them follow the first enter at 10.
  CHECK(results.scenarios[0].ranks[0].end == Approx(37e-9));
}

TEST_CASE("a thread of a killed program may compute beyond the end of the run") {
  const Results results = replay(R"(
    0: 0..100 barrier
    0: 110 end
    0.1: 0..1 local MPI_Comm_rank
    0.1: 110 end
    1: 90..100 barrier
    1: 110 end
  )");
  // Perfect: rank 1 comes at 90, where both go on; they compute 10 and end at 100, and with them
  // the run. The thread computes up to 110. Two threads of rank 0 share 2 * 100: 90 and 1 in MPI,
  // 10 and 109 of compute, less the 10 that are behind the end.
  const ScenarioResult& perfect = results.scenarios[1];
  const RankResult& rank = perfect.ranks[0];
  CHECK(perfect.elapsed * 1e9 == Approx(100));
  CHECK(rank.mpi * 1e9 == Approx(91));
  CHECK(rank.compute * 1e9 == Approx(109));
  CHECK(rank.after == 0);
}
