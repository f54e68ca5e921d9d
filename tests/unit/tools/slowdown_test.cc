// The slowdown between two runs and its interval: tools/studies/slowdown.h.

#include <catch2/catch.hpp>
#include <cmath>

#include "tools/studies/slowdown.h"

using namespace rubato;

namespace {

std::vector<RunTime> runs(const std::vector<double>& elapsed) {
  std::vector<RunTime> all;
  for (const double time : elapsed) all.push_back({.elapsed = time, .compute = 0.02 * time});
  return all;
}

}  // namespace

TEST_CASE("single runs have the assumed variation, repeated ones that of the runs") {
  const Slowdown one = slowdown_of(runs({100}), runs({110}), false);
  CHECK(one.share == Approx(0.1));
  CHECK(one.half == Approx(1.1 * std::sqrt(2) * 0.02));
  CHECK_FALSE(one.repeated);
  // Deviations of 1 % from 100 and from 200: s² = 4 * 0.01² / 2; t of 2 degrees of freedom.
  const Slowdown two = slowdown_of(runs({99, 101}), runs({198, 202}), false);
  CHECK(two.share == Approx(1));
  CHECK(two.spread == Approx(std::sqrt(2) * 0.01));
  CHECK(two.half == Approx(2 * 4.302653 * std::sqrt(2) * 0.01).epsilon(1e-6));
}

TEST_CASE("of subtracted overhead the difference counts, of lost cores both") {
  RunTime before = {.elapsed = 100, .overhead = 3, .losses = 3, .model = 5};
  RunTime after = {.elapsed = 100, .overhead = 7, .losses = 0, .model = 5};
  // 7 - 3 and 3 of 100.
  CHECK(slowdown_of({before}, {after}, true).half == Approx(0.05));
  CHECK(slowdown_of({before}, {after}, false).half == Approx(std::sqrt(0.05 * 0.05 * 3)));
  // Of repeated runs without spread the difference of both: 4 and 3 - 1.
  after.losses = 1;
  CHECK(slowdown_of({before, before}, {after, after}, true).half == Approx(std::hypot(0.04, 0.02)));
}

TEST_CASE("two scenarios of one platform file share most of the model's error") {
  const RunTime before = {.elapsed = 100, .model = 8, .platform_file = "a.toml"};
  RunTime after = {.elapsed = 50, .model = 3, .platform_file = "a.toml"};
  // 8 % and 6 %: half of hypot(8, 6) = 10 apart, and the difference of 2; of the ratio 1/2.
  CHECK(slowdown_of({before}, {after}, false).half == Approx(std::hypot(0.05, 0.02) / 2));
  after.platform_file = "b.toml";
  CHECK(slowdown_of({before}, {after}, false).half == Approx(0.1 / 2));
}

TEST_CASE("a gate fails beyond doubt only") {
  const auto result = [](double share, double half, double limit) {
    Slowdown slowdown;
    slowdown.share = share;
    slowdown.half = half;
    return gate_result(slowdown, limit);
  };
  CHECK(result(0.1, 0.03, 0.06) == GateResult::kFailed);
  CHECK(result(0.1, 0.03, 0.08) == GateResult::kUndecided);
  CHECK(result(0.1, 0.03, 0.12) == GateResult::kUndecided);
  CHECK(result(0.1, 0.03, 0.14) == GateResult::kPassed);
  // 110 / 100 - 1 is above 0.1 by the last bit.
  CHECK(result(1.1 / 1.0 - 1, 0, 0.1) == GateResult::kPassed);
}

TEST_CASE("where ranks lacked cores no difference is certain") {
  Slowdown slowdown = slowdown_of(runs({100}), runs({200}), false);
  CHECK(slowdown.is_certain());
  CHECK(gate_result(slowdown, 0.03) == GateResult::kFailed);
  slowdown.lacks_cores = true;
  CHECK_FALSE(slowdown.is_certain());
  CHECK(gate_result(slowdown, 0.03) == GateResult::kUndecided);
  CHECK(gate_result(slowdown, 3) == GateResult::kUndecided);
}

TEST_CASE("the number of runs that would decide") {
  // s = 1 %, from 1 % to 0: t s sqrt(2 / n) is 1.07 % for 8 runs (t = 2.1448) - undecided - and
  // 0.9993 % for 9 (t = 2.1199).
  Slowdown slowdown;
  slowdown.repeated = true;
  slowdown.spread = 0.01 / 1.01;
  slowdown.share = 0.01;
  CHECK(runs_to_decide(slowdown, 0) == 9);
  // Nothing helps against the other errors, and single runs tell no spread.
  slowdown.other = 0.011;
  CHECK_FALSE(runs_to_decide(slowdown, 0));
  slowdown.other = 0;
  slowdown.repeated = false;
  CHECK_FALSE(runs_to_decide(slowdown, 0));
}
