#include "models/fit/level_fit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "models/fit/curve_ranges.h"
#include "models/platform/interconnect.h"
#include "models/platform/platform_file.h"
#include "tests/unit/seeds.h"

using namespace rubato;

namespace {

constexpr int kBurst = 16;

/// T(n) = 1 us + n / (1 GB/s) up to 4096 bytes, 3 us + n / (2 GB/s) beyond; ports are busy for g(n)
/// = 0.2 us + n / (4 GB/s) per message. A burst of k takes T + (k - 1) g.
double transfer(double n) {
  return n <= 4096 ? 1e-6 + n * 1e-9 : 3e-6 + n * 0.5e-9;
}
double gap(double n) {
  return 0.2e-6 + n * 0.25e-9;
}

LevelSamples level(double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  LevelSamples samples;
  const auto timed = [&](double n, int messages, double seconds) {
    TimedLength length{n, messages, seconds, {}, 1};
    for (double& half : length.half) half = seconds * (1 + noise * std::abs(normal(random)));
    length.seconds = std::min(length.half[0], length.half[1]);
    return length;
  };
  for (double n = 1; n <= 1 << 20; n *= std::sqrt(2.)) {
    const double bytes = std::round(n);
    samples.transfer.push_back(timed(bytes, 1, transfer(bytes)));
    samples.single.push_back(timed(bytes, 1, transfer(bytes)));
    samples.burst.push_back(timed(bytes, kBurst, transfer(bytes) + (kBurst - 1) * gap(bytes)));
  }
  samples.probe = {4096., 4097.};
  return samples;
}

}  // namespace

TEST_CASE("a level is recovered from its samples") {
  for (unsigned seed = 0; seed <= 5; ++seed) {
    CAPTURE(seed);
    const LevelSamples samples = level(seed == 0 ? 0 : 0.01, seed);
    const LevelFit fit = fit_level(samples);
    REQUIRE(fit.transfer);
    REQUIRE(fit.gap);
    // Neighbours of 4096 are 2896 and 5793: between those the step is anywhere.
    for (const double n : {8., 256., 2048., 8192., 65536., 1e6}) {
      CHECK((*fit.transfer)(n) == Approx(transfer(n)).epsilon(0.03));
      CHECK((*fit.gap)(n) == Approx(gap(n)).epsilon(0.08));
    }
    CHECK_FALSE(fit.burst_gap);
    Platform platform;
    platform.measured["mpi"] = "Open MPI v4.1.4";
    choose_preset(platform);
    add_level(platform, Level::kNode, fit, samples.probe);
    CHECK(platform.collectives.preset == CollectivePreset::kOpenMpi);
    CHECK(platform.measured.count("node_halves_differ_by") == 1);
    REQUIRE(platform.level(Level::kNode));
    const LevelModel& model = *platform.level(Level::kNode);
    CHECK(model.protocol_at(4096) == Protocol::kEager);
    CHECK(model.protocol_at(4097) == Protocol::kAsync);
    CHECK(model.transfer(8) == (*fit.transfer)(8));
  }
}

TEST_CASE("what copying takes is recovered with its step at the end of a cache") {
  // 20 ns + n / (20 GB/s) up to 32 KiB, beyond 10 GB/s and 2 us.
  const auto copy = [](double n) { return n <= 32768 ? 20e-9 + n * 0.05e-9 : 2e-6 + n * 0.1e-9; };
  LevelSamples samples = level(0, 0);
  const std::string before = format_platform([&] {
    Platform platform;
    add_level(platform, Level::kSelf, fit_level(samples), {});
    return platform;
  }());
  CHECK(before.find("[memory]") == std::string::npos);
  for (double n = 256; n <= 1 << 20; n *= 2) {
    samples.copies.push_back({n, 1, copy(n), {copy(n), copy(n)}, 1});
    samples.cold_copies.push_back({n, 1, 3 * copy(n), {3 * copy(n), 3 * copy(n)}, 1});
    // 4 GB/s, once 1 GB/s and once 8 GB/s: no matter, nor what a call takes that does nothing.
    const double bandwidth = n == 65536 ? 1e9 : n == 131072 ? 8e9 : n < 4096 ? 0.1e9 : 4e9;
    samples.combinations.push_back({n, 1, n / bandwidth, {n / bandwidth, n / bandwidth}, 1});
  }
  const LevelFit fit = fit_level(samples);
  REQUIRE(fit.copy);
  REQUIRE(fit.cold_copy);
  CHECK(fit.copy->segments.size() == 2);
  Platform platform;
  add_level(platform, Level::kSelf, fit, {});
  REQUIRE(platform.copy);
  REQUIRE(platform.reduction_bandwidth);
  CHECK(*platform.reduction_bandwidth == Approx(4e9));
  CHECK(platform.measured.at("reduction_bandwidth") ==
        "median of lengths from 4KiB on, of 1GB/s to 8GB/s");
  for (const double n : {256., 4096., 20000., 131072., 1e6}) {
    CHECK((*platform.copy)(n) == Approx(copy(n)).epsilon(0.01));
    CHECK((*fit.cold_copy)(n) == Approx(3 * copy(n)).epsilon(0.01));
  }
  const std::string ranges = rubato::copy_ranges(fit);
  CHECK(ranges.find("#   copy from 0B: ") != std::string::npos);
  CHECK(std::count(ranges.begin(), ranges.end(), '\n') == 3);  // what they are, and two segments
  CHECK(rubato::copy_ranges(fit_level(level(0, 0))).empty());
}

