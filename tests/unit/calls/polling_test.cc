// Loops that wait by polling: times worked out by hand. One tick is one nanosecond.

#include "replay/calls/polling.h"

#include <catch2/catch.hpp>
#include <memory>

#include "replay/calls/call_builder.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

Results replay(const std::string& text, const std::string& scenario, bool spinning_waits = true) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  options.spinning_waits = spinning_waits;
  const Results results = run_replay(*source, {parse_scenario(scenario)}, options);
  CHECK(results.identity->differing == 0);
  return results;
}

double end_of(const Results& results, int rank) {
  return results.scenarios[0].ranks[rank].end * 1e9;
}

/// A receiver that polls for 2 every 10 ticks from 10 on, 100 times without success and then
/// successfully, for a message sent at 1000.
std::string polling_loop() {
  std::string text =
      "0: 0..0 init\n0: 1000..1001 send 1 8B\n0: 1001 end\n1: 0..1 irecv 0 8B req 1\n";
  for (int time = 10; time <= 1000; time += 10)
    text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
  return text + "1: 1010..1012 test 1\n1: 1022 end\n";
}

bool every_call(const Call&) {
  return true;
}

}  // namespace

TEST_CASE("a polling loop is a wait on another machine, and what it was on the recorded one") {
  // Ten times as fast a processor: the message comes at 100. The wait begins at 9 / 10, ends then,
  // and 10 / 10 of compute follow.
  const Results waits = replay(polling_loop(), "perfect:cpu*10");
  CHECK(end_of(waits, 1) == Approx(101));
  CHECK(waits.trace.kept.empty());
  CHECK(waits.trace.spinning_calls == 100);
  CHECK(waits.trace.spinning_time == Approx(200e-9));
  // As recorded: 9 / 10, a hundred times 2 inside and 8 / 10 behind it, then the message is there.
  const Results keeps = replay(polling_loop(), "perfect:cpu*10", false);
  CHECK(end_of(keeps, 1) == Approx(0.9 + 100 * 2.8 + 1));
  REQUIRE(keeps.trace.kept.size() == 1);
  CHECK(keeps.trace.kept[0].count == 100);
  CHECK(keeps.trace.spinning_calls == 0);
  CHECK(end_of(replay(polling_loop(), "measured"), 1) == Approx(1022));
}

TEST_CASE("work between polls remains compute, and the polls before it are kept") {
  const char* text = R"(
    0: 0..1 send 1 8B
    0: 1 end
    1: 0..1 irecv 0 8B req 1
    1: 10..12 test
    1: 512..514 test
    1: 520..522 test
    1: 530..532 test 1
    1: 540 end
  )";
  // The message is there at once. Irecv takes nothing: 9, a look of 2, 500 of work (over 10 x 2),
  // then nothing is left to wait for: 511, and 8 of compute.
  const Results results = replay(text, "perfect");
  CHECK(end_of(results, 1) == Approx(519));
  CHECK(results.trace.spinning_calls == 2);
  REQUIRE(results.trace.kept.size() == 1);
  CHECK(results.trace.kept[0].count == 1);
}

TEST_CASE("an interrupt between two polls is no work") {
  // Polls of 2, every 10, from 10 on; one comes 58 after the one before, as long as 29 polls. From
  // there on 145 * 10 were polled, and a tenth of that is more than 58. The sender is a hundred
  // times as fast: at 20 instead of 2000. The loop is one wait that begins at 10 and ends then; 10
  // follow.
  std::string text =
      "0: 0..0 init\n0: 2000..2001 send 1 8B\n0: 2001 end\n1: 0..0 irecv 0 8B req 1\n";
  for (int time = 10; time <= 2000; time += time == 500 ? 60 : 10)
    text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
  text += "1: 2010..2012 test 1\n1: 2022 end\n";
  const Results results = replay(text, "perfect:rank0.cpu*100");
  CHECK(end_of(results, 1) == Approx(20 + 10));
  CHECK(results.trace.kept.empty());
  CHECK(end_of(replay(text, "measured"), 1) == Approx(2022));
}

