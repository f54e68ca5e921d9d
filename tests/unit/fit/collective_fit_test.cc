#include "models/fit/collective_fit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "tests/unit/seeds.h"

using namespace rubato;

namespace {

/// A collective that changes its algorithm at 4 KiB: a binomial tree, then a ring.
double truth(double p, double d) {
  return d < 4096 ? 2e-6 * std::log2(p) + 1e-9 * d * std::log2(p) : 20e-6 + 5e-6 * p + 2e-9 * d;
}

/// Launches with so much noise each, relative.
std::vector<CollectiveTimes> times_of(double (*seconds)(double, double), int launches, double noise,
                                      unsigned seed, const std::vector<double>& processes) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<CollectiveTimes> times;
  for (const double p : processes) {
    for (double d = 8; d <= 1 << 19; d *= 4) {
      CollectiveTimes one{p, d, {}, 0};
      for (int i = 0; i < launches; ++i)
        one.seconds.push_back(seconds(p, d) * (1 + noise * normal(random)));
      times.push_back(one);
    }
  }
  return times;
}

const std::vector<double> kProcesses = {2, 3, 4, 6, 8, 12, 16};

}  // namespace

TEST_CASE("a formula is cut where the algorithm changes") {
  // Payloads 8 x 4^k: 2048 is the last of the tree, 8192 the first of the ring. At the cut the two
  // differ by a factor: for p = 4 at 8192 the tree would take 20 us, the ring takes 56 us.
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto times = times_of(truth, 10, 0.03, seed, kProcesses);
    const CollectiveFit fit = fit_collective(times);
    CAPTURE(seed);
    REQUIRE(fit.pieces.size() == 2);
    CHECK(fit.pieces[0].from == 0);
    CHECK(fit.pieces[1].from == 8192);
    CHECK(fit.from_launches);
    CHECK(covers_processes(fit));
    // Ten launches with 3 %: the mean is certain to 1 %, which is also the least sigma.
    for (const CollectiveTimes& t : times) {
      const FormulaPiece& piece = fit.pieces[t.bytes >= 8192];
      CHECK(piece.fit(t.processes, t.bytes) == Approx(truth(t.processes, t.bytes)).epsilon(0.03));
    }
    for (const FormulaPiece& piece : fit.pieces) {
      CHECK(piece.fit.goodness > 0.001);
      CHECK(piece.rms_error < 0.02);
    }
    // One formula for all is none of these.
    CHECK(fit.whole.goodness < 0.01);
  }
}

namespace {

/// Up to three processes take 100 us, from four on 10 us: no sum of 1, log p, p and p^2 does that.
double jump(double p, double d) {
  return (p < 4 ? 100e-6 : 10e-6) + 1e-9 * d;
}

std::vector<CollectiveFormula> formula_of(const std::vector<CollectiveTimes>& times) {
  return platform_formula(fit_collective(times));
}

double seconds_by(const std::vector<CollectiveFormula>& formula, int p, double d) {
  CollectiveModel model;
  model.of(CollectiveOp::kBcast).formula = formula;
  return model.seconds(CollectiveOp::kBcast, p, d, {});
}

}  // namespace

TEST_CASE("each number of processes has a formula where no common one is good") {
  std::vector<CollectiveTimes> times = times_of(jump, 1, 0, 1, kProcesses);
  const std::vector<CollectiveFormula> formula = formula_of(times);
  for (const double p : kProcesses) {
    for (const double d : {8., 2048., 524288.})
      CHECK(seconds_by(formula, static_cast<int>(p), d) == Approx(jump(p, d)).epsilon(0.02));
  }
  REQUIRE(!formula.empty());
  CHECK(formula.front().processes == 2);
  CHECK(formula.back().processes == 16);

  // Of six processes two payloads are known: it lies between four and eight.
  std::vector<CollectiveTimes> few = times;
  std::erase_if(few, [](const CollectiveTimes& t) { return t.processes == 6 && t.bytes > 32; });
  CHECK(seconds_by(formula_of(few), 6, 2048) == Approx(jump(6, 2048)).epsilon(0.02));
  for (const CollectiveFormula& piece : formula_of(few)) CHECK(piece.processes != 6);
  // Of the most processes: nothing could be known beyond the others.
  std::erase_if(times, [](const CollectiveTimes& t) { return t.processes == 16 && t.bytes > 32; });
  for (const CollectiveFormula& piece : formula_of(times)) CHECK(piece.processes == 0);
}