TEST_CASE("the time to pack a block is recovered") {
  const auto pack = [](double n) { return 2e-9 + n * 0.05e-9; };
  LevelSamples samples = level(0, 0);
  for (double n = 4; n <= 4096; n *= 4)
    samples.series("pack")->push_back({n, 1, pack(n), {pack(n), pack(n)}, 1});
  Platform platform;
  add_level(platform, Level::kSelf, fit_level(samples), {});
  REQUIRE(platform.packing);
  for (const double n : {4., 100., 4096.}) CHECK((*platform.packing)(n) == Approx(pack(n)));
}

TEST_CASE("samples of a machine that does other things still give a platform file") {
  // Every time is up to a thousandfold of what it should be, at random and for each length apart.
  for (unsigned seed = 0; seed < seeds(200); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> decades(0, seed % 2 ? 3 : 1);
    LevelSamples samples = level(0, 0);
    samples.overheads = {samples.transfer, samples.single, samples.transfer};
    samples.overlap = {samples.transfer, samples.single};
    for (std::vector<TimedLength>* timings :
         {&samples.transfer, &samples.single, &samples.burst, &samples.overheads.send,
          &samples.overheads.receive, &samples.overheads.unexpected,
          &samples.overlap.sender_computes, &samples.overlap.both_compute}) {
      for (TimedLength& timing : *timings) timing.seconds *= std::pow(10, decades(random));
    }
    Platform platform;
    platform.name = "busy";
    const LevelFit fit = fit_level(samples);
    REQUIRE_NOTHROW(add_level(platform, Level::kNode, fit, samples.probe));
    REQUIRE(platform.level(Level::kNode).has_value());
    // Written files can be read again.
    rubato::PlatformComments comments;
    comments.levels[static_cast<size_t>(Level::kNode)] = rubato::curve_ranges(fit);
    REQUIRE_NOTHROW(parse_platform(format_platform(platform, comments), "busy.toml"));
  }
}

TEST_CASE("a platform file states the ranges of its numbers") {
  // A bandwidth is between 1 / 0.2 ns = 5 GB/s and 1 / 0.1 ns = 10 GB/s; a flat segment has none,
  // nor has one with an undetermined slope. No latency is negative; what only leads back to one
  // has a bandwidth alone.
  rubato::SegmentedFit one_way, gap;
  one_way.segments = {{0, 1e-6, 0}, {1024, 2e-6, 0.15e-9}, {4096, 3e-6, 0.1e-9}};
  one_way.intervals = {{{0, 0}, {0.98765e-6, 1.02e-6}, {0, 0}},
                       {{1000, 1024}, {2e-6, 2e-6}, {0.1e-9, 0.2e-9}},
                       {{4096, 4096}, {2.5e-6, 3.5e-6}, {0, HUGE_VAL}}};
  gap.segments = {{0, 50e-9, 0}};
  gap.intervals = {{{0, 0}, {-1e-9, 101e-9}, {0, 0}}};
  LevelFit fit;
  CHECK(rubato::curve_ranges(fit).empty());
  fit.transfer = one_way;
  fit.gap = gap;
  const std::string text = rubato::curve_ranges(fit);
  CHECK(text.substr(text.find("#   ")) ==
        "#   one way from 0B: 988ns to 1.02us\n"
        "#   one way from 1000B to 1KiB: 2us, 5GB/s to 10GB/s\n"
        "#   one way from 4KiB: 2.5us to 3.5us\n"
        "#   gap from 0B: 0s to 101ns\n");
  fit.burst_gap = gap;
  CHECK(rubato::curve_ranges(fit) == text + "#   burst gap from 0B: 0s to 101ns\n");
}

