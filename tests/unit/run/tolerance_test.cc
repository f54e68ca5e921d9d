// Tolerated degradation of a machine, worked out by hand and against replays. One tick is one
// nanosecond.

#include "replay/study/tolerance.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "models/base/error.h"
#include "tests/unit/contended.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tests/unit/toy.h"
#include "tools/studies/tolerance_report.h"

using namespace rubato;

namespace {

const std::string kTwoLevels = "bandela:latency=100ns,bandwidth=1GB/s";

std::vector<ToleranceAxis> axes(const std::string& machine) {
  const auto axis = [&](const std::string& key, char worse) {
    return ToleranceAxis{key, [=](double factor) {
                           std::ostringstream text;
                           text.precision(17);
                           text << machine << ',' << key << worse << factor;
                           return parse_scenario(text.str());
                         }};
  };
  return {axis("latency", '*'), axis("bandwidth", '/'), axis("cpu", '/')};
}

}  // namespace

// Rank 1 computes 2000; the message of rank 0, which computes 1000, arrives at 1000 + 100 + 8. With
// latency x f: T = max(2000, 1008 + 100 f), so 2020 at 10.12 and 2100 at 10.92. With bandwidth / f:
// max(2000, 1100 + 8 f), so 2020 at 115 and 2100 at 125. With processors / f everything: 2000 f,
// because the message stays hidden.
TEST_CASE("a message in the shade of compute tolerates latency") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    1: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1010 end
    1: 2000..2001 recv 0 8B
    1: 2001 end
  )");
  const Tolerances found = find_tolerances(*source, axes(kTwoLevels), {1, 5}, {});
  CHECK(found.elapsed * 1e9 == Approx(2000));
  REQUIRE(found.axes.size() == 3);
  CHECK(found.axes[0].share == Approx(0).margin(1e-9));
  CHECK(found.axes[0].factors[0].value() == Approx(10.12).epsilon(1e-4));
  CHECK(found.axes[0].factors[1].value() == Approx(10.92).epsilon(1e-4));
  CHECK(found.axes[1].factors[0].value() == Approx(115).epsilon(1e-4));
  CHECK(found.axes[1].factors[1].value() == Approx(125).epsilon(1e-4));
  CHECK(found.axes[2].share == Approx(1).epsilon(1e-4));
  CHECK(found.axes[2].factors[0].value() == Approx(1.01).epsilon(1e-6));
}

// There and back: T = 2 (100 + 8) = 216. Of that 200 are latency and 16 bandwidth. 1 % more, 2.16,
// is a latency of 101.08 or bandwidth / 1.135.
TEST_CASE("what a number is due for is its share") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    1: 0..0 init
    0: 0..1 send 1 8B
    0: 1..300 recv 1 8B
    0: 300 end
    1: 0..200 recv 0 8B
    1: 200..201 send 0 8B
    1: 201 end
  )");
  const Tolerances found = find_tolerances(*source, axes(kTwoLevels), {1}, {});
  CHECK(found.axes[0].share == Approx(200. / 216).epsilon(1e-4));
  CHECK(found.axes[0].factors[0].value() == Approx(1.0108).epsilon(1e-6));
  CHECK(found.axes[1].share == Approx(16. / 216).epsilon(1e-4));
  CHECK(found.axes[1].factors[0].value() == Approx(1.135).epsilon(1e-6));
  CHECK_FALSE(found.axes[2].factors[0].has_value());  // no rank computes

  const Scenario scenario = parse_scenario(kTwoLevels);
  const std::string text = tolerance_text(found, scenario, {1}, 1000);
  CHECK(text.starts_with(kTwoLevels + ": 216.0 ns elapsed; 1 % longer with latency × 1.0108, or "));
  CHECK(text.find("1.14. cpu does not matter: a factor of a million costs less than 1 %.\n") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(tolerance_json(found, scenario, {1}));
  CHECK(json["numbers"][0]["name"] == "latency");
  CHECK(json["numbers"][0]["thresholds"][0]["factor"].get<double>() == Approx(1.0108));
  CHECK(json["numbers"][2]["thresholds"][0]["factor"].is_null());
  CHECK(json["half_width"].is_null());  // none is stated
  CHECK(json["no_conclusion"].is_null());
  // As where `rubato replay` draws no conclusion.
  CHECK(tolerance_text(found, scenario, {1}, 1000, "Ranks lacked cores.")
            .find(" costs less than 1 %.\nRanks lacked cores.\n\nParameter") != std::string::npos);
  CHECK(nlohmann::json::parse(
            tolerance_json(found, scenario, {1}, "Ranks lacked cores."))["no_conclusion"] ==
        "Ranks lacked cores.");
  CHECK(tolerance_csv(found, scenario, {1}, "Ranks lacked cores.")
            .ends_with(",Ranks lacked cores.\n"));
  Scenario stated = scenario;  // 1.96 x 10 %
  stated.platform.model_error = 0.1;
  CHECK(tolerance_text(found, stated, {1}, 1000).find("are uncertain by 20 % (95 %)") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(tolerance_json(found, stated, {1}))["half_width"].get<double>() ==
        Approx(0.196));
}

