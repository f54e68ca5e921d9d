#include "models/fit/fit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "models/base/error.h"

using rubato::fit_segments;
using rubato::FitSample;
using rubato::Segment;
using rubato::SegmentedFit;

namespace {

/// 0, 1, 2, 3, 4, 6, 8, 12, ... up to `most`: powers of two and the sizes halfway between them.
std::vector<double> sizes_up_to(double most) {
  std::vector<double> sizes = {0, 1, 2};
  for (double n = 2; n < most; n *= 2) {
    sizes.push_back(1.5 * n);
    sizes.push_back(2 * n);
  }
  return sizes;
}

double truth(const std::vector<Segment>& segments, double bytes) {
  double seconds = 0;
  for (const Segment& s : segments) {
    if (s.from <= bytes) seconds = s.intercept + bytes * s.per_byte;
  }
  return seconds;
}

std::vector<FitSample> samples_of(const std::vector<Segment>& segments, double noise = 0,
                                  unsigned seed = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(0, 1);
  std::vector<FitSample> samples;
  for (double n : sizes_up_to(4 << 20)) {
    samples.push_back({n, truth(segments, n) * (1 + noise * error(random)), 1});
  }
  return samples;
}

// A step of a protocol at 8 KiB and a kink where a cache ends:
//   up to 8 KiB        300 ns + n * 0.2 ns              T(0)   = 300 ns, T(6 KiB) = 1528.8 ns
//   from 8 KiB         2 us + n * 0.1 ns                T(8 KiB) = 2819.2 ns, a step of 881 ns
//   from 512 KiB       a + n * 0.15 ns, continuous: 2 us + 524288 * 0.1 ns = a + 524288 * 0.15 ns
//                      => a = 2 us - 524288 * 0.05 ns = 2000 ns - 26214.4 ns = -24214.4 ns
const std::vector<Segment> kTruth = {
    {0, 300e-9, 0.2e-9, 0}, {8192, 2e-6, 0.1e-9, 0}, {524288, -24214.4e-9, 0.15e-9, 0}};

}  // namespace

TEST_CASE("exact samples reproduce their segments") {
  const SegmentedFit fit = fit_segments(samples_of(kTruth));
  REQUIRE(fit.segments.size() == 3);
  for (size_t k = 0; k < 3; ++k) {
    CHECK(fit.segments[k].from == kTruth[k].from);
    CHECK(fit.segments[k].intercept == Approx(kTruth[k].intercept).epsilon(1e-9));
    CHECK(fit.segments[k].per_byte == Approx(kTruth[k].per_byte).epsilon(1e-9));
    CHECK(fit.segments[k].uncertainty < 1e-9);
  }
  CHECK(fit.max_error < 1e-9);
  // Between samples too: 2 us + 100000 * 0.1 ns = 12 us.
  CHECK(fit(100000) == Approx(12e-6).epsilon(1e-9));
}

TEST_CASE("the order of the samples does not matter") {
  std::vector<FitSample> samples = samples_of(kTruth);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(7));
  CHECK(fit_segments(samples).segments.size() == 3);
}

TEST_CASE("noise moves a breakpoint by one sample at most and hardly ever adds a segment") {
  // Neighbours of 8 KiB in the ladder: 6 KiB and 12 KiB. At 2 % noise the step of 45 % cannot move;
  // the kink is continuous: at its neighbours 384 KiB and 768 KiB the lines differ by
  // 131072 * 0.05 ns = 6.6 us of 40.3 us (16 %) and 262144 * 0.05 ns = 13.1 us of 93.7 us (14 %).
  int superfluous = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const SegmentedFit fit = fit_segments(samples_of(kTruth, 0.02, seed));
    CHECK(fit.rms_error < 0.028);
    if (fit.segments.size() != 3) {
      ++superfluous;  // a criterion is a test of significance: now and then noise passes it
      continue;
    }
    CHECK(fit.segments[1].from >= 6144);
    CHECK(fit.segments[1].from <= 12288);
    CHECK(fit.segments[2].from >= 393216);
    CHECK(fit.segments[2].from <= 786432);
    // 45 samples share 9 parameters: the rms of the residuals stays near the planted 2 %.
    CHECK(fit.rms_error == Approx(0.02).margin(0.008));
  }
  CHECK(superfluous <= 1);
}