TEST_CASE("protocols as the probes found them") {
  const LevelFit fit = fit_level(level(0, 0));
  const auto protocol_of = [&](const ProtocolProbe& probe, double bytes) {
    Platform platform;
    add_level(platform, Level::kSelf, fit, probe);
    return platform.level(Level::kSelf)->protocol_at(bytes);
  };
  CHECK(protocol_of({1 << 20, {}}, 1e9) == Protocol::kEager);  // none waited
  CHECK(protocol_of({{}, 0.}, 0) == Protocol::kAsync);         // all did
  CHECK(protocol_of({}, 1e9) == Protocol::kEager);             // not measured
}

TEST_CASE("how far halves of a calibration differ") {
  // |1.1 - 1| / 1, |1.02 - 1| / 1, |1.3 - 1| / 1: median 10 %; unknown halves do not count.
  const auto with_halves = [](double even, double odd) {
    return TimedLength{1, 1, 1, {even, odd}, 1};
  };
  CHECK(repeatability({with_halves(1.1, 1), with_halves(1, 1.02), with_halves(1.3, 1),
                       with_halves(0, 0)}) == Approx(0.1));
  CHECK(repeatability({}) == 0);
}

TEST_CASE("uncertainty covers differences between launches and halves") {
  // One launch: |1.1 - 1| / 2, |1.02 - 1| / 2, |1.3 - 1| / 2: median 5 %, of a normal distribution
  // with the standard deviation 1.4826 * 5 % = 7.413 %. Beyond 3 bytes there is nothing.
  const std::vector<TimedLength> one = {
      {1, 1, 1, {1.1, 1}, 1}, {2, 1, 1, {1, 1.02}, 1}, {2.5, 1, 1, {1.3, 1}, 1}};
  // Another launch would be off by 4 % / sqrt(2) more: sqrt(7.413^2 + 8) % = 7.934 %.
  CHECK(reproducibility(one, 0, 3) == Approx(0.07934).epsilon(1e-3));
  CHECK(reproducibility(one, 3, 9) == 0);
  // For several launches their standard error, whatever the halves are.
  const std::vector<TimedLength> several = {{1, 1, 1, {1.1, 1}, 4, 0.03},
                                            {2, 1, 1, {1.3, 1}, 4, 0.04}};
  CHECK(reproducibility(several, 0, 2) == Approx(0.03));
  SegmentedFit fit;
  fit.segments = {{0, 1, 0, 0.04}, {2, 1, 0, 0.03}};
  add_reproducibility(fit, several);
  CHECK(fit.segments[0].uncertainty == Approx(0.05));  // 3, 4, 5
  CHECK(fit.segments[1].uncertainty == Approx(0.05));
}

TEST_CASE("the error from halves is the standard error of their mean") {
  // Halves of 1 s +- 2 %: their mean has 2 % / sqrt(2) = 1.414 %. The median of 20001 magnitudes is
  // certain to sqrt(pi / 2) * 0.7 / sqrt(20001), less than 1 %.
  std::mt19937 random(1);
  std::normal_distribution<double> half(1, 0.02);
  std::vector<TimedLength> lengths;
  for (int i = 0; i < 20001; ++i) lengths.push_back({1, 1, 1, {half(random), half(random)}, 1});
  // And launches differ by 4 % / sqrt(2): sqrt(2 + 8) %.
  CHECK(reproducibility(lengths, 0, 2) == Approx(std::sqrt(10.) / 100).epsilon(0.01));
}

TEST_CASE("the uncertainty of one way by protocol") {
  // transfer() of above without residuals, a step between 4 and 8 KiB; halves 4 % apart up to there
  // and 2 % from there on.
  LevelSamples samples;
  for (double n = 64; n <= 262144; n *= 2) {
    const double t = transfer(n);
    samples.transfer.push_back({n, 1, t, {t, t * (n <= 4096 ? 1.04 : 1.02)}, 1});
  }
  samples.probe = {8191, 8192};
  const LevelFit fit = fit_level(samples);
  REQUIRE(fit.transfer->segments.size() == 2);
  REQUIRE(fit.transfer->segments[1].from == 8192);
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  // Each has its own halves: 4 % / 2 and 2 % / 2, times 1.4826; and the unknown variation between
  // launches, 4 % / sqrt(2): sqrt(2.965^2 + 8) = 4.098, sqrt(1.483^2 + 8) = 3.193.
  CHECK(platform.measured["node_one_way_uncertainty"] == "4.1%, 3.2% from 8KiB on");
  // A change of the protocol inside a segment: the larger one counts on both sides of the step.
  samples.probe = {2047, 2048};
  add_level(platform, Level::kNode, fit_level(samples), samples.probe);
  CHECK(platform.measured["node_one_way_uncertainty"] == "4.1%, 4.1% from 2KiB on");
}

