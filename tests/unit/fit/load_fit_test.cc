#include "models/fit/load_fit.h"

#include <catch2/catch.hpp>
#include <random>

#include "models/platform/platform_file.h"

using namespace rubato;

namespace {

/// 2 us and n / (1 GB/s) alone; with k at once T = 2 us + n / (1 GB/s) * k * ratio.
std::vector<LoadedTime> loaded(double ratio, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<LoadedTime> times;
  for (const double n : {0., 4096., 65536., 262144., 1048576.}) {
    times.push_back({1, n, 2e-6 + n * 1e-9});
    for (const int k : {2, 4, 8}) {
      times.push_back({k, n, 2e-6 + n * 1e-9 * k * ratio * (1 + noise * normal(random))});
    }
  }
  return times;
}

}  // namespace

TEST_CASE("the degradation ratio is recovered") {
  const auto exact = fit_degradation(loaded(0.7, 0, 1));
  REQUIRE(exact);
  CHECK(exact->ratio == Approx(0.7));
  CHECK(exact->error == Approx(0).margin(1e-9));
  CHECK(exact->values == 9);
  CHECK(exact->least_live == 2);
  CHECK(exact->most_live == 8);
  // Nine values with 10 % of noise: the error of their mean is about 0.07 / 3 = 0.023. Within twice
  // that 19 times of 20, with few values a bit less often.
  int within = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const auto fit = fit_degradation(loaded(0.7, 0.1, seed));
    REQUIRE(fit);
    CHECK(fit->error == Approx(0.023).margin(0.018));
    within += std::abs(fit->ratio - 0.7) <= 2 * fit->error;
  }
  CHECK(within >= 84);
}

TEST_CASE("two messages that do not disturb each other") {
  // They take as long as one: 1 = 2 * DR.
  const auto fit = fit_degradation({{1, 0, 1e-6}, {1, 1e6, 101e-6}, {2, 1e6, 101e-6}});
  REQUIRE(fit);
  CHECK(fit->ratio == Approx(0.5));
  CHECK(fit->values == 1);  // too few for an error
}

TEST_CASE(
    "no degradation is known without concurrent pairs, or without the same length of a "
    "single pair") {
  CHECK(!fit_degradation({}));
  CHECK(!fit_degradation({{1, 0, 1e-6}, {1, 1e6, 1e-4}}));
  CHECK(!fit_degradation({{1, 0, 1e-6}, {2, 1e6, 1e-4}}));
  CHECK(!fit_degradation({{1, 0, 1e-6}, {1, 1000, 2e-6}, {2, 1000, 3e-6}}));  // too short
}

TEST_CASE("what was measured of contention can be switched on in the platform file") {
  // Two pairs take 1.5 times the data's time of one: 1.5 / 2 = 0.75. Four pairs take 8 times: 2.
  const std::vector<LoadedTime> node = {{1, 0, 1e-6}, {1, 1e6, 101e-6}, {2, 1e6, 151e-6}};
  const std::vector<LoadedTime> network = {{1, 0, 1e-6}, {1, 1e6, 101e-6}, {4, 1e6, 801e-6}};
  Platform platform;
  platform.level(Level::kNode).emplace().transfer = TransferCurve::hockney(1e-6, 1e9);
  platform.measured["cores"] = "4";  // for two pairs on one node, or one end of four pairs
  const std::string both =
      note_load(platform.measured, {{Level::kNode, node}, {Level::kNetwork, network}}, false);
  CHECK(platform.measured["node_degradation"] == "0.75 (2 to 2 pairs at once)");
  CHECK(platform.measured["network_degradation"] == "2 (4 to 4 pairs at once)");

  // As comments they change nothing; without the leading # they are a [contention].
  const std::string file = format_platform(platform, {{}, both});
  CHECK(parse_platform(file, "quiet").contention == ContentionSetting());
  const auto switched_on = [](std::string text) {
    const size_t begin = text.find("# [contention]");
    REQUIRE(begin != std::string::npos);
    for (size_t at = begin; at != std::string::npos && text[at] == '#';
         at = text.find('\n', at) + 1)
      text.erase(at, 2);
    return parse_platform(text, "loud").contention;
  };
  ContentionSetting expected;
  expected.model = network_model("degradation");
  expected.numbers["degradation_ratio"] = 2;  // that of the network
  CHECK(switched_on(file) == expected);
  CHECK(both.find("faster than measured") == std::string::npos);

  const std::string alone = note_load(platform.measured, {{Level::kNode, node}}, false);
  CHECK(alone.find("faster than measured") != std::string::npos);  // 0.75 of the time, alone
  expected.numbers["degradation_ratio"] = 0.75;
  expected.levels = {false, false, true, false};
  CHECK(switched_on(format_platform(platform, {{}, alone})) == expected);

  // Even with a level for sockets, it applies to all messages of a node.
  const auto told_apart = switched_on(
      format_platform(platform, {{}, note_load(platform.measured, {{Level::kNode, node}}, true)}));
  CHECK(told_apart.levels == std::array<bool, kLevels>{false, true, true, false});
  CHECK(switched_on(
            format_platform(platform,
                            {{}, note_load(platform.measured, {{Level::kNetwork, network}}, true)}))
            .levels == std::array<bool, kLevels>{false, false, false, true});

  // A small ratio keeps its digits: 1 us / (100 us * 4). One of 0 would be no [contention].
  const auto four_pairs = [&](double seconds) {
    return note_load(platform.measured,
                     {{Level::kNetwork, {{1, 0, 1e-6}, {1, 1e6, 101e-6}, {4, 1e6, seconds}}}},
                     false);
  };
  CHECK(
      *switched_on(format_platform(platform, {{}, four_pairs(2e-6)})).number("degradation_ratio") ==
      Approx(0.0025));
  CHECK(four_pairs(1e-6).empty());

  // Ranks that share cores say nothing about messages.
  platform.measured["cores"] = "3";
  CHECK(note_load(platform.measured, {{Level::kNode, node}}, false).empty());
  CHECK(note_load(platform.measured, {{Level::kNetwork, network}}, false).empty());
  CHECK(note_load(platform.measured, {}, false).empty());
}

TEST_CASE("how many pairs a pattern has") {
  CHECK(pairs_at_once("pairs_1") == 1);
  CHECK(pairs_at_once("pairs_16") == 16);
  for (const char* other : {"pairs_", "pairs_0", "pairs_2x", "pingpong"})
    CHECK(!pairs_at_once(other));
}