TEST_CASE("lines go through the samples of a library that chooses by payload and processes") {
  // A factor of 1 to 2.2 by the number of processes, and times that grow with the root of the
  // payload, as of algorithms for ever longer ones: neither a sum of the terms nor few pieces.
  const auto chosen = [](double p, double d) {
    return (10e-6 + 0.5e-6 * std::sqrt(d)) * (1 + 0.3 * (static_cast<int>(p) % 5));
  };
  const std::vector<CollectiveFormula> formula = formula_of(times_of(chosen, 1, 0, 1, kProcesses));
  for (const double p : kProcesses) {
    for (double d = 8; d <= 524288; d *= 4) {
      CAPTURE(p, d);
      CHECK(seconds_by(formula, static_cast<int>(p), d) == Approx(chosen(p, d)).epsilon(0.011));
    }
  }
  // 5 % of one launch, and half of what samples miss that are left out.
  CHECK(formula.front().uncertainty > kSigmaOfOneLaunch);
  CHECK(formula.front().uncertainty < 0.15);
}

TEST_CASE("lines give times below and beyond the samples") {
  // Four times as long from the second payload on: the first line meets 0 B below 0. The last
  // payload takes less than the one before, as by noise.
  std::vector<CollectiveTimes> times;
  for (const double p : kProcesses) {
    for (double d = 1024; d <= 1 << 20; d *= 2) {
      const double step = (d > 1024 ? 4 : 1) * (d == 1 << 20 ? 0.6 : 1);
      const double each = (5e-6 + 0.1e-6 * std::sqrt(d)) * (1 + 0.3 * (static_cast<int>(p) % 5));
      times.push_back({p, d, {step * each}});
    }
  }
  const std::vector<CollectiveFormula> formula = formula_of(times);
  CHECK(formula.front().processes == 2);
  for (const double processes : kProcesses) {
    const int p = static_cast<int>(processes);
    const auto seconds = [&](double d) { return seconds_by(formula, p, d); };
    CAPTURE(p);
    // sqrt(1024) = 32: 5 + 3.2 us, at most that below.
    CHECK(seconds(1024) == Approx(8.2e-6 * (1 + 0.3 * (p % 5))).epsilon(0.011));
    CHECK(seconds(0) > 0);
    CHECK(seconds(0) <= seconds(1024) * (1 + 1e-12));  // (rounding)
    // sqrt(2^20) = 1024: 0.6 * 4 (5 + 102.4) us = 257.8 us; at 2^18, 4 (5 + 51.2) = 224.8 us. So 33
    // us for each 3 * 2^18 B: 1023 / 0.75 times as much, 45 ms, for the rest of 2^30.
    const double last = 257.8e-6 * (1 + 0.3 * (p % 5)), more = 45.0e-3 * (1 + 0.3 * (p % 5));
    CHECK(seconds(1 << 20) == Approx(last).epsilon(0.011));
    CHECK(seconds(1 << 30) == Approx(last + more).epsilon(0.02));
  }
}

TEST_CASE("a common formula that is good stays") {
  const auto tree = [](double p, double d) { return (2e-6 + 1e-9 * d) * std::log2(p); };
  const std::vector<CollectiveFormula> formula = formula_of(times_of(tree, 1, 0, 1, kProcesses));
  REQUIRE(!formula.empty());
  for (const CollectiveFormula& piece : formula) CHECK(piece.processes == 0);
}

TEST_CASE("a single formula is not split", "[many_seeds]") {
  int cuts = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const auto line = [](double p, double d) { return 1e-6 + 2e-6 * p + 1e-9 * d; };
    const CollectiveFit fit = fit_collective(times_of(line, 10, 0.05, seed, kProcesses));
    cuts += fit.pieces.size() > 1;
    CHECK(fit.whole.goodness > 0.001);
  }
  // A cut where there is none costs two or more parameters at log 63 = 4.1 each.
  CHECK(cuts <= 2);
}