TEST_CASE("the uncertainty of a gap is that of a difference") {
  // One message takes 100 us, each further one of eight 1 us: 107 us at once, all known to 1 %. So
  // g = (107 - 100) / 7 is off by hypot(1.07, 1.00) / 7 = 0.20923 us.
  LevelSamples samples;
  for (double n = 64; n <= 65536; n *= 2) {
    samples.transfer.push_back({n, 1, 100e-6, {}, 10, 0.01});
    samples.single.push_back({n, 1, 100e-6, {}, 10, 0.01});
    samples.burst.push_back({n, 8, 107e-6, {}, 10, 0.01});
  }
  LevelFit fit = fit_level(samples);
  REQUIRE(fit.gap);
  REQUIRE(fit.gap->segments.size() == 1);
  CHECK((*fit.gap)(1024) == Approx(1e-6));
  CHECK(fit.gap->segments[0].uncertainty == Approx(0.20923).epsilon(1e-4));
  // One launch, the halves of a burst 2 % of 107 us apart and those of one message 1 us: of g
  // (107 - 100) / 7 and (109.14 - 101) / 7 us, 1.14 / 7 = 0.16286 apart; half of it times 1.4826,
  // 12.073 %, and the 4 % / sqrt(2) by which another launch is off: sqrt(12.073^2 + 8) = 12.400 %.
  for (TimedLength& single : samples.single) single = {single.bytes, 1, 100e-6, {100e-6, 101e-6}};
  for (TimedLength& burst : samples.burst) burst = {burst.bytes, 8, 107e-6, {107e-6, 109.14e-6}};
  fit = fit_level(samples);
  REQUIRE(fit.gap->segments.size() == 1);
  CHECK(fit.gap->segments[0].uncertainty == Approx(0.12400).epsilon(1e-4));
}

TEST_CASE("what crossing messages take longer is recovered, and bounds the gap") {
  // x(n) = 0.1 us + n / (10 GB/s): an exchange takes T + x.
  const auto delay = [](double n) { return 0.1e-6 + n * 0.1e-9; };
  LevelSamples samples = level(0, 0);
  for (const TimedLength& single : samples.single) {
    const double seconds = single.seconds + delay(single.bytes);
    samples.exchange.push_back({single.bytes, 1, seconds, {}, 1});
  }
  LevelFit fit = fit_level(samples);
  REQUIRE(fit.crossing_delay);
  for (const double n : {8., 256., 2048., 8192., 65536., 1e6})
    CHECK((*fit.crossing_delay)(n) == Approx(delay(n)).epsilon(0.02));
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  CHECK(platform.level(Level::kNode)->crossing_delay(65536) == Approx(delay(65536)).epsilon(0.02));

  // A burst that overflows a cache: each further message takes 3 T. The port is busy for T + x.
  for (TimedLength& burst : samples.burst)
    burst.seconds = transfer(burst.bytes) * (1 + 3 * (kBurst - 1));
  fit = fit_level(samples);
  REQUIRE(fit.burst_gap);
  for (const double n : {8., 256., 2048., 8192., 65536., 1e6}) {
    CHECK((*fit.gap)(n) == Approx(transfer(n) + delay(n)).epsilon(0.05));
    CHECK((*fit.burst_gap)(n) == Approx(3 * transfer(n)).epsilon(0.05));
  }

  // All of it on a machine that was three times as slow meanwhile, as the ping-pong beside it says.
  LevelSamples slow = samples;
  slow.pingpong_beside = slow.transfer;
  for (auto* times : {&slow.pingpong_beside, &slow.single, &slow.burst, &slow.exchange}) {
    for (TimedLength& timing : *times) timing.seconds *= 3;
  }
  const LevelFit same = fit_level(slow);
  for (const double n : {8., 256., 2048., 8192., 65536., 1e6}) {
    CHECK((*same.crossing_delay)(n) == Approx(delay(n)).epsilon(0.02));
    CHECK((*same.gap)(n) == Approx(transfer(n) + delay(n)).epsilon(0.05));
    // Lengths beyond the cache count as measured.
    REQUIRE(same.burst_gap);
    CHECK((*same.burst_gap)(n) == Approx(9 * transfer(n)).epsilon(0.05));
  }

  // Where an exchange takes no longer than one message, there is none; a port is busy for T then.
  samples.exchange = samples.single;
  fit = fit_level(samples);
  CHECK_FALSE(fit.crossing_delay);
  for (const double n : {8., 256., 2048., 8192., 65536., 1e6})
    CHECK((*fit.gap)(n) == Approx(transfer(n)).epsilon(0.05));
  add_level(platform, Level::kNode, fit, samples.probe);
  CHECK(platform.level(Level::kNode)->crossing_delay.empty());
  // A delay that cannot be distinguished from noise is none, either.
  for (TimedLength& timing : samples.exchange) timing.seconds += 0.005 * transfer(timing.bytes);
  CHECK_FALSE(fit_level(samples).crossing_delay);
}