TEST_CASE("work after every second poll is no interrupt") {
  // Twenty times: two polls of 2, 8 between them, and 50 behind; then one that finds the message,
  // which was there from the start. 20 * 10 were polled between pieces of work: a tenth of that,
  // and of the polls counted backwards, is 40 at most. So nothing is removed: 20 * 62, and 10 + 2.
  std::string text = "0: 0..1 send 1 8B\n0: 1 end\n1: 0..0 irecv 0 8B req 1\n";
  int time = 10;
  for (int i = 0; i < 20; ++i, time += 62) {
    for (const int poll : {time, time + 10})
      text += "1: " + std::to_string(poll) + ".." + std::to_string(poll + 2) + " test\n";
  }
  text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test 1\n";
  text += "1: " + std::to_string(time + 2) + " end\n";
  CHECK(end_of(replay(text, "perfect"), 1) == Approx(10 + 20 * 62));
}

TEST_CASE("a flush of the tracer ends neither a loop of polls nor a probe") {
  // A processor of ten times the speed sends at 100. The probe waits until then, the flush takes
  // nothing; 3 / 10 lie between that and the receive, whose message is there.
  const Results probe = replay(R"(
    0: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1001 end
    1: 0..1002 local MPI_Probe
    1: 1002..1050 flush
    1: 1053..1054 recv 0 8B
    1: 1054 end
  )",
                               "perfect:cpu*10");
  CHECK(end_of(probe, 1) == Approx(100.3));
  CHECK(probe.trace.kept.empty());
  // Looks from 0 on, of which the last one finds what is sent at 30; the flush is part of the wait.
  // 2 lie between the last look and the receive.
  const Results looks = replay(R"(
    0: 0..0 init
    0: 300..301 send 1 8B
    0: 301 end
    1: 0..80 local MPI_Iprobe
    1: 82..100 local MPI_Iprobe
    1: 100..250 flush
    1: 252..270 local MPI_Iprobe
    1: 272..310 local MPI_Iprobe
    1: 312..314 recv 0 8B
    1: 314 end
  )",
                               "perfect:rank0.cpu*10");
  CHECK(end_of(looks, 1) == Approx(32));
  CHECK(looks.trace.spinning_calls == 3);
}

TEST_CASE("another call ends a run of polls") {
  const char* text = R"(
    0: 0..1 send 1 8B
    0: 1 end
    1: 0..0 irecv 0 8B req 1
    1: 10..12 test
    1: 14..15 barrier comm 1
    1: 16..18 test
    1: 20..22 test 1
    1: 22 end
    comm 1 1
  )";
  // 10 and a look of 2 and 2 more; the barrier of one rank keeps its 1; then one poll that is gone,
  // 1 before it.
  const Results results = replay(text, "perfect");
  CHECK(end_of(results, 1) == Approx(10 + 2 + 2 + 1 + 1));
  CHECK(results.trace.spinning_calls == 1);
}

TEST_CASE("probes that lead to a receive were a wait for it") {
  const char* text = R"(
    0: 0..0 init
    0: 100..101 send 1 8B
    0: 101 end
    1: 0..2 local MPI_Iprobe
    1: 4..6 local MPI_Iprobe
    1: 100..102 local MPI_Iprobe
    1: 104..106 local MPI_Iprobe
    1: 108..110 recv 0 8B
    1: 110 end
  )";
  // Looks at 0 and 4, work until 100 - 6 + 6; the loop ends when the message comes, at 100, and 2
  // lie before the receive. On a processor of ten times the speed: 2 + 0.2 + 2 + 9.4 = 13.6 at the
  // third look; it is sent at 10, and the fourth look finds it.
  CHECK(end_of(replay(text, "perfect"), 1) == Approx(102));
  const Results fast = replay(text, "perfect:cpu*10");
  CHECK(end_of(fast, 1) == Approx(13.8));
  CHECK(fast.trace.spinning_calls == 1);
  // One that found its message at once was no loop; as a successful test it takes nothing. 5, and 1
  // between the two.
  const Results lone =
      replay("0: 0..1 send 1 8B\n0: 1 end\n1: 5..7 local MPI_Iprobe\n1: 8..9 recv 0 8B\n1: 9 end\n",
             "perfect");
  CHECK(lone.trace.spinning_calls == 0);
  CHECK(end_of(lone, 1) == Approx(6));
}

