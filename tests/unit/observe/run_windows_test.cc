// Efficiencies over time (replay/analyse/run_windows.h). One tick is one nanosecond.

#include <catch2/catch.hpp>
#include <memory>

#include "replay/analyse/run_windows.h"
#include "replay/judge/efficiency.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

struct Windowed {
  Results results;  ///< of "measured" and "perfect"
  std::vector<WindowEfficiency> windows;
};

Windowed windows_of(const std::string& text, int count, int together = 1) {
  const std::unique_ptr<EventSource> source = parse_text_trace(text);
  const TraceDefinitions& trace = source->definitions();
  const Scenario measured = parse_scenario("measured"), perfect = parse_scenario("perfect");
  Windowed found;
  found.results = run_replay(*source, {measured, perfect}, {});
  const ScenarioResult& run = found.results.scenarios[0];
  WindowMarks marks(trace, run.start * trace.ticks_per_second, run.elapsed * trace.ticks_per_second,
                    count);
  ReplayOptions options;
  options.observers = {&marks};
  run_replay(*source, {measured}, options);
  WindowTimes times(trace, marks);
  options.observers = {&times};
  run_replay(*source, {perfect}, options);
  found.windows = window_efficiencies(marks, times, run, found.results.scenarios[1], together);
  return found;
}

void check_window(const WindowEfficiency& window, double load_balance, double serialisation,
                  double transfer) {
  CHECK(window.load_balance == Approx(load_balance));
  CHECK(window.serialisation == Approx(serialisation));
  CHECK(window.transfer == Approx(transfer).margin(1e-12));
}

// From 0 to 400 rank 1 computes twice as long as rank 0, and the barrier takes nothing. From 400 to
// 800 both compute 100, and the network takes 300.
const char* const kPhases = R"(
  0: 0..0 init
  1: 0..0 init
  0: 200..400 barrier
  1: 400..400 barrier
  0: 500..800 allreduce 8B 8B
  1: 500..800 allreduce 8B 8B
  0: 800..800 finalize
  1: 800..800 finalize
)";

}  // namespace

TEST_CASE("two phases: unequal work, then the network") {
  const Windowed two = windows_of(kPhases, 2);
  REQUIRE(two.windows.size() == 2);
  // Compute 200 and 400, and 400 pass on a perfect interconnect: 300/400, 400/400, 400/400.
  check_window(two.windows[0], 0.75, 1, 1);
  CHECK(two.windows[0].busiest == 1);
  // Compute 100 and 100, and 100 pass on a perfect interconnect: 1, 100/100, 100/400.
  check_window(two.windows[1], 1, 1, 0.25);
  CHECK(two.windows[1].begin == Approx(400e-9));
  CHECK(two.windows[1].end == Approx(800e-9));
}

TEST_CASE("windows that end in the middle of calls") {
  const Windowed four = windows_of(kPhases, 4);
  REQUIRE(four.windows.size() == 4);
  check_window(four.windows[0], 1, 1, 1);    // both compute
  check_window(four.windows[1], 0.5, 1, 1);  // rank 0 waits, on a perfect interconnect as well
  // 400 to 600: 100 of compute, then the first third of the allreduce, which takes nothing.
  check_window(four.windows[2], 1, 1, 0.5);
  check_window(four.windows[3], 1, 1, 0);  // the rest of it
  CHECK(four.windows[3].busiest == -1);
  // Joined by twos they are those of two windows.
  const Windowed joined = windows_of(kPhases, 4, 2);
  check_window(joined.windows[0], 0.75, 1, 1);
  check_window(joined.windows[1], 1, 1, 0.25);
}

TEST_CASE("one window has the efficiencies of the run") {
  // A chain: rank 1 computes 100 after it got the message of rank 0, which computed 100 before. The
  // ranks begin and end at different times.
  const Windowed one = windows_of(R"(
    0: 0..5 init
    1: 0..25 init
    0: 105..155 send 1 8B
    0: 155..270 finalize
    1: 25..165 recv 0 8B
    1: 265..270 finalize
  )",
                                  1);
  REQUIRE(one.windows.size() == 1);
  const std::optional<Efficiency> whole = efficiency(one.results, one.results.scenarios[0]);
  REQUIRE(whole);
  check_window(one.windows[0], whole->load_balance, whole->serialisation, whole->transfer);
  // Compute 100 and 100 of 265 - 5.
  CHECK(one.windows[0].parallel() == Approx(100.0 / 260));
}

TEST_CASE("in each window the factors multiply to the share of compute") {
  // Rank 0 sends, with a phase of its own, to rank 1; both compute between all calls.
  std::string text = "0: 0..0 init\n1: 0..0 init\n";
  int sender = 0, receiver = 0;
  double compute = 0;
  for (int i = 0; i < 40; ++i) {
    const int first = 30 + 7 * (i % 5), second = 20 + 11 * (i % 3);
    compute += first + second;
    text += "0: " + std::to_string(sender + first) + ".." + std::to_string(sender + first + 9) +
            " send 1 8B\n";
    sender += first + 9;
    const int leave = std::max(receiver + second + 1, sender + 13);
    text +=
        "1: " + std::to_string(receiver + second) + ".." + std::to_string(leave) + " recv 0 8B\n";
    receiver = leave;
  }
  for (const auto& [rank, end] : {std::pair(0, sender), std::pair(1, receiver)}) {
    const std::string time = std::to_string(end);
    text += std::to_string(rank) + ": " + time + ".." + time + " finalize\n";
  }
  const Windowed found = windows_of(text, 25);
  double sum = 0;
  for (const WindowEfficiency& window : found.windows) {
    for (const double factor : {window.load_balance, window.serialisation, window.transfer}) {
      CHECK(factor >= 0);
      CHECK(factor <= 1);
    }
    sum += window.parallel() * (window.end - window.begin);
  }
  CHECK(2 * sum * 1e9 == Approx(compute));
}