// The same on two levels: rank 0 and 1 share a node (100 ns, 1 GB/s), rank 2 has another one (1000
// ns, 2 GB/s). 0 sends 8 B to 1, which sends 40 B on to 2: T = 100 + 8 + 1000 + 20 = 1128. A
// latency of each level is on the path, 8 B of one and 40 B of the other. 1 % more, 11.28, is a
// node.latency x 1.1128, a network.latency x 1.01128. The level of a rank to itself is none that is
// varied.
TEST_CASE("the critical path has latencies and bytes of each level") {
  const char* text = R"(
    nodes 0 0 1
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 0..1 send 1 8B
    0: 1 end
    1: 0..200 recv 0 8B
    1: 200..201 send 2 40B
    1: 201 end
    2: 0..300 recv 1 40B
    2: 300 end
  )";
  const Scenario scenario = parse_scenario(
      "bandela:node.latency=100ns,node.bandwidth=1GB/s,network.latency=1us,network.bandwidth=2GB/"
      "s");
  const auto source = parse_text_trace(text);
  const Tolerances found = find_tolerances(*source, tolerance_axes(scenario), {1}, {});
  CHECK(found.elapsed * 1e9 == Approx(1128));
  const auto json = nlohmann::json::parse(tolerance_json(found, scenario, {1}));
  std::map<std::string, nlohmann::json> numbers;
  for (const auto& number : json["numbers"]) numbers[number["name"]] = number;
  const auto on_path = [&](const char* name) { return numbers.at(name)["on_path"].get<double>(); };
  const auto factor = [&](const char* name) {
    return numbers.at(name)["thresholds"][0]["factor"].get<double>();
  };
  CHECK(on_path("node.latency") == Approx(1).epsilon(1e-5));
  CHECK(on_path("network.latency") == Approx(1).epsilon(1e-5));
  CHECK(on_path("node.bandwidth") == Approx(8).epsilon(1e-5));
  CHECK(on_path("network.bandwidth") == Approx(40).epsilon(1e-5));
  CHECK(on_path("cpu") == Approx(0).margin(1e-15));
  CHECK(numbers.at("node.latency")["value"].get<double>() == Approx(100e-9));
  CHECK(numbers.at("network.bandwidth")["value"].get<double>() == Approx(2e9));
  CHECK(numbers.at("latency")["value"].is_null());
  CHECK(numbers.at("latency")["on_path"].is_null());
  CHECK(factor("node.latency") == Approx(1.1128).epsilon(1e-6));
  CHECK(factor("network.latency") == Approx(1.01128).epsilon(1e-6));
  CHECK(factor("latency") == Approx(1 + 11.28 / 1100).epsilon(1e-6));
  CHECK(factor("network.bandwidth") == Approx(1 + 11.28 / 20).epsilon(1e-6));
  const std::string shown = tolerance_text(found, scenario, {1}, 1000);
  INFO(shown);
  CHECK(shown.find("network.bandwidth  2.000 GB/s   1.8 %     40 B  1.279 GB/s ÷1.56\n") !=
        std::string::npos);
  CHECK(shown.find("network.latency      1.000 µs  88.7 %        1 ") != std::string::npos);
}

