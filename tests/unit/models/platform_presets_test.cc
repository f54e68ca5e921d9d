// The platform files that come with Rubato: share/platforms.

#include "models/platform/platform_presets.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/base/error.h"
#include "models/platform/interconnect.h"
#include "models/platform/platform_file.h"
#include "models/scenario/scenario.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

const std::string kDirectory = RUBATO_PLATFORMS;

Platform preset(const std::string& name) {
  return load_platform(preset_path(kDirectory, name));
}

/// One byte between nodes in seconds, and bytes per second of a message that is large enough.
struct Figures {
  const char* name;
  double latency;
  double bandwidth;
};

// As the comments in the files have it, source by source.
constexpr Figures kFigures[] = {
    {"ethernet-1g", 24.6e-6, 1e9 / 8 * 1448 / 1538},
    {"ethernet-10g", 22.4e-6, 10e9 / 8 * 1448 / 1538},
    {"ethernet-25g", 9.8e-6, 2.9e9},
    {"ethernet-100g", 1.67e-6, 100e9 / 8 * 4096 / 4178},
    {"infiniband-qdr", 1.64e-6, 3.393e9},  // 3 MiB in 1242.87 - 315.5 us, measured: 3.392e9
    {"infiniband-fdr", 1.13e-6, 4177920 / (670.02e-6 - 6.90e-6)},  // 4 MiB - 16 KiB
    {"infiniband-edr", 1.34e-6, 983040 / (100.42e-6 - 13.54e-6)},
    {"infiniband-hdr", 1.2e-6, 192e9 / 8},
    {"infiniband-ndr", 1.2e-6, 47e9},
    {"slingshot-11", 1.8e-6, 24.0e9},
    {"shared-memory", 0.16e-6, 983040 / (91.62e-6 - 7.96e-6)},
};

}  // namespace

TEST_CASE("every preset parses, has all levels and names its sources") {
  const std::vector<std::string> names = preset_names(kDirectory);
  CHECK(names.size() == std::size(kFigures) + 2);  // and perfect and bandela
  for (const std::string& name : names) {
    INFO(name);
    const Platform platform = preset(name);
    CHECK_FALSE(platform.name.empty());
    for (const Level level : {Level::kSelf, Level::kNode, Level::kNetwork}) {
      REQUIRE(platform.level(level));
      const LevelModel& model = *platform.level(level);
      CHECK_FALSE(model.burst_gap);  // it is measured, not read in papers
      // Ends and beginnings of segments, and powers of two.
      std::vector<double> sizes = {0};
      for (double n = 1; n <= 1 << 26; n *= 2) sizes.push_back(n);
      for (const Segment& segment : model.transfer.segments()) {
        if (segment.from > 0) sizes.insert(sizes.end(), {segment.from - 1, segment.from});
      }
      std::sort(sizes.begin(), sizes.end());
      for (size_t i = 1; i < sizes.size(); ++i) {
        CAPTURE(sizes[i]);
        CHECK(model.transfer(sizes[i]) >= model.transfer(sizes[i - 1]));
      }
    }
    std::ifstream file(preset_path(kDirectory, name));
    std::stringstream text;
    text << file.rdbuf();
    CHECK(text.str()[0] == '#');
  }
}

TEST_CASE("presets have the latency and bandwidth stated in their comments") {
  for (const Figures& figures : kFigures) {
    INFO(figures.name);
    const LevelModel network = *preset(figures.name).level(Level::kNetwork);
    CHECK(network.transfer(1) == Approx(figures.latency).epsilon(0.01));
    // 63 MiB more, so that no latency is left in it.
    const double seconds = network.transfer(1 << 26) - network.transfer(1 << 20);
    CHECK(((1 << 26) - (1 << 20)) / seconds == Approx(figures.bandwidth).epsilon(0.005));
  }
  // Points of published curves between the two, straight lines with them at their ends.
  const LevelModel qdr = *preset("infiniband-qdr").level(Level::kNetwork);
  CHECK(qdr.transfer(4096) == Approx(6.84e-6).epsilon(0.01));
  CHECK(qdr.transfer(16384) == Approx(11.52e-6).epsilon(0.01));
  CHECK(qdr.transfer(65536) == Approx(26.65e-6).epsilon(0.05));   // not used for the line
  CHECK(qdr.transfer(262144) == Approx(84.51e-6).epsilon(0.05));  // nor this
  const LevelModel edr = *preset("infiniband-edr").level(Level::kNetwork);
  CHECK(edr.transfer(65536) == Approx(13.54e-6).epsilon(0.01));
  CHECK(edr.transfer(32768) == Approx(10.46e-6).epsilon(0.05));  // not used
  const LevelModel memory = *preset("shared-memory").level(Level::kNode);
  CHECK(memory.transfer(524288) == Approx(47.21e-6).epsilon(0.05));  // not used
}