TEST_CASE("sigmas of launches, and without them") {
  // Mean 3, standard error sqrt(2.5 / 5), enlarged by sqrt(4 / 2): 1.
  const auto samples = formula_samples({{4, 8, {1, 2, 3, 4, 5}, 0.5},
                                        {4, 8, {10}, 0.01},
                                        {4, 8, {10}, 0.2},
                                        {4, 8, {1, 1, 1, 1}, 0},
                                        {4, 8, {100, 100.1, 99.9, 100}, 0}});
  CHECK(samples[0].seconds == 3);
  CHECK(samples[0].sigma == Approx(1));
  CHECK(samples[1].sigma == Approx(10 * kSigmaOfOneLaunch));
  CHECK(samples[2].sigma == Approx(2));                      // what the launch says of itself
  CHECK(samples[3].sigma == Approx(1 * kSigmaOfOneLaunch));  // launches that are all equal
  CHECK(samples[4].sigma == Approx(100 * kLeastSigma));
}

TEST_CASE("measurements of too few processes are not written to a platform") {
  MeasuredCollectives measured;
  measured.times[CollectiveOp::kAllreduce] = times_of(truth, 1, 0, 1, kProcesses);
  measured.times[CollectiveOp::kBcast] = times_of(truth, 1, 0, 1, {2});
  measured.times[CollectiveOp::kBarrier] = {{2, 0, {1e-6}, 0}};
  measured.held_from[CollectiveOp::kBcast] = 4096;
  const auto fits = fit_collectives(measured);
  CHECK(fits.size() == 2);  // one sample is no formula
  CHECK(!fits.at(CollectiveOp::kAllreduce).from_launches);
  Platform platform;
  platform.level(Level::kNode) = LevelModel{};
  platform.level(Level::kNode)->transfer = TransferCurve({Segment{0, 1e-6, 0, 0}});
  add_collectives(platform, fits, measured);
  CHECK(platform.measured.at("collectives_without_formula").substr(0, 2) == "2:");
  CHECK(platform.collectives.of(CollectiveOp::kBcast).formula.empty());
  CHECK(platform.collectives.of(CollectiveOp::kBcast).sync_limit == 4096.);
  // The replay of the file that is written has what was measured.
  const Platform again = parse_platform(format_platform(platform), "again");
  const RoundCost unused;
  for (const double d : {8., 2048., 8192., 524288.}) {
    CHECK(again.collectives.seconds(CollectiveOp::kAllreduce, 8, d, unused) ==
          Approx(truth(8, d)).epsilon(0.02));
  }
  CHECK(again.collectives.describe(CollectiveOp::kAllreduce, 8, 8) == "formula");
}

TEST_CASE("collectives of a machine that does other things still give a platform file") {
  // As in level_fit_test.cc: every time is up to a thousandfold of what it should be.
  for (unsigned seed = 0; seed < seeds(10); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> decades(0, 3);
    MeasuredCollectives measured;
    measured.times[CollectiveOp::kBcast] = times_of(truth, seed % 2 ? 5 : 1, 0, seed, {2, 3, 4});
    for (CollectiveTimes& times : measured.times[CollectiveOp::kBcast]) {
      for (double& seconds : times.seconds) seconds *= std::pow(10, decades(random));
    }
    Platform platform;
    platform.name = "busy";
    platform.level(Level::kNode) = LevelModel();
    platform.level(Level::kNode)->transfer = TransferCurve::hockney(1e-6, 1e9);
    REQUIRE_NOTHROW(add_collectives(platform, fit_collectives(measured), measured));
    // Written files can be read again, and no time is negative.
    const Platform read = parse_platform(format_platform(platform), "busy.toml");
    const auto flat = [](double) { return 1e-6; };
    const RoundCost unused{flat, flat, flat, flat, flat};
    for (const int p : {2, 3, 4, 8, 64, 1024}) {
      for (const double d : {0., 1., 8., 100., 5000., 1e6})
        CHECK(read.collectives.seconds(CollectiveOp::kBcast, p, d, unused) >= 0);
    }
  }
}

TEST_CASE("two numbers of processes do not determine the growth of times") {
  // With p = 2 and 4, 1, log p, p and p^2 describe the same times; p is taken.
  const auto line = [](double p, double d) { return 1e-6 * p + 1e-9 * d; };
  const CollectiveFit fit = fit_collective(times_of(line, 1, 0, 1, {2, 4}));
  CHECK(!covers_processes(fit));
  for (const FittedTerm& fitted : fit.whole.terms) {
    CHECK(fitted.term.growth != Growth::kLogP);
    CHECK(fitted.term.growth != Growth::kPSquared);
  }
}