TEST_CASE("what eager synchronous sends take more is recovered, at any speed of the machine") {
  // y(n) = 0.3 us up to 64 B, 0.1 us above; 4096 B and less are eager. 16384 B wait for their
  // receiver by themselves: what is measured there (the same time twice) is no y.
  const auto extra = [](double n) { return n <= 64 ? 0.3e-6 : 0.1e-6; };
  LevelSamples samples = level(0, 0);
  CHECK_FALSE(fit_level(samples).synchronous);  // samples of older versions
  // The machine was three times as slow meanwhile.
  for (const double n : {0., 1., 4., 16., 64., 256., 1024., 4096., 16384.}) {
    const double more = n <= 4096 ? extra(n) : 0;
    samples.synchronous_beside.push_back({n, 1, 3 * transfer(n), {}, 1});
    samples.synchronous.push_back({n, 1, 3 * (transfer(n) + more), {}, 1});
  }
  const LevelFit fit = fit_level(samples);
  REQUIRE(fit.synchronous);
  CHECK(fit.synchronous->segments.size() == 2);
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  for (const double n : {0., 8., 64., 256., 4096.}) {
    // A hundredth of a one-way time of 1 to 5 us that is off by a hundredth, too.
    CHECK(platform.level(Level::kNode)->synchronous_overhead(n) == Approx(extra(n)).epsilon(0.03));
  }
  CHECK(curve_ranges(fit).find("#   synchronous overhead from 0B: ") != std::string::npos);

  // Half a hundredth of the one-way time is noise.
  samples.synchronous = samples.synchronous_beside;
  for (TimedLength& timing : samples.synchronous) timing.seconds *= 1.005;
  CHECK_FALSE(fit_level(samples).synchronous);
}

TEST_CASE("extra time of bursts beyond the gap is recovered, and the gap is not overestimated") {
  // From 64 KiB on each further message of a burst takes 2 T = 6 us + n / (1 GB/s).
  const auto burst_gap = [](double n) { return n < 65536 ? gap(n) : 2 * transfer(n); };
  const unsigned fits = seeds(20);
  unsigned inside = 0;
  for (unsigned seed = 0; seed < fits; ++seed) {
    CAPTURE(seed);
    LevelSamples samples = level(seed == 0 ? 0 : 0.01, seed);
    for (TimedLength& burst : samples.burst) {
      const double longer = (kBurst - 1) * (burst_gap(burst.bytes) - gap(burst.bytes));
      burst.seconds += longer;
      for (double& half : burst.half) half += longer;
    }
    const LevelFit fit = fit_level(samples);
    REQUIRE(fit.gap);
    REQUIRE(fit.burst_gap);
    for (const double n : {8., 256., 2048., 8192., 32768., 131072., 1e6}) {
      CHECK((*fit.gap)(n) == Approx(std::min(burst_gap(n), transfer(n))).epsilon(0.08));
      CHECK((*fit.burst_gap)(n) == Approx(burst_gap(n)).epsilon(0.08));
    }
    const rubato::SegmentIntervals& last = fit.burst_gap->intervals.back();
    CAPTURE(last.intercept.low, last.intercept.high, last.per_byte.low, last.per_byte.high);
    inside += last.intercept.low <= 6e-6 * (1 + 1e-9) && 6e-6 * (1 - 1e-9) <= last.intercept.high &&
              last.per_byte.low <= 1e-9 * (1 + 1e-9) && 1e-9 * (1 - 1e-9) <= last.per_byte.high;
    Platform platform;
    add_level(platform, Level::kNode, fit, samples.probe);
    REQUIRE(platform.level(Level::kNode)->burst_gap);
    CHECK((*platform.level(Level::kNode)->burst_gap)(1e6) == (*fit.burst_gap)(1e6));

    // Each further message takes T, as exactly as it can be measured: that is what gaps say.
    samples = level(seed == 0 ? 0 : 0.01, seed);
    for (TimedLength& burst : samples.burst) {
      const double longer = (kBurst - 1) * (transfer(burst.bytes) - gap(burst.bytes));
      burst.seconds += longer;
      for (double& half : burst.half) half += longer;
    }
    CHECK_FALSE(fit_level(samples).burst_gap);
    // Nor does it seem to be more where the machine was slower while that was measured.
    samples.pingpong_beside = samples.transfer;
    for (auto* times : {&samples.pingpong_beside, &samples.single, &samples.burst}) {
      for (TimedLength& timing : *times) {
        timing.seconds *= 3;
        for (double& half : timing.half) half *= 3;
      }
    }
    CHECK_FALSE(fit_level(samples).burst_gap);
  }
  CHECK(inside >= fits * 4 / 5);  // with 95 % confidence
}

