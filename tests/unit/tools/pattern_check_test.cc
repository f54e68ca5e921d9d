// Patterns of a calibration and what the fitted platform predicts for them.

#include "tools/calibration/pattern_check.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "models/platform/platform_file.h"
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

/// By name of the pattern, with its error.
std::map<std::string, double> errors(const SampleFile& samples) {
  std::map<std::string, double> errors;
  for (const CheckedPattern& pattern :
       check_patterns(two_levels(), samples, "test.csv", OfLoops::kLeast))
    errors[pattern.name] = pattern.error();
  return errors;
}

}  // namespace

TEST_CASE("exchanges, rings, halos and bisections are predicted") {
  SampleFile samples;
  samples.measured = {{"ranks", "4"}, {"hosts", "a, b, c, d"}, {"cores", "1"}};
  // Eager messages. In a halo four messages leave a rank, the last one behind three of 1 us in the
  // port: 3 + 10 + 1 us.
  samples.rows = {row("network", "headtohead", 1000, 11e-6),
                  row("node", "headtohead_nonblocking", 4000, 2e-6),
                  row("network", "ring", 10000, 20e-6),
                  row("network", "halo_nonblocking", 1000, 14e-6),
                  row("network", "bisection", 1000, 11e-6),
                  row("network", "pingpong_nonblocking", 1000, 1),  // has a curve
                  row("network", "ring_cold", 1000, 1),             // no model
                  row("network", "halo", 1000, 0)};                 // no time
  const auto found = errors(samples);
  REQUIRE(found.size() == 5);
  for (const auto& [name, error] : found) {
    INFO(name);
    CHECK(error == Approx(0).margin(1e-6));
  }
  CHECK(rows_of_no_use(samples) == 2);
  // Two ranks on each node: on which one a rank was is not known. Between two of them it is.
  samples.measured["hosts"] = "a, b";
  CHECK(errors(samples).size() == 2);
}

TEST_CASE("all ranks of one node count if they had a core each") {
  SampleFile samples;
  samples.measured = {{"ranks", "4"}, {"hosts", "a"}, {"cores", "4"}};
  samples.rows = {row("node", "ring", 4000, 2e-6)};
  CHECK(errors(samples).size() == 1);
  samples.measured["cores"] = "unknown";
  CHECK(errors(samples).size() == 1);
  samples.measured["cores"] = "3";
  CHECK(errors(samples).empty());
}

TEST_CASE("what the network of a platform has no nodes for is left out") {
  Platform platform = two_levels();
  platform.contention = parse_platform(R"(
    format = 1
    [level.network]
    transfer = "1us"
    [network]
    topology = "graph"
    nodes = ["n[0-2]"]
    cables = ["n[0-2] s 1GB/s"]
    injection_bandwidth = "1GB/s"
)",
                                       "three nodes")
                            .contention;
  SampleFile samples;
  samples.measured = {{"ranks", "4"}, {"hosts", "a, b, c, d"}};
  samples.rows = {row("network", "ring", 1000, 11e-6)};
  CHECK(check_patterns(platform, samples, "test.csv", OfLoops::kLeast).empty());
}

TEST_CASE("the error of the model is that of the patterns") {
  // Half as long and as long: sqrt(ln(2)^2 / 2) = 0.490.
  const std::vector<CheckedPattern> patterns = {{"ring", 8, 2e-6, 1e-6}, {"ring", 64, 1e-6, 1e-6}};
  CHECK(model_error(patterns, false) == Approx(std::log(2) / std::sqrt(2)));
  CHECK(model_error({}, false) == kModelError);
  CHECK(model_error({}, true) == kModelErrorInSimulator);
  CHECK(
      describe(patterns) ==
      "The file predicts 2 measured patterns within 49.0 % (rms), at worst 69.3 % (ring of 8B).\n");
  CHECK(describe(std::vector<CheckedPattern>()).empty());
}
