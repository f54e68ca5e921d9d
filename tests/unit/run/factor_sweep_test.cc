// Curves and maps of the elapsed time over parameters of a machine, and the range in which they
// matter. One tick is one nanosecond.

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/base/error.h"
#include "replay/study/run_replay.h"
#include "replay/study/sweep.h"
#include "tests/unit/contended.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tests/unit/toy.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/report/sweep_report.h"
#include "tools/studies/sweep_axes.h"

using namespace rubato;

namespace {

// Rank 1 computes 2000; the message of rank 0, which computes 1000, arrives at 1000 + L + n / B.
const char* const kInTheShade = R"(
  0: 0..0 init
  1: 0..0 init
  0: 1000..1001 send 1 800B
  0: 1010 end
  1: 2000..2001 recv 0 800B
  1: 2001 end
)";

Sweep sweep_of(const std::string& trace, const Scenario& scenario, const std::string& text) {
  const auto source = parse_text_trace(trace);
  const std::vector<Sweep> sweeps = run_sweeps(*source, {scenario}, parse_sweep(text), {});
  REQUIRE(sweeps.size() == 1);
  return sweeps[0];
}

}  // namespace

// L = 100, n / B = 80 (10 GB/s). With latency x f, T = max(2000, 1080 + 100 f): flat at 2000 up to
// 9.2; 1 % more, 2020, at 9.4, and 10 % more, 2200, at 11.2. At 100, 11080.
TEST_CASE("a curve is flat while compute hides the message") {
  const Scenario machine = parse_scenario("bandela:latency=100ns,bandwidth=10GB/s");
  const Sweep sweep = sweep_of(kInTheShade, machine, "latency=0.1..100/7");
  REQUIRE(sweep.elapsed.size() == 1);
  REQUIRE(sweep.elapsed[0].size() == 7);
  CHECK(sweep.unchanged * 1e9 == Approx(2000));
  for (int point = 0; point < 7; ++point) {
    const double factor = 0.1 * std::pow(10, point / 2.0);  // 0.1, 0.316, 1, ... 100
    CHECK(sweep.axes[0].factor(point) == Approx(factor));
    CHECK(sweep.elapsed[0][point] * 1e9 == Approx(std::max(2000., 1080 + 100 * factor)));
  }
  CHECK(sweep.crossovers[0].factors[0].value() == Approx(9.4).epsilon(1e-4));
  CHECK(sweep.crossovers[0].factors[1].value() == Approx(11.2).epsilon(1e-4));
  CHECK(sweep.crossovers[0].worst * 1e9 == Approx(11080));
  CHECK(sweep_findings(sweep)[0] ==
        "latency matters above 9.4 ×: there the run takes 1 % longer than at its best, and 10 % "
        "above 11.2 ×.");
  CHECK(sweep_text(sweep, 100).find("5.540×") != std::string::npos);  // 11080 / 2000
}

// Bandwidth x f: T = max(2000, 1100 + 80 / f). 2020 at 80 / 920 = 0.08696, 2200 at 80 / 1100.
TEST_CASE("of bandwidth and processors less is worse") {
  const Scenario machine = parse_scenario("bandela:latency=100ns,bandwidth=10GB/s");
  const Sweep bandwidth = sweep_of(kInTheShade, machine, "bandwidth=0.01..10");
  CHECK(bandwidth.elapsed[0].size() == 31);
  CHECK(bandwidth.crossovers[0].factors[0].value() == Approx(80. / 920).epsilon(1e-4));
  CHECK(bandwidth.crossovers[0].factors[1].value() == Approx(80. / 1100).epsilon(1e-4));
  CHECK(
      sweep_findings(bandwidth)[0] ==
      "bandwidth matters below 0.087 ×: there the run takes 1 % longer than at its best, and 10 % "
      "below 0.0727 ×.");
  // T = max(2000 / f, 1000 / f + 180): 2000 at 1, and at 4 500, as 250 + 180 is less.
  const Sweep cpu = sweep_of(kInTheShade, machine, "cpu=1..4");
  CHECK(sweep_findings(cpu)[0] ==
        "cpu matters in the whole range from 1 × to 4 ×: the run takes 4 × as long.");
  // 1080 + 100 f stays below 2000.
  const Sweep flat = sweep_of(kInTheShade, machine, "latency=0.1..9");
  CHECK_FALSE(flat.crossovers[0].factors[0].has_value());
  CHECK(sweep_findings(flat)[0] ==
        "latency hardly matters from 0.1 × to 9 ×: the run takes at most 0 % longer.");
}