TEST_CASE("too few samples give no curve") {
  LevelSamples samples;
  samples.transfer = {{1, 1, 1e-6, {}, 1}, {2, 1, 1e-6, {}, 1}};
  CHECK(!fit_level(samples).transfer);
  Platform platform;
  add_level(platform, Level::kNode, fit_level(samples), {});
  CHECK(!platform.level(Level::kNode));
  // An interrupted run: fewer single messages than bursts.
  samples = level(0, 0);
  samples.single.pop_back();
  CHECK(fit_level(samples).transfer);
  CHECK(!fit_level(samples).gap);
}

TEST_CASE("a length from many launches counts as often") {
  // 4 us at 1 byte, 1 us at 2, 3 and 4: a falling line is none, and the level one with the least
  // relative errors sum w (a / t - 1)^2 is a = sum(w / t) / sum(w / t^2): with 6 launches of the
  // first and 2 of each other (6/4 + 6) / (6/16 + 6) = 7.5 / 6.375 us.
  LevelSamples samples;
  for (const double n : {1., 2., 3., 4.}) {
    samples.transfer.push_back({n, 1, n == 1 ? 4e-6 : 1e-6, {}, n == 1 ? 6 : 2});
  }
  const LevelFit fit = fit_level(samples);
  REQUIRE(fit.transfer);
  REQUIRE(fit.transfer->segments.size() == 1);
  CHECK((*fit.transfer)(2) == Approx(7.5e-6 / 6.375));
}

TEST_CASE(
    "no curve of a level has more segments than requested, and every number has the "
    "requested digits") {
  // Six steps of the one-way time; o_s and o_r change elsewhere, and at the eager limit of 700.
  LevelSamples samples;
  samples.probe = {700., 701.};
  for (double n = 1; n <= 1 << 20; n *= std::sqrt(2.)) {
    const double bytes = std::round(n);
    const double step = std::floor(std::log2(bytes) / 3);
    const auto add = [&](std::vector<TimedLength>& series, double seconds) {
      series.push_back({bytes, 1, seconds, {seconds, seconds * 1.005}, 1});
    };
    add(samples.transfer, 1e-6 * std::exp2(step) + bytes * 1e-10);
    add(samples.overheads.send, bytes < 100 ? 50e-9 : 90e-9 + bytes * 1e-11);
    add(samples.overheads.receive, bytes < 3000 ? 70e-9 : 200e-9);
    if (bytes <= 700) add(samples.overheads.unexpected, 80e-9 + bytes * 1e-11);
  }
  for (const int most : {1, 2, 4}) {
    CAPTURE(most);
    const LevelFit fit = fit_level(samples, most);
    Platform platform;
    add_level(platform, Level::kNode, fit, samples.probe);
    const LevelModel& level = *platform.level(Level::kNode);
    // The limit is a border of its own even if only one curve is allowed.
    const size_t limit = static_cast<size_t>(std::max(2, most));
    for (const TransferCurve* curve : {&level.transfer, &level.send_overhead,
                                       &level.receive_overhead, &*level.unexpected_overhead}) {
      CHECK(curve->segments().size() <= limit);
    }
    // The parts still add up to the measured whole within the error that is stated for it.
    for (const TimedLength& timing : samples.transfer) {
      const double n = timing.bytes;
      CHECK(level.transfer(n) + level.send_overhead(n) + level.receive_overhead(n) ==
            Approx((*fit.transfer)(n)).epsilon(1e-6));
      CHECK(std::abs((*fit.transfer)(n) / timing.seconds - 1) <= fit.transfer->max_error + 1e-9);
    }
    const std::string text = format_platform(platform, {}, kMeasuredDigits);
    CHECK(text.find("\"-") == std::string::npos);
    CHECK(text.find("e+") == std::string::npos);
    const Platform again = parse_platform(text, "again");
    // Two numbers of four digits each: half a unit of the fourth, 0.05 %.
    for (const TimedLength& timing : samples.transfer) {
      CHECK(again.level(Level::kNode)->transfer(timing.bytes) ==
            Approx(level.transfer(timing.bytes)).epsilon(1e-3));
    }
  }
  CHECK(curve_ranges(fit_level(samples)).find("fit error ") != std::string::npos);
}

