// Which lengths a quick run measures on a network with given round trips.
#include "calibrate/plan/quick_plan.h"

#include <catch2/catch.hpp>

#include "calibrate/measure/sweep.h"

using namespace rubato;

namespace {

/// Of a loop of three round trips (two, and the one before the clock runs) on a network.
VisitCost three_round_trips(double latency, double bandwidth) {
  VisitCost cost;
  for (const size_t bytes : {0, 4096, 65536})
    cost.add(bytes, 3 * 2 * (latency + static_cast<double>(bytes) / bandwidth));
  return cost;
}

double seconds_of(const std::set<size_t>& lengths, const VisitCost& cost) {
  double seconds = 0;
  for (const size_t bytes : lengths) seconds += 4 * cost(bytes);
  return seconds;
}

}  // namespace

TEST_CASE("costs of visits are interpolated linearly between measured ones") {
  const VisitCost cost = three_round_trips(500e-6, 125e6);
  CHECK(cost(0) == Approx(3e-3));
  // 6 * (0.5 ms + 2048 / 125 MB/s) = 6 * 0.516384 ms; beyond the last one likewise, 4 MiB: 6 * (0.5
  // + 33.554432) ms.
  CHECK(cost(2048) == Approx(3.098304e-3));
  CHECK(cost(4 << 20) == Approx(0.204326592));
  VisitCost disturbed;
  disturbed.add(0, 2);
  disturbed.add(100, 1);  // that of nothing was disturbed
  CHECK(disturbed(1000) == 2);
}

TEST_CASE(
    "a quick run leaves out lengths that its time is too short for, the longest last of all") {
  const std::set<size_t> wanted = starting_lengths(4 << 20);
  // A fast network: all of them.
  const VisitCost fast = three_round_trips(1e-6, 10e9);
  CHECK(affordable_lengths(wanted, {}, fast, 4, 3.5) == wanted);
  CHECK(left_out_text("node", wanted, wanted).empty());

  // 500 us, 1 Gbit/s. Powers of two, and nothing, up to 4 MiB: 24 lengths, 24 visits of 4 * 3 ms
  // are 0.288 s, and 8 MiB of data 4 * 6 * 8388607 / 125e6 = 1.6106 s; together 1.8986 s.
  const VisitCost slow = three_round_trips(500e-6, 125e6);
  std::set<size_t> powers = {0};
  for (size_t n = 1; n <= 4 << 20; n *= 2) powers.insert(n);
  CHECK(seconds_of(powers, slow) == Approx(1.8986).epsilon(1e-4));
  CHECK(affordable_lengths(wanted, {}, slow, 4, 1.9) == powers);
  // Both sides of an eager limit stay: 3 ms each and 24 * 1001 B / 125 MB/s.
  std::set<size_t> with_limit = powers;
  with_limit.insert({1000, 1001});
  std::set<size_t> more = wanted;
  more.insert({1000, 1001});
  CHECK(affordable_lengths(more, {1000, 1001}, slow, 4, 1.95) == with_limit);
  // Half a second less: not 4 MiB, which takes 0.817 s.
  powers.erase(4 << 20);
  CHECK(affordable_lengths(wanted, {}, slow, 4, 1.4) == powers);
  CHECK(left_out_text("network", wanted, powers) ==
        "network: 23 of " + std::to_string(wanted.size()) + " lengths, the longest 2MiB");

  // By satellite: three lengths, whatever they take.
  CHECK(affordable_lengths(wanted, {}, three_round_trips(0.3, 1e6), 4, 3.5) ==
        std::set<size_t>{0, 1, 2});
}

TEST_CASE("clocks of far nodes take long to be made one") {
  // 600 questions of 100 ms and 0.3 s: 60.3 s; five nodes do so in three rounds. One clock is one.
  CHECK(clock_seconds(2, 0.1) == Approx(60.3));
  CHECK(clock_seconds(5, 0.1) == Approx(180.9));
  CHECK(clock_seconds(1, 0.1) == 0);
  // JK: 20 questions of 100 ms by each of four nodes are 8 s, 30 times, and 0.3 s. HCA: 8 s once.
  CHECK(clock_seconds(5, 0.1, ClockMethod::kJk) == Approx(240.3));
  CHECK(clock_seconds(5, 0.1, ClockMethod::kHca) == Approx(188.9));
  CHECK(clock_seconds(5, 0.1, ClockMethod::kHca2) == Approx(180.9));
  // A barrier of two is half a round trip, of five to eight three of them, one after the other.
  CHECK(round_trip_of_barrier(0.05, 2) == Approx(0.1));
  CHECK(round_trip_of_barrier(0.15, 5) == Approx(0.1));
  CHECK(round_trip_of_barrier(0.15, 8) == Approx(0.1));
}

TEST_CASE("a sweep of a quick run measures as much as time allows, and reports the rest") {
  // 1 ms a step up to 1000 bytes, more for longer ones: of 8 visits of 57 lengths in 60 ms there is
  // time for few.
  SweepOptions options;
  options.budget = options.busy_budget = 0.06;
  options.max_bytes = 1 << 20;
  options.planned = true;
  options.refine = false;
  std::set<size_t> wanted, kept;
  options.left_out = [&](const std::set<size_t>& all, const std::set<size_t>& some) {
    wanted = all;
    kept = some;
  };
  double clock = 0;
  options.clock = [&] { return clock; };
  const Timings timings = sweep(
      [&](size_t bytes, int steps) {
        const double seconds = 0.1e-3 + static_cast<double>(bytes) * 1e-6;
        clock += steps * seconds;
        return seconds;
      },
      options);
  CHECK(wanted == starting_lengths(1 << 20));
  CHECK(timings.size() == kept.size());
  CHECK(timings.size() >= 3);
  CHECK(clock < 0.09);  // half as long again at most: ends with a cycle
  // With time for all: all.
  options.budget = options.busy_budget = 1e3;
  options.max_cycles = 4;
  options.left_out = [](const std::set<size_t>&, const std::set<size_t>&) { FAIL(); };
  CHECK(sweep([](size_t, int) { return 1e-6; }, options).size() == wanted.size());
}