// All on one node: the network exists but is not used.
TEST_CASE("an unused level is reported") {
  const Scenario scenario = parse_scenario(kTwoLevels);
  const auto source = parse_text_trace(kLateSenderTrace);
  const Tolerances found = find_tolerances(*source, tolerance_axes(scenario), {1}, {});
  const std::string text = tolerance_text(found, scenario, {1}, 1000);
  CHECK(text.find("Note: no message crosses level network.") != std::string::npos);
  CHECK(text.find("level node") == std::string::npos);
}

// Two pairs on two nodes with a degradation ratio of 1 (contention_test.cc): T = 100 + 2 * 1000 =
// 2100. 1 % more, 21, is a latency x 1.21, or bandwidth / 1.0105. The order of time allows one
// scenario in a pass; the answers are the same.
TEST_CASE("with contention thresholds are found, a replay each") {
  const auto source = parse_text_trace(R"(
    nodes 0 0 1 1
    0: 0..0 send 2 1000B
    1: 0..0 send 3 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 1 1000B
  )");
  const Scenario scenario = degraded(1);
  const Tolerances found = find_tolerances(*source, tolerance_axes(scenario), {1}, {});
  const std::string text = tolerance_text(found, scenario, {1}, 1000);
  INFO(text);
  CHECK(found.elapsed * 1e9 == Approx(2100));
  REQUIRE(found.axes.size() == 7);
  CHECK(found.axes[0].factors[0].value() == Approx(1.21).epsilon(1e-6));
  CHECK(found.axes[1].factors[0].value() == Approx(1.0105).epsilon(1e-6));
  CHECK(text.find("each of " + std::to_string(found.replays) + " factors needed a replay") !=
        std::string::npos);
  CHECK(text.find("no message crosses level node.") != std::string::npos);
}

TEST_CASE("thresholds are right to a thousandth, whatever the program") {
  using namespace rubato::property;
  for (unsigned seed = 1; seed <= seeds(20); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    const std::string trace = as_text(program, recorded);
    const auto source = parse_text_trace(trace);
    const auto worse = axes("loggps:L=700ns,o=30ns,g=50ns,G=0.5ns");
    const Tolerances found = find_tolerances(*source, worse, {1, 10}, {});
    for (size_t axis = 0; axis < worse.size(); ++axis) {
      const auto elapsed = [&](double factor) {
        return replay(trace, {worse[axis].worse(factor)}).scenarios[0].elapsed;
      };
      for (size_t percent = 0; percent < 2; ++percent) {
        INFO("seed " << seed << ", " << worse[axis].name);
        const double target = found.elapsed * (percent == 0 ? 1.01 : 1.1);
        const std::optional<double>& factor = found.axes[axis].factors[percent];
        if (!factor) {
          CHECK(elapsed(kMostWorse) < target);
          continue;
        }
        CHECK(elapsed(*factor * 0.999) <= target);
        CHECK(elapsed(*factor * 1.001) >= target);
      }
    }
  }
}

TEST_CASE("a deadlock has no tolerance") {
  const auto source = parse_text_trace(R"(
    0: 0..1 send 1 2000B
    0: 1..10 recv 1 2000B
    1: 0..1 send 0 2000B
    1: 1..10 recv 0 2000B
  )");
  CHECK_THROWS_WITH(
      find_tolerances(*source, axes("loggps:L=1us,G=1ns,S=1KiB"), {1}, {}),
      Catch::StartsWith("the program deadlocks on this machine: ") && !Catch::Contains("\n"));
}

TEST_CASE("a run of zero length has no tolerance") {
  const auto source = parse_text_trace("0: 0..0 local MPI_Comm_rank\n");
  CHECK_THROWS_WITH(find_tolerances(*source, axes(kTwoLevels), {1}, {}),
                    "the run takes no time on this machine");
}