TEST_CASE("overheads are those of a message alone, and bursts show the following one") {
  // One way 1 us + n / (1 GB/s); each further message of a burst 150 ns + n / (100 GB/s), which is
  // f. A message alone takes its sender 30 ns, less than that, and its receiver 300 ns, or 400 if
  // it is unexpected; above the limit of 4096 the transfer's own time counts.
  LevelSamples samples;
  samples.probe = {4096., 4097.};
  for (double n = 1; n <= 1 << 16; n *= 2) {
    const double one = 1e-6 + n * 1e-9;
    const auto add = [&](std::vector<TimedLength>& series, double seconds, int messages = 1) {
      series.push_back({n, messages, seconds, {seconds, seconds}, 1});
    };
    add(samples.transfer, one);
    add(samples.single, one);
    add(samples.burst, one + 7 * (150e-9 + n * 1e-11), 8);
    add(samples.overheads.send, 30e-9);
    add(samples.overheads.receive, n <= 4096 ? 300e-9 : one);
    if (n <= 4096) add(samples.overheads.unexpected, 400e-9);
  }
  const LevelFit fit = fit_level(samples);
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  const LevelModel& level = *platform.level(Level::kNode);
  for (const double n : {1., 8., 32., 2048.}) {
    CHECK(level.receive_overhead(n) == Approx(300e-9).epsilon(0.01));
    CHECK((*level.unexpected_overhead)(n) == Approx(400e-9).epsilon(0.01));
    CHECK(level.send_overhead(n) == Approx(30e-9).epsilon(0.01));
    CHECK(level.transfer(n) + level.send_overhead(n) + level.receive_overhead(n) ==
          Approx(1e-6 + n * 1e-9).epsilon(1e-6));
    const rubato::MessageCost cost = rubato::Interconnect(platform).message(Level::kNode, n);
    CHECK(cost.following_receive == Approx(150e-9 + n * 1e-11).epsilon(0.01));
    CHECK(cost.following_unexpected == Approx(150e-9 + n * 1e-11).epsilon(0.01));
    CHECK(cost.following_send == Approx(30e-9).epsilon(0.01));
    CHECK(cost.streamed_send == Approx(30e-9).epsilon(0.01));
  }
  // Where it takes no end less, there is no such curve.
  for (std::vector<TimedLength>* series :
       {&samples.overheads.receive, &samples.overheads.unexpected})
    for (TimedLength& timing : *series) timing.seconds = 155e-9;
  CHECK_FALSE(fit_level(samples).following);
}

