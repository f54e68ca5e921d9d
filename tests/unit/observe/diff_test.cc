// `rubato diff`: alignment of two runs, and divergence of their times. One tick is one nanosecond.

#include <catch2/catch.hpp>
#include <memory>

#include "models/base/error.h"
#include "replay/compare/alignment.h"
#include "replay/compare/run_difference.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

/// A text trace, replayed and logged.
struct Logged {
  explicit Logged(const std::string& text, const std::string& scenario_text = "measured")
      : source(parse_text_trace(text)) {
    const TraceDefinitions& trace = source->definitions();
    const Scenario scenario = parse_scenario(scenario_text);
    log = std::make_unique<CallLog>(
        trace, scenario.placement.place(Placement(trace.node_of_rank, trace.socket_of_rank)));
    ReplayOptions options;
    options.observers = {log.get()};
    elapsed = run_replay(*source, {scenario}, options).scenarios[0].elapsed;
  }

  std::unique_ptr<EventSource> source;
  std::unique_ptr<CallLog> log;
  double elapsed = 0;
};

RunDifference difference(const Logged& a, const Logged& b, double threshold = 1) {
  return difference_of(*a.log, *b.log, threshold, 10);
}

double ticks(double seconds) {
  return seconds * 1e9;
}

/// One rank that makes calls of these names, each 1 tick long, 10 ticks apart.
std::string local_calls(const std::vector<std::string>& names) {
  std::string text;
  int time = 10;
  for (const std::string& name : names) {
    text +=
        "0: " + std::to_string(time) + ".." + std::to_string(time + 1) + " local " + name + "\n";
    time += 10;
  }
  return text + "0: " + std::to_string(time) + " end\n";
}

const char* const kPair = R"(
  nodes 0 1
  0: 0..10 init
  0: 110..120 send 1 8KiB tag 7
  0: 220..240 barrier
  0: 250..260 finalize
  1: 0..10 init
  1: 20..130 recv 0 8KiB tag 7
  1: 230..240 barrier
  1: 250..260 finalize
)";

}  // namespace

// The 2000 bytes of rank 0 are never received: the replay detects this and starts again. The log
// contains the calls of ranks 0 and 1 once, although a part of rank 1 was already written to the
// file.
TEST_CASE("a log contains no calls of an aborted replay") {
  std::string text =
      "0: 0..0 init\n0: 0..1 send 1 2000B tag 1\n0: 1..2 send 1 8B tag 2\n0: 10 end\n1: 0..0 "
      "init\n";
  for (int i = 0; i < 200; ++i) text += "1: 0..0 local MPI_Comm_rank\n";
  text += "1: 5..6 recv 0 8B tag 2\n1: 10 end\n";
  const Logged run(text, "loggps:L=100ns,G=1ns,S=1000B");
  const auto calls = [&](int timeline) {
    CallLog::Reader reader(*run.log, timeline);
    int count = 0;
    for (LoggedCall call; reader.next(call);) ++count;
    return count;
  };
  CHECK(calls(0) == 4);    // MPI_Init, two sends, the end
  CHECK(calls(1) == 203);  // MPI_Init, 200, the receive, the end
}

TEST_CASE("a run does not differ from itself") {
  const Logged run(kPair);
  const RunDifference d = difference(run, run, 0);
  CHECK(d.same == 4);
  CHECK(d.different + d.only_before + d.only_after == 0);
  CHECK_FALSE(d.first_difference);
  CHECK_FALSE(d.first_drift);
  CHECK(d.largest.empty());
  // Windows from 10 to 250: rank 0 computes 100 + 100 + 10, rank 1 10 + 100 + 10.
  CHECK(ticks(d.by_call.at("compute").after) == Approx(330));
  CHECK(ticks(d.by_call.at("MPI_Recv").before) == Approx(110));
  CHECK(ticks(d.by_call.at("MPI_Barrier").before) == Approx(20 + 10));
  CHECK(d.by_call.at("MPI_Barrier").after_calls == 2);
  REQUIRE(d.by_rank.size() == 2);
  CHECK(ticks(d.by_rank[0].before) == Approx(240));
  CHECK(ticks(d.by_rank[1].after) == Approx(240));
  const auto network = static_cast<size_t>(Level::kNetwork);
  CHECK(ticks(d.by_level[network].after) == Approx(10 + 110 + 20 + 10));
}