// T = max(2000, 1000 + 100 f + 80 / g) at each point; the crossovers are those of the axes alone.
TEST_CASE("a map has a row for each factor of the second number") {
  const Scenario machine = parse_scenario("bandela:latency=100ns,bandwidth=10GB/s");
  const Sweep sweep = sweep_of(kInTheShade, machine, "latency=1..100/3,bandwidth=0.01..1/5");
  REQUIRE(sweep.elapsed.size() == 5);
  for (int row = 0; row < 5; ++row) {
    REQUIRE(sweep.elapsed[row].size() == 3);
    for (int point = 0; point < 3; ++point) {
      const double f = sweep.axes[0].factor(point), g = sweep.axes[1].factor(row);
      CHECK(sweep.elapsed[row][point] * 1e9 == Approx(std::max(2000., 1000 + 100 * f + 80 / g)));
    }
  }
  CHECK(sweep.crossovers[0].factors[0].value() == Approx(9.4).epsilon(1e-4));
  CHECK(sweep.crossovers[1].factors[0].value() == Approx(80. / 920).epsilon(1e-4));
  // latency x 100, bandwidth x 0.01: 1000 + 10000 + 8000 = 19000, 9.5 times 2000.
  CHECK(sweep_text(sweep, 100).find("9.500×") != std::string::npos);
}

// Rank 1 waits from 0 on for a message that takes 1000 f, known to 10 %: T = 1000 + 1000 f. An
// interval is the root of the sum of squares (intervals_test.cc) of 1.96 x 10 % of the
// latency, 1.96 x 1 % of 1000 of compute, and 1.96 x 17 % of the mean time in MPI, half of rank 1's
// T.
TEST_CASE("a curve has intervals where the platform states its errors") {
  const char* const trace = R"(
    nodes 0 1
    0: 0..0 init
    1: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1001 end
    1: 0..3000 recv 0 8B
    1: 3000 end
  )";
  Scenario machine;
  machine.name = "network";
  LevelModel level;
  level.transfer = TransferCurve({Segment{0, 1000e-9, 0, 0.1}});
  machine.platform.level(Level::kNetwork) = level;
  const auto source = parse_text_trace(trace);
  const RecordingOverhead none{};
  const Sweep sweep = run_sweeps(*source, {machine}, parse_sweep("latency=1..100/3"), {}, &none)[0];
  REQUIRE(sweep.intervals.size() == 3);
  for (int point = 0; point < 3; ++point) {
    const double factor = std::pow(10, point), elapsed = 1000 + 1000 * factor;
    const double half = std::hypot(196 * factor, 19.6, 1.96 * 0.17 * elapsed / 2);
    INFO("factor " << factor);
    CHECK(sweep.elapsed[0][point] * 1e9 == Approx(elapsed));
    CHECK(sweep.intervals[point].value().low * 1e9 == Approx(std::max(0., elapsed - half)));
    CHECK(sweep.intervals[point].value().high * 1e9 == Approx(elapsed + half));
  }
  const auto json = sweeps_to_json({sweep});
  CHECK(json[0]["intervals"][2]["high"].get<double>() == sweep.intervals[2]->high);
  CHECK(sweeps_to_json(run_sweeps(*source, {machine}, sweep.axes, {}))[0]["intervals"].is_null());
}

TEST_CASE("sweeps are in all reports") {
  const auto source = parse_text_trace(kInTheShade);
  const std::vector<Scenario> scenarios = {parse_scenario("measured"),
                                           parse_scenario("bandela:latency=100ns,name=machine B"),
                                           parse_scenario("perfect")};
  const auto sweeps = run_sweeps(*source, scenarios, parse_sweep("latency=1..100/3"), {});
  REQUIRE(sweeps.size() == 1);  // of the one that can be swept
  const Results results = run_replay(*source, scenarios, {});
  const auto json = nlohmann::json::parse(report_json({results, {}, sweeps}));
  REQUIRE(json["sweeps"].size() == 1);
  CHECK(json["sweeps"][0]["scenario"] == "machine B");
  CHECK(json["sweeps"][0]["axes"][0]["factors"][2].get<double>() == 100);
  // 1000 + 100 f, and 2000 at least; 10 % more is 2200.
  CHECK(json["sweeps"][0]["elapsed"][0][2].get<double>() == Approx(11000e-9));
  CHECK(json["sweeps"][0]["axes"][0]["crossovers"][1]["factor"].get<double>() == Approx(12));
  const std::string csv = report_csv({results, {}, sweeps});
  CHECK(csv.find("machine B,,sweep,latency*100,,1.1") != std::string::npos);
  CHECK(report_text({results, {}, sweeps}).find("latency matters above 10.2 ×") !=
        std::string::npos);
}