TEST_CASE("a local call does not end a loop of polls") {
  std::string probes = "0: 0..0 init\n0: 100..101 send 1 8B\n0: 101 end\n";
  for (int time = 0; time <= 100; time += 10)
    probes +=
        "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " local MPI_Iprobe\n";
  probes += "1: 103..104 local MPI_Get_count\n1: 105..110 recv 0 8B\n1: 110 end\n";
  // Ten times as fast: sent at 10. The loop begins at 0 and ends then; 0.1, MPI_Get_count takes its
  // 1, and 0.1.
  const Results counted = replay(probes, "perfect:cpu*10");
  CHECK(end_of(counted, 1) == Approx(11.2));
  CHECK(counted.trace.spinning_calls == 10);
  CHECK(counted.trace.kept.empty());
  CHECK(end_of(replay(probes, "measured"), 1) == Approx(110));

  // MPI_Get_address between tests is part of the loop.
  std::string tests = "0: 0..0 init\n0: 100..101 send 1 8B\n0: 101 end\n1: 0..0 irecv 0 8B req 1\n";
  for (int time = 10; time <= 100; time += 10) {
    tests += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
    tests += "1: " + std::to_string(time + 4) + ".." + std::to_string(time + 5) +
             " local MPI_Get_address\n";
  }
  tests += "1: 110..112 test 1\n1: 112 end\n";
  const Results looped = replay(tests, "perfect:cpu*10");
  CHECK(end_of(looped, 1) == Approx(10));
  CHECK(looped.trace.spinning_calls == 10);
}

TEST_CASE("tests that end with another kind of test at its first try were no wait") {
  // A program that tests for a message after each piece of work, 10 ticks apart, and fills its
  // buffer again when it may: after 20 unsuccessful tests. The buffer was free at once, and so was
  // the message.
  const auto looks = [](int from, const std::string& found) {
    std::string text;
    for (int time = from; time < from + 200; time += 10)
      text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " testany\n";
    return text + "1: " + std::to_string(from + 200) + ".." + std::to_string(from + 202) + " " +
           found + "\n";
  };
  const std::string begin =
      "0: 0..1 send 1 8B\n0: 1..2 irecv 1 8B req 1\n0: 2..3 wait 1\n0: 3 end\n"
      "1: 0..0 irecv 0 8B req 1\n1: 0..0 isend 0 8B req 2\n";
  const Results given_up =
      replay(begin + looks(10, "test 2") + "1: 220..221 wait 1\n1: 221 end\n", "perfect");
  // 10, 20 looks of 2 and 8 behind each; what found something takes nothing, then 8 more; the wait
  // takes nothing.
  CHECK(end_of(given_up, 1) == Approx(10 + 20 * 10 + 8));
  CHECK(given_up.trace.spinning_calls == 0);
  // So are the next ones, though a message ends them: half of all were given up. 210, 8, 20
  // times 10.
  const Results looked =
      replay(begin + looks(10, "test 2") + looks(220, "testany 1") + "1: 422 end\n", "perfect");
  CHECK(end_of(looked, 1) == Approx(210 + 8 + 200));
  CHECK(looked.trace.spinning_calls == 0);
}

TEST_CASE("a location that seldom gives up its tests waits in them") {
  const auto polls = [](size_t count, uint16_t name) {
    std::vector<Call> run(count);
    for (Call& call : run) call.name = name;
    return run;
  };
  GivenUp given_up;
  given_up.count(polls(68, 1), 1, every_call);
  CHECK_FALSE(given_up.is_look_now_and_then(1));
  given_up.count(polls(22, 1), 2, every_call);  // 22 of 90
  CHECK_FALSE(given_up.is_look_now_and_then(1));
  given_up.count(polls(16, 1), 2, every_call);  // so few count for nothing
  CHECK_FALSE(given_up.is_look_now_and_then(1));
  // Given up are the 17 before the first of the other name, which waited: 39 of 107, and 0 of 18.
  std::vector<Call> both = polls(17, 1);
  const std::vector<Call> others = polls(18, 2);
  both.insert(both.end(), others.begin(), others.end());
  given_up.count(both, 2, every_call);
  CHECK(given_up.is_look_now_and_then(1));
  CHECK_FALSE(given_up.is_look_now_and_then(2));
  CHECK(polled_before(both, 2).size() == 18);
  CHECK(polled_before(both, 3).empty());
}