// Send and receive take nothing on `perfect`: rank 0 sends at 110 and is in the barrier at 210;
// rank 1 receives at 110 and gets there at 210, too. So the windows end at 220 instead of 250.
TEST_CASE("the gap between a model and the recording, by call, level, rank and place") {
  const Logged predicted(kPair, "perfect"), measured(kPair);
  const RunDifference d = difference(predicted, measured, 15e-9);
  CHECK(d.same == 4);
  CHECK(ticks(predicted.elapsed) == Approx(210));
  CHECK(ticks(d.by_call.at("MPI_Send").gap()) == Approx(10));
  CHECK(ticks(d.by_call.at("MPI_Recv").gap()) == Approx(110 - 90));
  CHECK(ticks(d.by_call.at("MPI_Barrier").gap()) == Approx(30));
  CHECK(ticks(d.by_call.at("compute").gap()) == Approx(0).margin(1e-6));
  CHECK(ticks(d.by_rank[0].gap()) == Approx(30));
  CHECK(ticks(d.by_rank[1].gap()) == Approx(30));
  const auto key =
      std::tuple(std::string("MPI_Recv"), static_cast<uint8_t>(Level::kNetwork), uint64_t{8192});
  CHECK(ticks(d.by_size.at(key).gap()) == Approx(20));
  // Rank 0 is 10 ahead behind its send and 30 behind the barrier; rank 1 20 behind its receive,
  // which it enters at 20, 10 into its window.
  REQUIRE(d.first_drift);
  CHECK(d.first_drift->rank == 1);
  CHECK(d.first_drift->after.what == "MPI_Recv of 8 KiB from 0 with tag 7");
  CHECK(ticks(d.first_drift->time) == Approx(10));
  CHECK(ticks(d.first_drift->drift) == Approx(20));
  CHECK(ticks(d.first_drift->inside) == Approx(20));
  CHECK(ticks(d.first_drift->outside) == Approx(0).margin(1e-6));
  REQUIRE(d.largest.size() == 4);
  CHECK(ticks(d.largest[0].gap()) == Approx(20));
}

TEST_CASE("differing operations of two runs are reported") {
  std::string other = kPair;
  other.replace(other.find("send 1"), 4, "ssend");
  const RunDifference d = difference(Logged(other), Logged(kPair));
  CHECK(d.same == 3);
  CHECK(d.only_before == 1);
  CHECK(d.only_after == 1);
  REQUIRE(d.first_difference);
  CHECK(d.first_difference->rank == 0);
  CHECK(d.first_difference->before.what == "MPI_Ssend of 8 KiB to 1 with tag 7");
}

TEST_CASE("another size is the same call, and counted as different") {
  std::string other = kPair;
  for (size_t at = other.find("8KiB"); at != std::string::npos; at = other.find("8KiB"))
    other.replace(at, 4, "16KiB");
  const RunDifference d = difference(Logged(other), Logged(kPair));
  CHECK(d.same == 2);
  CHECK(d.different == 2);
  CHECK(d.only_before + d.only_after == 0);
  REQUIRE(d.first_difference);
  CHECK(d.first_difference->rank == 1);  // it enters its receive 10 into the window, rank 0 at 100
  CHECK(d.first_difference->before.what == "MPI_Recv of 16 KiB from 0 with tag 7");
  CHECK(d.first_difference->after.what == "MPI_Recv of 8 KiB from 0 with tag 7");
}

TEST_CASE("after additional calls in one run, the following calls are aligned again") {
  const std::vector<std::string> plain = {"MPI_Comm_rank", "MPI_Comm_size", "MPI_Wtime",
                                          "MPI_Get_count", "MPI_Comm_rank", "MPI_Comm_size"};
  std::vector<std::string> more = plain;
  more.insert(more.begin() + 2, 2, "MPI_Type_size");
  const RunDifference d = difference(Logged(local_calls(more)), Logged(local_calls(plain)));
  CHECK(d.same == 6);
  CHECK(d.only_before == 2);
  CHECK(d.only_after == 0);
  REQUIRE(d.first_difference);
  CHECK(d.first_difference->before.what == "MPI_Type_size");
  CHECK(d.first_difference->after.event == 0);
  const RunDifference back = difference(Logged(local_calls(plain)), Logged(local_calls(more)));
  CHECK(back.same == 6);
  CHECK(back.only_after == 2);
}