// With two points there is nothing between them; the search still looks: T = max(2000, 1080 + 100
// f).
TEST_CASE("crossovers do not depend on the points of a curve") {
  const Scenario machine = parse_scenario("bandela:latency=100ns,bandwidth=10GB/s");
  const Sweep sweep = sweep_of(kInTheShade, machine, "latency=1..100/2");
  CHECK(sweep.crossovers[0].factors[0].value() == Approx(9.4).epsilon(1e-4));
  CHECK(sweep_findings(sweep)[0].starts_with("latency matters above 9.4 ×"));
}

TEST_CASE("crossovers are right to a thousandth, whatever the program") {
  using namespace rubato::property;
  for (unsigned seed = 1; seed <= seeds(10); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    const std::string trace = as_text(program, recorded);
    const Scenario machine = parse_scenario("loggps:L=700ns,o=30ns,g=50ns,G=0.5ns");
    const Sweep sweep = sweep_of(trace, machine, "latency=0.1..1000,bandwidth=0.001..10");
    const auto elapsed = [&](const Scenario& scenario) {
      return replay(trace, {scenario}).scenarios[0].elapsed;
    };
    INFO("seed " << seed);
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto at = [&](double factor) {
        return elapsed(changed(machine, change_by(sweep.axes[axis].key, '*', factor)));
      };
      const double worse = axis == 0 ? 1.001 : 1 / 1.001;
      for (size_t i = 0; i < 2; ++i) {
        INFO("axis " << axis);
        const std::optional<double>& factor = sweep.crossovers[axis].factors[i];
        const double target = sweep.crossovers[axis].best * (1 + kCrossoverPercents[i] / 100);
        if (!factor) continue;
        CHECK(at(*factor / worse) <= target);
        CHECK(at(*factor * worse) >= target);
      }
    }
    // And the points are the scenarios that they stand for.
    const Scenario row = changed(machine, change_by("bandwidth", '*', sweep.axes[1].factor(3)));
    CHECK(sweep.elapsed[3][12] == Approx(elapsed(changed(row, change_by("latency", '*', 1000)))));
  }
}

// Two pairs share, T = 100 f + 2000 (contention_test.cc).
TEST_CASE("with contention a sweep is a replay for each point") {
  const Sweep sweep = sweep_of(
      "nodes 0 0 1 1\n0: 0..0 send 2 1000B\n1: 0..0 send 3 1000B\n2: 0..10 recv 0 1000B\n"
      "3: 0..10 recv 1 1000B\n",
      degraded(1), "latency=1..100/3");
  CHECK(sweep.elapsed[0][2] * 1e9 == Approx(12000));
  CHECK(sweep.crossovers[0].factors[0].value() == Approx(1.21).epsilon(1e-4));
}

TEST_CASE("what is no sweep is refused") {
  const auto refused = [](const std::string& text, const std::string& why) {
    INFO(text);
    CHECK_THROWS_WITH(parse_sweep(text), Catch::Contains(why));
  };
  refused("latency", "write KEY=LOW..HIGH");
  refused("latency=1", "write KEY=LOW..HIGH");
  refused("latency=0..2", "factors above 0");
  refused("latency=1..", "factors above 0");
  refused("latency=2..1", "lower one");
  refused("latncy=1..2", "did you mean 'latency'");
  refused("ppn=1..2", "'ppn' is no number to sweep");
  refused("latency=-1..2", "factors above 0");
  refused("latency=2..2", "lower one");
  refused("latency=1e-7..2", "from a millionth to a million");
  refused("latency=1..2,", "write KEY=LOW..HIGH");
  refused("latency=1..2/1", "N points, from 2 to 1000");
  refused("latency=1..2/2.5", "N points, from 2 to 1000");
  refused("latency=1..2/200,cpu=1..2/200", "at most 10000");
  refused("latency=1..2,latency=1..2", "two different");
  refused("latency=1..2,cpu=1..2,bandwidth=1..2", "at most two");
  CHECK(parse_sweep("latency=1..2")[0].points == 31);
  CHECK(parse_sweep("latency=1..2/9,network.bandwidth=1..2")[1].points == 13);
}
