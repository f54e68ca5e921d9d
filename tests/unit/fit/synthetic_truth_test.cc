// A machine that is known exactly is measured by the calibration's own sweep and fit, with noise:
// what comes out has to be what was put in.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "calibrate/measure/sweep.h"
#include "models/fit/level_fit.h"

using namespace rubato;

namespace {

constexpr double kLimit = 5000;

/// One way: 300 ns + n / (4 GB/s) up to the eager limit of 5000 bytes; 2 us + n / (8 GB/s) up to
/// 200000 bytes, where a pipeline begins that costs 18 us and halves the growth: 20 us + n / (16
/// GB/s). Of it the ends take 50 ns + n / (10 GB/s) and 80 ns + n / (12.5 GB/s), while it is eager.
const std::vector<Segment> kOneWay = {
    {0, 300e-9, 0.25e-9, 0}, {5001, 2e-6, 0.125e-9, 0}, {200001, 20e-6, 0.0625e-9, 0}};

/// Another one: a kink at 700 bytes (700 ns + n / (2 GB/s) to n / (4 GB/s)), and a step of 7 us at
/// 70001.
const std::vector<Segment> kOther = {
    {0, 700e-9, 0.5e-9, 0}, {701, 875e-9, 0.25e-9, 0}, {70001, 7.875e-6, 0.25e-9, 0}};

double seconds_of(const std::vector<Segment>& machine, double n) {
  double seconds = 0;
  for (const Segment& segment : machine) {
    if (segment.from <= n) seconds = segment.intercept + n * segment.per_byte;
  }
  return seconds;
}
double one_way(double n) {
  return seconds_of(kOneWay, n);
}
double sending(double n) {
  return n <= kLimit ? 50e-9 + n * 0.1e-9 : 40e-9;
}
double receiving(double n) {
  return n <= kLimit ? 80e-9 + n * 0.08e-9 : one_way(n);
}

SweepOptions sweep_options(unsigned seed) {
  SweepOptions options;
  options.budget = options.busy_budget = 60;  // never reached: the loops take no time
  options.max_cycles = 12;
  options.max_bytes = 4 << 20;
  options.seed = seed;
  options.extra = {5000, 5001};
  return options;
}

/// The lengths that the sweep would choose, with times that err by `noise` (normal, relative).
std::vector<TimedLength> timed(const std::vector<size_t>& lengths, double (*truth)(double),
                               double noise, std::mt19937& random) {
  std::normal_distribution<double> normal(0, 1);
  std::vector<TimedLength> timings;
  for (const size_t bytes : lengths) {
    TimedLength length{static_cast<double>(bytes), 1, 0, {}, 1};
    // The mean of two halves has the error `noise`.
    for (double& half : length.half)
      half = truth(length.bytes) * (1 + noise * std::sqrt(2) * normal(random));
    length.seconds = (length.half[0] + length.half[1]) / 2;
    timings.push_back(length);
  }
  return timings;
}

std::vector<size_t> lengths_of_sweep() {
  std::vector<size_t> lengths;
  const auto exact = [](size_t bytes, int) { return one_way(static_cast<double>(bytes)); };
  for (const auto& [bytes, timing] : sweep(exact, sweep_options(1))) lengths.push_back(bytes);
  return lengths;
}

}  // namespace

TEST_CASE("synthetic truth: breakpoints are recovered within one refinement step") {
  // The eager limit of the first machine is known from a probe; all other breakpoints must be
  // found.
  for (const auto* machine : {&kOneWay, &kOther}) {
    int exact = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      CAPTURE(machine == &kOther, seed);
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> late(1, 1.03);  // disturbances only ever add
      SweepOptions options = sweep_options(seed);
      if (machine == &kOther) options.extra.clear();
      const auto measure = [&](size_t bytes, int) {
        return seconds_of(*machine, static_cast<double>(bytes)) * late(random);
      };
      const Timings timings = sweep(measure, options);
      LevelSamples samples;
      samples.transfer = timed_lengths(timings);
      const LevelFit fit = fit_level(samples);
      REQUIRE(fit.transfer);
      for (size_t k = 1; k < machine->size(); ++k) {
        // A kink lies where two lines meet, which noise moves: by one length more on either side.
        const double breakpoint = (*machine)[k].from;
        const int more =
            seconds_of(*machine, breakpoint) < 1.02 * seconds_of(*machine, breakpoint - 1) ? 1 : 0;
        const auto above = timings.lower_bound(static_cast<size_t>(breakpoint));
        const double low = static_cast<double>(std::prev(above, 1 + more)->first);
        const double high = static_cast<double>(std::next(above, more)->first);
        CAPTURE(breakpoint, low, high);
        CHECK(std::any_of(
            fit.transfer->segments.begin(), fit.transfer->segments.end(),
            [&](const Segment& segment) { return segment.from >= low && segment.from <= high; }));
      }
      exact += fit.transfer->segments.size() == machine->size();
      for (const double n : {0., 100., 3000., 8000., 100000., 500000., 4e6}) {
        CAPTURE(n);
        CHECK((*fit.transfer)(n) == Approx(seconds_of(*machine, n)).epsilon(0.02));
      }
    }
    CHECK(exact >= 8);
  }
}

TEST_CASE("synthetic truth: 95 % intervals cover in at least nine of ten cases", "[many_seeds]") {
  const std::vector<size_t> lengths = lengths_of_sweep();
  int within = 0, all = 0, whole = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    LevelSamples samples;
    samples.probe = {kLimit, kLimit + 1};
    samples.transfer = timed(lengths, one_way, 0.015, random);
    samples.overheads.send = timed(lengths, sending, 0.03, random);
    samples.overheads.receive = timed(lengths, receiving, 0.03, random);
    const LevelFit fit = fit_level(samples);
    REQUIRE(fit.overheads.send);
    REQUIRE(fit.overheads.receive);
    const auto count = [&](bool holds) {
      ++all;
      within += holds;
    };
    const auto& send = fit.overheads.send->intervals[0];
    const auto& receive = fit.overheads.receive->intervals[0];
    count(send.intercept.holds(50e-9));
    count(send.per_byte.holds(0.1e-9));
    count(receive.intercept.holds(80e-9));
    count(receive.per_byte.holds(0.08e-9));
    if (fit.transfer->segments.size() != kOneWay.size()) continue;
    ++whole;
    for (size_t k = 0; k < kOneWay.size(); ++k) {
      const SegmentIntervals& intervals = fit.transfer->intervals[k];
      count(intervals.intercept.holds(kOneWay[k].intercept));
      count(intervals.per_byte.holds(kOneWay[k].per_byte));
      if (k > 0) count(intervals.from.holds(kOneWay[k].from));
    }
  }
  CHECK(whole >= 50);
  CHECK(within >= 0.9 * all);
}