TEST_CASE("pure noise around one line gives one line") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const SegmentedFit fit = fit_segments(samples_of({{0, 1e-6, 1e-9, 0}}, 0.03, seed));
    CHECK(fit.segments.size() == 1);
    // The intercept rests on ~20 samples below 1 KiB: 3 % / sqrt(20) = 0.7 %, times 4.
    CHECK(fit.segments[0].intercept == Approx(1e-6).epsilon(0.028));
  }
}

TEST_CASE("fine structure is fitted where the noise is known to be less") {
  // Steps of 10 % up and down every eight samples, 1 % of noise on top. A single line has an rms of
  // about 5 %; its rss / sigma^2 = 64 * 25 = 1600 against a price of 3 * 0.299 * (log 64)^2.1
  // = 17.9 for each of seven more segments.
  std::mt19937 random(5);
  std::normal_distribution<double> error(0, 0.01);
  std::vector<FitSample> samples;
  for (int i = 0; i < 64; ++i) {
    const double bytes = i < 56 ? 1000. + 64 * i : 8192 * std::exp2(i - 56);
    samples.push_back({bytes, (i / 8 % 2 ? 1.1e-6 : 1.0e-6) * (1 + error(random)), 1});
  }
  rubato::FitOptions options;
  options.noise = 0.01;
  const SegmentedFit fit = fit_segments(samples, options);
  CHECK(fit.segments.size() == 8);  // 64 samples in runs of 8
  CHECK(fit.rms_error < 0.012);
}

TEST_CASE("an empty message may have a time of its own") {
  std::vector<FitSample> samples = samples_of({{0, 300e-9, 0.2e-9, 0}});
  samples[0].seconds = 230e-9;
  const SegmentedFit fit = fit_segments(samples);
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit(0) == Approx(230e-9));
  CHECK(fit.segments[1].from == 1);
  CHECK(fit(1) == Approx(300.2e-9));  // 300 ns + 1 B * 0.2 ns/B
}

TEST_CASE("slopes are never negative, nor is the curve") {
  // Falling times: the best non-negative slope is 0 and the level minimises sum (a/t - 1)^2:
  // a = sum(1/t) / sum(1/t^2) = (1/4 + 1/2 + 1) / (1/16 + 1/4 + 1) us = 1.75 / 1.3125 us = 4/3 us.
  const SegmentedFit falling = fit_segments({{0, 4e-6, 1}, {10, 2e-6, 1}, {20, 1e-6, 1}});
  REQUIRE(falling.segments.size() == 1);
  CHECK(falling.segments[0].per_byte == 0);
  CHECK(falling.segments[0].intercept == Approx(4e-6 / 3).epsilon(1e-12));
  // Through (1, 1), (2, 3), (3, 5) us the line is 2n - 1 us, negative at 0: the line through the
  // origin has b = sum(n/t) / sum(n^2/t^2) = (1 + 2/3 + 3/5) / (1 + 4/9 + 9/25) = 2.26667
  // / 1.80444.
  const SegmentedFit steep = fit_segments({{1, 1e-6, 1}, {2, 3e-6, 1}, {3, 5e-6, 1}});
  CHECK(steep(0) == 0);
  CHECK(steep.segments[0].per_byte == Approx(34. / 15 / (406. / 225) * 1e-6).epsilon(1e-12));
}