TEST_CASE("the second message of a burst has its own gap if that matters") {
  // One way 10 us + n / (1 GB/s). Behind the first message the second takes 2 us + n / (10 GB/s),
  // from 64 KiB on each further one five times as long: a burst of eight, 2 + 6 * 5 = 32 times
  // that, 32 / 7 for each. Below, further ones take as long as the second.
  const auto second = [](double n) { return 2e-6 + n * 1e-10; };
  const auto further = [&](double n) { return n < 65536 ? second(n) : 5 * second(n); };
  LevelSamples samples;
  samples.probe = {4096., 4097.};
  for (double n = 1; n <= 1 << 22; n *= 2) {
    const double one = 10e-6 + n * 1e-9;
    const auto add = [&](std::vector<TimedLength>& series, double seconds, int messages) {
      series.push_back({n, messages, seconds, {seconds, seconds}, 1});
    };
    add(samples.transfer, one, 1);
    add(samples.single, one, 1);
    add(samples.two, one + second(n), 2);
    add(samples.burst, one + second(n) + 6 * further(n), 8);
  }
  const LevelFit fit = fit_level(samples);
  REQUIRE(fit.second_burst_gap);
  REQUIRE(fit.burst_gap);
  CHECK(fit.second_burst_gap->segments.size() <= 4);
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  const Platform again = parse_platform(format_platform(platform, {}, kMeasuredDigits), "again");
  for (const double n : {8., 1024., 32768., 65536., 1e6, 4e6}) {
    CAPTURE(n);
    const rubato::MessageCost cost = rubato::Interconnect(again).message(Level::kNode, n);
    CHECK(cost.gap + cost.second_burst_delay == Approx(second(n)).epsilon(0.02));
    CHECK(cost.gap + cost.burst_delay == Approx(further(n)).epsilon(0.02));
    CHECK(cost.gap == Approx(second(n)).epsilon(0.02));
  }
  CHECK(curve_ranges(fit).find("#   second of a burst from 0B: ") != std::string::npos);

  // A machine that was three times as slow meanwhile, as the ping-pong beside it says, changes
  // nothing where a burst of two takes what the gap says.
  LevelSamples slow = samples;
  for (size_t i = 0; i < slow.burst.size(); ++i) {
    slow.burst[i].seconds = samples.single[i].seconds + 7 * second(slow.burst[i].bytes);
    slow.burst[i].half[0] = slow.burst[i].half[1] = slow.burst[i].seconds;
  }
  CHECK_FALSE(fit_level(slow).second_burst_gap);
  slow.pingpong_beside = slow.transfer;
  for (auto* times : {&slow.pingpong_beside, &slow.single, &slow.two, &slow.burst}) {
    for (TimedLength& timing : *times) {
      timing.seconds *= 3;
      for (double& half : timing.half) half *= 3;
    }
  }
  CHECK_FALSE(fit_level(slow).second_burst_gap);
  CHECK((*fit_level(slow).gap)(1024) == Approx(second(1024)).epsilon(0.02));

  // Further ones half as long again: (1 + 6 * 1.5) / 7 = 1.43 for each of seven, which makes a
  // burst of two longer by 0.43 * (2 us + n / (10 GB/s)) of 12 us + n * 1.1 / (1 GB/s): 7 %.
  for (size_t i = 0; i < samples.burst.size(); ++i) {
    TimedLength& burst = samples.burst[i];
    const double n = burst.bytes;
    burst.seconds = samples.two[i].seconds + 6 * 1.5 * second(n);
    burst.half[0] = burst.half[1] = burst.seconds;
  }
  CHECK_FALSE(fit_level(samples).second_burst_gap);
  // Older files of samples have no bursts of two.
  samples.two.clear();
  CHECK_FALSE(fit_level(samples).second_burst_gap);
}

TEST_CASE("a stream of blocking calls bounds the gap, and bursts keep theirs") {
  // One way 1 us; each further message of a burst 150 ns, of a stream of 101 messages 100 ns: with
  // the first one's way and the answer's that takes 2 us + 100 * 0.1 us = 12 us.
  LevelSamples samples;
  samples.probe = {4096., 4097.};
  for (double n = 1; n <= 1 << 16; n *= 2) {
    const auto add = [&](std::vector<TimedLength>& series, double seconds, int messages = 1) {
      series.push_back({n, messages, seconds, {seconds, seconds}, 1});
    };
    add(samples.transfer, 1e-6);
    add(samples.single, 1e-6);
    add(samples.burst, 1e-6 + 7 * 150e-9, 8);
    add(samples.overheads.send, 30e-9);
    add(samples.overheads.receive, 200e-9);
    if (n <= 4096) add(samples.stream, 12e-6, 101);
  }
  LevelFit fit = fit_level(samples);
  REQUIRE(fit.burst_gap);
  REQUIRE(fit.overheads.receive);
  for (const double n : {1., 64., 4096.}) {
    CHECK((*fit.gap)(n) == Approx(100e-9));
    CHECK((*fit.burst_gap)(n) == Approx(150e-9));
    // Alone it takes 200 ns.
    CHECK((*fit.overheads.receive)(n) == Approx(200e-9));
    REQUIRE(fit.following);
    CHECK((*fit.following)(n) == Approx(100e-9));
  }
  // without a measured stream A stream that takes longer than the burst gives no bound. If one of
  // its messages takes as long as the receiver, 200 ns, nothing else follows. 300 ns mean that the
  // sender is delayed.
  CHECK((*fit.gap)(65536) == Approx(150e-9));
  for (TimedLength& stream : samples.stream) stream.seconds = 22e-6;
  fit = fit_level(samples);
  CHECK((*fit.gap)(64) == Approx(150e-9));
  CHECK_FALSE(fit.burst_gap);
  CHECK_FALSE(fit.following);
  for (TimedLength& stream : samples.stream) stream.seconds = 32e-6;
  fit = fit_level(samples);
  REQUIRE(fit.following);
  CHECK((*fit.following)(64) == Approx(300e-9));
  Platform platform;
  add_level(platform, Level::kNode, fit, samples.probe);
  const rubato::MessageCost cost = rubato::Interconnect(platform).message(Level::kNode, 64);
  CHECK(cost.streamed_send == Approx(300e-9));
  CHECK(cost.following_send == Approx(30e-9));
  CHECK(cost.following_receive == Approx(200e-9));
}
