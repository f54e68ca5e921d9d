#include "models/fit/algorithm_fit.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace rubato;

namespace {

/// 20 us and 1 GB/s between nodes, ports that are as fast, nothing else.
Platform network() {
  Platform platform;
  LevelModel level;
  level.transfer = TransferCurve::hockney(20e-6, 1e9);
  platform.levels[static_cast<size_t>(Level::kNetwork)] = level;
  return platform;
}

/// For 2, 4 and `most` processes and some payloads.
template <typename Seconds>
std::vector<CollectiveTimes> times_of(Seconds seconds, double most = 8) {
  std::vector<CollectiveTimes> times;
  for (const double p : {2., 4., most}) {
    for (const double d : {8., 1024., 65536., 1048576.})
      times.push_back({p, d, {seconds(p, d)}, 0});
  }
  return times;
}

double rounds(double p) {
  return std::ceil(std::log2(p));
}

}  // namespace

TEST_CASE("a binomial tree is found by its rounds") {
  // Each of log2 p rounds passes the whole message on: 20 us + d / (1 GB/s).
  const auto found =
      explain_collective(CollectiveOp::kBcast,
                         times_of([](double p, double d) { return rounds(p) * (20e-6 + d / 1e9); }),
                         Level::kNetwork, network());
  REQUIRE(found);
  REQUIRE(found->rules.size() == 1);
  CHECK(name_of(found->rules[0].choice.algorithm) == "binomial");
  CHECK(found->rules[0].processes == 2);
  CHECK(found->rules[0].bytes == 0);
}

TEST_CASE("the algorithm may change with the payload") {
  // An alltoall whose short messages start at once (latency, then one byte time each), and whose
  // long ones go pair by pair.
  const auto seconds = [](double p, double d) {
    return d < 65536 ? 20e-6 + (p - 1) * d / 1e9 : (p - 1) * (20e-6 + d / 1e9);
  };
  // On 64 processes: up to 33 MPICH's messages in batches of 32 start at once as well.
  CHECK_FALSE(
      explain_collective(CollectiveOp::kAlltoall, times_of(seconds), Level::kNetwork, network()));
  const auto found = explain_collective(CollectiveOp::kAlltoall, times_of(seconds, 64),
                                        Level::kNetwork, network());
  REQUIRE(found);
  REQUIRE(found->rules.size() == 2);
  CHECK(name_of(found->rules[1].choice.algorithm) == "pairwise");
  CHECK(found->rules[1].bytes == 65536);
}

TEST_CASE("what no algorithm explains keeps its formula") {
  const auto strange = times_of([](double p, double d) { return 1e-3 * p * p + d / 1e9; });
  CHECK_FALSE(explain_collective(CollectiveOp::kBcast, strange, Level::kNetwork, network()));
  // Three processes at most: a chain is a tree.
  std::vector<CollectiveTimes> few;
  for (const double p : {2., 3.}) few.push_back({p, 8, {rounds(p) * 20e-6}, 0});
  CHECK_FALSE(explain_collective(CollectiveOp::kBcast, few, Level::kNetwork, network()));
  // A level that the platform lacks.
  CHECK_FALSE(explain_collective(CollectiveOp::kBcast, strange, Level::kNode, network()));
}

TEST_CASE("beyond the processes that it was fitted to a formula grows as the algorithm does") {
  // 10 us p^2 from at most 4 processes: 160 us there. A bcast by a binomial tree takes twice as
  // many rounds on 16 processes as on 4, so 320 us, and not 2560.
  Platform platform = network();
  platform.collectives.of(CollectiveOp::kBcast).rules = {{2, 0, {Algorithm::kBinomial, 0}}};
  CollectiveFormula square;
  square.p2 = 10e-6;
  platform.collectives.of(CollectiveOp::kBcast).formula = {square};
  platform.collectives.of(CollectiveOp::kBcast).formula_processes = 4;
  RoundCost cost;
  cost.move = cost.gap = cost.send = cost.receive = [](double) { return 20e-6; };
  cost.combine = [](double) { return 0.; };
  const CollectiveModel& model = platform.collectives;
  CHECK(model.seconds(CollectiveOp::kBcast, 4, 8, cost) == Approx(160e-6));
  CHECK(model.seconds(CollectiveOp::kBcast, 16, 8, cost) == Approx(320e-6));
  platform.collectives.of(CollectiveOp::kBcast).formula_processes = 0;
  CHECK(model.seconds(CollectiveOp::kBcast, 16, 8, cost) == Approx(2560e-6));
}