TEST_CASE("a steep segment does not begin below 0 at the byte before its kink") {
  // 1 ns up to 16 bytes; from 24 on 1 ns + 100 ns * (n - 19.4). The lines cross at 19.4 bytes: at
  // 19 the second one is at 1 - 40 = -39 ns, so it begins at 20.
  std::vector<FitSample> samples;
  for (double n : {8, 12, 16}) samples.push_back({n, 1e-9, 1});
  for (double n : {24, 32, 48, 64}) samples.push_back({n, 1e-9 + 100e-9 * (n - 19.4), 1});
  const SegmentedFit fit = fit_segments(samples);
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.segments[1].from == 20);
  CHECK_NOTHROW(rubato::TransferCurve(fit.segments));
}

TEST_CASE("samples that carry no curve are refused") {
  CHECK_THROWS_AS(fit_segments({}), rubato::InputError);
  CHECK_THROWS_AS(fit_segments({{8, 1e-6, 1}}), rubato::InputError);
  CHECK_THROWS_AS(fit_segments({{8, 1e-6, 1}, {8, 2e-6, 1}}), rubato::InputError);
  CHECK_THROWS_AS(fit_segments({{8, 1e-6, 1}, {16, 0, 1}}), rubato::InputError);
}

TEST_CASE("the numbers of a segment lie in their intervals", "[many_seeds]") {
  // 3 segments x 2 parameters and 2 breakpoints, 40 seeds: 95 % of the parameters, all but few of
  // the breakpoints. Noise that moves a breakpoint by a sample spoils the lines beside it, which
  // takes some per cent: sqrt(.95 * .05 / 240) = 1.4 % is what chance alone does.
  int within = 0, all = 0, breakpoints = 0, breakpoints_within = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const SegmentedFit fit = fit_segments(samples_of(kTruth, 0.02, seed));
    REQUIRE(fit.intervals.size() == fit.segments.size());
    if (fit.segments.size() != 3) continue;
    for (size_t k = 0; k < 3; ++k) {
      all += 2;
      within += fit.intervals[k].intercept.holds(kTruth[k].intercept);
      within += fit.intervals[k].per_byte.holds(kTruth[k].per_byte);
      CHECK(fit.intervals[k].intercept.holds(fit.segments[k].intercept));
      CHECK(fit.intervals[k].per_byte.holds(fit.segments[k].per_byte));
      if (k == 0) continue;
      ++breakpoints;
      breakpoints_within += fit.intervals[k].from.holds(kTruth[k].from);
      CHECK(fit.intervals[k].from.holds(fit.segments[k].from));
      // An interval is worth something when it is small: three refinement steps at most.
      CHECK(fit.intervals[k].from.high <= 4 * fit.intervals[k].from.low);
    }
  }
  REQUIRE(all >= 220);
  CHECK(within >= 0.9 * all);
  CHECK(breakpoints_within >= 0.95 * breakpoints);
}

// Through (1 MB, 1.0 ms), (2 MB, 2.1 ms), (3 MB, 2.9 ms) goes nearly a line through 0: 0.1 ms +
// 0.95 ns a byte by plain least squares, with residuals of -50, 100 and -50 us. A latency is no
// less than 0.
TEST_CASE("an interval of a latency has no negative end") {
  const SegmentedFit fit = fit_segments({{1e6, 1.0e-3, 1}, {2e6, 2.1e-3, 1}, {3e6, 2.9e-3, 1}});
  REQUIRE(fit.segments.size() == 1);
  CHECK(fit.segments[0].intercept > 0);
  CHECK(fit.intervals[0].intercept.low == 0);
  CHECK(fit.intervals[0].intercept.high > 1e-4);
}

TEST_CASE("intervals of a single line have their stated coverage", "[many_seeds]") {
  // 2 parameters x 200 seeds; sqrt(.95 * .05 / 400) = 1.1 %.
  int within = 0, all = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const SegmentedFit fit = fit_segments(samples_of({{0, 1e-6, 1e-9, 0}}, 0.02, seed));
    if (fit.segments.size() != 1) continue;
    all += 2;
    within += fit.intervals[0].intercept.holds(1e-6);
    within += fit.intervals[0].per_byte.holds(1e-9);
  }
  REQUIRE(all >= 380);
  CHECK(within / double(all) == Approx(0.95).margin(0.04));
}