TEST_CASE("a long call between two polls is work") {
  const char* text = R"(
    0: 0..1 send 1 8B
    0: 1 end
    1: 0..0 irecv 0 8B req 1
    1: 10..12 test
    1: 14..64 local MPI_Pack
    1: 66..68 test
    1: 70..72 test 1
    1: 72 end
  )";
  // The message is there at once. 10, a look of 2, 2 more, 50 in MPI_Pack (over 10 x 2), 2: at 66
  // nothing is left to wait for.
  const Results results = replay(text, "perfect");
  CHECK(end_of(results, 1) == Approx(66));
  CHECK(results.trace.spinning_calls == 1);
}

TEST_CASE("a blocking probe before its receive is a wait") {
  const char* text = R"(
    0: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1001 end
    1: 0..1002 local MPI_Probe
    1: 1003..1004 local MPI_Get_count
    1: 1010..1012 recv 0 8B
    1: 1012 end
  )";
  // Ten times as fast: sent at 100, when the probe ends. MPI_Get_count takes 1, 0.7 lie between.
  for (const bool spinning_waits : {true, false}) {
    const Results waits = replay(text, "perfect:cpu*10", spinning_waits);
    CHECK(end_of(waits, 1) == Approx(101.7));
    CHECK(waits.trace.kept.empty());
    CHECK(waits.trace.spinning_calls == 0);
  }
  CHECK(end_of(replay(text, "measured"), 1) == Approx(1012));
  // So it does before a receive that does not wait: 100, 0.1 behind it, 500.
  const Results starts = replay(R"(
    0: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1001 end
    1: 0..1002 local MPI_Probe
    1: 1003..1003 irecv 0 8B req 1
    1: 1003..1503 local MPI_Get_count
    1: 1503..1504 wait 1
    1: 1504 end
  )",
                                "perfect:cpu*10");
  CHECK(end_of(starts, 1) == Approx(100 + 0.1 + 500));
  CHECK(starts.trace.spinning_calls == 0);
  // Work between them keeps its time: 500 of it remain when the message has arrived.
  const char* works = R"(
    0: 0..1 send 1 8B
    0: 1 end
    1: 0..2 local MPI_Mprobe
    1: 502..503 recv 0 8B
    1: 503 end
  )";
  CHECK(end_of(replay(works, "perfect"), 1) == Approx(500));
}

TEST_CASE("a function of the program between two polls is work") {
  // Polls of 4 and 2: the median of {4, 4, 2} is 4, so that gaps of 40 are spinning.
  std::vector<Call> run(4);
  const double times[][2] = {{0, 4}, {44, 48}, {60, 62}, {70, 75}};
  for (size_t i = 0; i < run.size(); ++i) {
    run[i].enter = times[i][0];
    run[i].leave = times[i][1];
  }
  std::vector<Call> plain = run;
  mark_spinning(plain, every_call);
  CHECK(plain[0].spinning == kSpinning);
  CHECK(plain[1].spinning == (kSpinning | kSpinningBefore));
  CHECK(plain[3].spinning == kSpinningBefore);
  run[2].function_records = 2;
  mark_spinning(run, every_call);
  CHECK(run[0].spinning == 0);
  CHECK(run[1].spinning == 0);
  CHECK(run[2].spinning == kSpinning);
  CHECK(run[3].spinning == kSpinningBefore);
}

TEST_CASE("polls are not replayed before their loop is classified") {
  TraceDefinitions trace;
  trace.location_of_rank = {0, 1};
  trace.calls = {mpi_call_info("MPI_Isend"), mpi_call_info("MPI_Test")};
  CallBuilder builder(trace, 0, std::make_shared<RequestBook>());
  builder.enter(1, 0, 0);
  builder.isend(2, 0, 0, 1, 0, 8, 5);
  builder.leave(3, 1, 0);
  builder.enter(4, 2, 1);
  builder.leave(5, 3, 1);
  Block block;
  REQUIRE(builder.take(block));
  CHECK(block.calls.size() == 2);  // the begin and MPI_Isend
  CHECK_FALSE(builder.take(block));
  builder.enter(6, 4, 1);
  builder.isend_complete(7, 5, 5);
  builder.leave(8, 5, 1);
  REQUIRE(builder.take(block));
  REQUIRE(block.calls.size() == 2);
  CHECK(block.calls[0].spinning == (kSpinning | kInVain));
  CHECK(block.calls[1].spinning == (kSpinningBefore | kLookedFor));
}