TEST_CASE("perfect and bandela equal their files") {
  for (const auto& [name, built_in] :
       {std::pair{"perfect", perfect_platform()}, {"bandela", bandela_platform(0, HUGE_VAL)}}) {
    INFO(name);
    const Interconnect expected(built_in), file(preset(name));
    for (const Level level : {Level::kSelf, Level::kNode, Level::kNetwork}) {
      for (const double n : {0.0, 1.0, 1e9}) {
        CHECK(file.message(level, n).transfer == expected.message(level, n).transfer);
        CHECK(file.message(level, n).gap == expected.message(level, n).gap);
        CHECK(file.protocol(level, n) == expected.protocol(level, n));
        CHECK(file.collective(CollectiveOp::kBcast, 8, n, level) ==
              expected.collective(CollectiveOp::kBcast, 8, n, level));
      }
    }
    CHECK(file.collectives().pricing == expected.collectives().pricing);
    CHECK(file.collectives().preset == expected.collectives().preset);
  }
}

TEST_CASE("a scenario finds presets by name, after files, and takes changes") {
  const Scenario plain = parse_scenario("infiniband-hdr", kDirectory);
  CHECK(plain.platform_file == kDirectory + "/infiniband-hdr.toml");
  CHECK(Interconnect(plain.platform).message(Level::kNetwork, 0).transfer == Approx(1.2e-6));
  const Scenario half = parse_scenario("infiniband-hdr:latency*0.5,name=half", kDirectory);
  CHECK(half.name == "half");
  CHECK(Interconnect(half.platform).message(Level::kNetwork, 0).transfer == Approx(0.6e-6));

  // A file of that name in the working directory takes precedence.
  const std::string here = "infiniband-hdr";
  REQUIRE_FALSE(std::filesystem::exists(here));
  std::ofstream(here) << "format = 1\n[level.network]\ntransfer = \"7us\"\n";
  CHECK(Interconnect(parse_scenario("infiniband-hdr:cpu*2", kDirectory).platform)
            .message(Level::kNetwork, 0)
            .transfer == Approx(7e-6));
  std::filesystem::remove(here);

  CHECK_THROWS_WITH(parse_scenario("infiniband-hdx", kDirectory),
                    Catch::Contains("did you mean 'infiniband-hdr'?") &&
                        Catch::Contains("a preset of " + kDirectory));
  CHECK_THROWS_AS(parse_scenario("../platforms/infiniband-hdr", kDirectory), InputError);
  CHECK_THROWS_AS(parse_scenario("infiniband-hdr"), InputError);  // no presets requested
}

TEST_CASE("presets are listed by the value of their numbers") {
  const std::vector<std::string> names = preset_names(kDirectory);
  const auto first = std::find(names.begin(), names.end(), "ethernet-1g");
  REQUIRE(names.end() - first >= 4);
  CHECK(std::vector<std::string>(first, first + 4) ==
        std::vector<std::string>{"ethernet-1g", "ethernet-10g", "ethernet-25g", "ethernet-100g"});
  CHECK(preset_names(kDirectory + "/nowhere").empty());
}

TEST_CASE("a burst on Gigabit Ethernet takes the time of the LogGP formula") {
  // Three messages of 1000 B: the port of the sender is held for g = 1000 B / 117.7 MB/s = 8496.18
  // ns by each, so the last starts at 2 g and is there T = 24600 + 8496.18 ns later: 24600 + 3 *
  // 8496.18 = 50088.5 ns. One tick is one nanosecond.
  const auto source = parse_text_trace(R"(
    nodes 0 1
    0: 0..0 send 1 1000B
    0: 0..0 send 1 1000B
    0: 0..0 send 1 1000B
    0: 0 end
    1: 0..0 recv 0 1000B
    1: 0..0 recv 0 1000B
    1: 0..0 recv 0 1000B
    1: 0 end
  )");
  const Results results =
      run_replay(*source, {parse_scenario("ethernet-1g", kDirectory)}, ReplayOptions());
  CHECK(results.scenarios[0].ranks[0].end * 1e9 == Approx(0).margin(1));
  CHECK(results.scenarios[0].ranks[1].end * 1e9 == Approx(50088.5).margin(1));
}