TEST_CASE("the interval of one sample has no slope") {
  // The empty message is an outlier; the other 45 samples are without noise.
  std::vector<FitSample> samples = samples_of({{0, 300e-9, 0.2e-9, 0}});
  samples[0].seconds = 230e-9;
  const SegmentedFit fit = fit_segments(samples);
  REQUIRE(fit.segments.size() == 2);
  CHECK(fit.intervals[0].per_byte.low == 0);
  CHECK(std::isinf(fit.intervals[0].per_byte.high));
  CHECK(fit.intervals[1].from.low == 0);
  CHECK(fit.intervals[1].from.high == 1);
}

TEST_CASE("a fit keeps the samples that it was made of") {
  // In ascending order, whatever order they came in; for a page that draws them beside the curve.
  const SegmentedFit fit = fit_segments({{4, 4e-6}, {1, 1e-6}, {3, 3e-6, 2}, {2, 2e-6}, {5, 5e-6}});
  REQUIRE(fit.samples.size() == 5);
  for (int i = 0; i < 5; ++i) {
    CHECK(fit.samples[i].bytes == i + 1);
    CHECK(fit.samples[i].seconds == Approx((i + 1) * 1e-6));
  }
  CHECK(fit.samples[2].weight == 2);
}

TEST_CASE(
    "a curve with more pieces than allowed gets the best fit with that many, and states its "
    "error") {
  // Four steps of a factor of two, from 1 to 16 us: with all five pieces no error. In four, two
  // neighbours share a constant: t and 2 t by a = (1/t + 1/2t) / (1/t^2 + 1/4t^2) = 1.2 t, 20 % and
  // 40 % off, or a line with a step inside that is not better than that.
  std::vector<FitSample> samples;
  for (int i = 0; i < 50; ++i) samples.push_back({std::exp2(i / 5.), 1e-6 * std::exp2(i / 10), 1});
  rubato::FitOptions options;
  CHECK(fit_segments(samples, options).segments.size() == 5);
  CHECK(fit_segments(samples, options).max_error < 1e-9);
  options.max_segments = 4;
  const SegmentedFit fit = fit_segments(samples, options);
  REQUIRE(fit.segments.size() == 4);
  double square = 0, worst = 0;
  for (const FitSample& sample : samples) {
    const double error = fit(sample.bytes) / sample.seconds - 1;
    square += error * error;
    worst = std::max(worst, std::abs(error));
  }
  CHECK(fit.rms_error == Approx(std::sqrt(square / 50)));
  CHECK(fit.max_error == Approx(worst));
  CHECK(worst < 0.4 + 1e-9);
  CHECK_NOTHROW(rubato::TransferCurve(fit.segments));  // no piece is negative or falls
}

TEST_CASE("a piece that grows by less than its digits show is a constant") {
  // 1 us + n * 1e-15 s: 4 ns of 1 us at 4 MiB, 0.4 %, show; 1e-16 s: 0.04 %, do not.
  CHECK(fit_segments(samples_of({{0, 1e-6, 1e-15}})).segments[0].per_byte > 0);
  CHECK(fit_segments(samples_of({{0, 1e-6, 1e-16}})).segments[0].per_byte == 0);
}

TEST_CASE("segments begin at the borders that are given") {
  rubato::FitOptions options;
  options.borders = {7000, 1e6};
  // The step of kTruth is at 8192, the first sample at or above 7000; the kink at 512 KiB is none
  // of the borders.
  const SegmentedFit fit = fit_segments(samples_of(kTruth), options);
  REQUIRE(fit.segments.size() >= 2);
  CHECK(fit.segments[1].from == 7000);
  for (const Segment& segment : fit.segments)
    CHECK((segment.from == 0 || segment.from == 7000 || segment.from == 1e6));
  options.borders.emplace();
  CHECK(fit_segments(samples_of(kTruth), options).segments.size() == 1);
}