TEST_CASE("runs longer than windows and chunks are aligned to their ends") {
  // 1000 calls of two kinds by turns; 300 others in the middle of one run, more than a window.
  std::vector<std::string> plain, more;
  for (int i = 0; i < 500; ++i) {
    for (std::vector<std::string>* calls : {&plain, &more}) {
      calls->push_back("MPI_Comm_rank");
      calls->push_back("MPI_Comm_size");
    }
  }
  more.insert(more.begin() + 500, 300, "MPI_Type_size");
  const RunDifference d = difference(Logged(local_calls(plain)), Logged(local_calls(more)));
  CHECK(d.same + d.only_before == 1000);
  CHECK(d.same + d.only_after == 1300);
  CHECK(d.same >= 1000 - 256);  // a window may be lost, not the rest
  CHECK(d.different == 0);
}

TEST_CASE("polling loops are aligned, whatever their number of polls") {
  const auto polling = [](int polls) {
    std::string text =
        "0: 0..0 init\n0: 1000..1001 send 1 8B\n0: 1100..1110 barrier\n0: 1110 end\n"
        "1: 0..0 init\n1: 0..1 irecv 0 8B req 1\n";
    int time = 1000 - 10 * polls;
    for (int i = 0; i < polls; ++i, time += 10)
      text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
    return text + "1: 1010..1012 test 1\n1: 1100..1110 barrier\n1: 1110 end\n";
  };
  const RunDifference d = difference(Logged(polling(3)), Logged(polling(50)));
  CHECK(d.same == 5);  // send, barrier; irecv, polls, barrier
  CHECK_FALSE(d.first_difference);
  CHECK(d.by_call.at("MPI_Test").before_calls == 4);
  CHECK(d.by_call.at("MPI_Test").after_calls == 51);
  CHECK(ticks(d.by_call.at("MPI_Test").before) == Approx(4 * 2));
  CHECK(ticks(d.by_call.at("MPI_Test").after) == Approx(51 * 2));
}

TEST_CASE("a wildcard receive may take from another rank, a named one may not") {
  const auto receives = [](const std::string& first, const std::string& second,
                           const std::string& wild) {
    return "0: 0..10 send 2 8B\n0: 10 end\n1: 0..10 send 2 8B\n1: 10 end\n2: 0..20 recv " + first +
           " 8B" + wild + "\n2: 20..30 recv " + second + " 8B" + wild + "\n2: 30 end\n";
  };
  const std::string wild = " any_source";
  CHECK(difference(Logged(receives("0", "1", wild)), Logged(receives("1", "0", wild))).same == 4);
  const RunDifference named =
      difference(Logged(receives("0", "1", "")), Logged(receives("1", "0", "")));
  CHECK(named.same == 2);
  CHECK(named.different == 2);
}

TEST_CASE("time outside of the program's calls is listed separately") {
  // 10..20 was switched off, and 30..34 went into writing the tracer's buffer.
  const Logged run(R"(
    0: 0..0 init
    0: 10..20 off
    0: 30..34 flush
    0: 40..50 local MPI_Comm_rank
    0: 60 end
  )");
  const RunDifference d = difference(run, run);
  CHECK(d.same == 1);
  CHECK(ticks(d.by_call.at("switched off").after) == Approx(10));
  CHECK(ticks(d.by_call.at("tracer's flushes").after) == Approx(4));
  CHECK(ticks(d.by_call.at("compute").after) == Approx(10 + 10 + 6 + 10));
  CHECK(ticks(d.by_rank[0].after) == Approx(60));
}

TEST_CASE("runs of other numbers of ranks are refused") {
  const Logged one("0: 0..1 local MPI_Comm_rank\n0: 2 end\n");
  const Logged two(kPair);
  CHECK_THROWS_AS(difference(one, two), InputError);
}
