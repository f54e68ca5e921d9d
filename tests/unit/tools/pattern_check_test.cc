// Patterns of a calibration and what the fitted platform predicts for them.

#include "tools/calibration/pattern_check.h"

#include <catch2/catch.hpp>

#include "models/platform/uncertainty.h"

using namespace rubato;

namespace {

/// 10 us and 1 GB/s between nodes, 1 us and 4 GB/s inside.
Platform two_levels() {
  Platform platform;
  LevelModel network, node;
  network.transfer = TransferCurve::hockney(10e-6, 1e9);
  node.transfer = TransferCurve::hockney(1e-6, 4e9);
  platform.levels[static_cast<size_t>(Level::kNetwork)] = network;
  platform.levels[static_cast<size_t>(Level::kNode)] = node;
  return platform;
}

SampleRow row(const std::string& level, const std::string& pattern, double bytes, double seconds) {
  SampleRow row;
  row.level = level;
  row.pattern = pattern;
  row.bytes = bytes;
  row.seconds = seconds;
  return row;
}

}  // namespace

TEST_CASE("exchanges, rings, halos and bisections are predicted") {
  SampleFile samples;
  samples.measured = {{"ranks", "4"}, {"hosts", "a, b"}, {"cores", "2"}};
  // Eager messages. In the ring of nodes a, a, b, b a message of 10000 B takes 3.5 us and 20 us in
  // turn: four steps bring it round in 47 us. In the halo of 2 x 2 ranks two messages follow each
  // other to the same rank, the second one behind the first one's 1 us in the port.
  samples.rows = {row("network", "headtohead", 1000, 11e-6),
                  row("node", "headtohead_nonblocking", 4000, 2e-6),
                  row("network", "ring", 10000, 47e-6 / 4),
                  row("network", "halo_nonblocking", 1000, 12e-6),
                  row("network", "bisection", 1000, 11e-6),
                  row("network", "pingpong_nonblocking", 1000, 1),  // has a curve
                  row("network", "ring_cold", 1000, 1)};            // no model
  const auto checked = check_patterns(two_levels(), samples, "test.csv", OfLoops::kLeast);
  REQUIRE(checked.size() == 5);
  for (const CheckedPattern& pattern : checked) {
    INFO(pattern.name);
    CHECK(pattern.error() == Approx(0).margin(1e-6));
  }
  CHECK(model_error(checked, false) == kModelErrorInSimulator);  // the least
  // Ranks that lack cores do not count, between two nodes they have one each.
  samples.measured["cores"] = "1";
  CHECK(check_patterns(two_levels(), samples, "test.csv", OfLoops::kLeast).size() == 2);
}

TEST_CASE("the error of the model is that of the patterns") {
  // -50 % and 0: sqrt(0.25 / 2).
  const std::vector<CheckedPattern> patterns = {{"ring", 8, 2e-6, 1e-6}, {"ring", 64, 1e-6, 1e-6}};
  CHECK(model_error(patterns, false) == Approx(std::sqrt(0.125)));
  CHECK(model_error({}, false) == kModelError);
  CHECK(model_error({}, true) == kModelErrorInSimulator);
  CHECK(
      describe(patterns) ==
      "The file predicts 2 measured patterns within 35.4 % (rms), at worst 50.0 % (ring of 8B).\n");
  CHECK(describe(std::vector<CheckedPattern>()).empty());
}
