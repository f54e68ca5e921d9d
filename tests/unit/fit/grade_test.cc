#include "models/fit/grade.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "models/platform/platform_file.h"
#include "models/platform/uncertainty.h"

using namespace rubato;

TEST_CASE("a quiet calibration has no faults") {
  const Grade grade = grade_calibration({{"noise", "3.7% of the time lost"},
                                         {"messages_lost", "24.3% of the time"},
                                         {"network_halves_differ_by", "0.4%"}});
  CHECK(grade.faults.empty());
  CHECK(grade.error == 0);
}

TEST_CASE("each deficiency is reported and widens predicted intervals") {
  // 20 % lost: what took 0.8 s may take 1 s, a quarter longer. Interrupted: 0.1.
  const Grade grade = grade_calibration({{"noise", "40.0% of the time lost"},
                                         {"messages_lost", "20.0% of the time"},
                                         {"interrupted", "yes"}});
  CHECK(grade.faults == "other programs took 20 % of the time; it was interrupted");
  CHECK(grade.error == Approx(std::hypot(0.25, 0.1)));
}

// As above: a quarter longer.
TEST_CASE("what was measured alone counts alone") {
  for (const char* key : {"noise", "messages_lost"}) {
    const Grade grade = grade_calibration({{key, "20.0% of the time"}});
    CHECK(grade.faults == "other programs took 20 % of the time");
    CHECK(grade.error == Approx(0.25));
  }
}

TEST_CASE("a network that is not explained is as wrong as its worst shift") {
  const Grade grade = grade_calibration({{"network_not_explained", "57 % (shift_2_of_4)"}});
  CHECK(grade.faults ==
        "messages of several nodes at once are up to 57 % (shift_2_of_4) off: state the topology "
        "with network=");
  CHECK(grade.error == Approx(0.57));
}

TEST_CASE("the platform file states the grade, and the model's error with it") {
  Platform platform;
  platform.name = "busy";
  LevelModel level;
  level.transfer = TransferCurve::hockney(1e-6, 1e9);
  platform.levels[static_cast<size_t>(Level::kNetwork)] = level;
  platform.measured["noise"] = "50.0% of the time lost";
  platform.measured["messages_lost"] = "60.0% of the time";
  add_grade(platform, kModelError);
  // As long again: 1. And the model's own share.
  REQUIRE(platform.model_error);
  CHECK(*platform.model_error == Approx(std::hypot(kModelError, 1.0)));
  const Platform read = parse_platform(format_platform(platform, {}, 6), "busy.toml");
  CHECK(read.grade == "other programs took 50 % of the time");
  CHECK(*read.model_error == Approx(*platform.model_error).epsilon(5e-3));  // three digits
  platform.measured.clear();
  add_grade(platform, kModelErrorInSimulator);
  CHECK(platform.grade.empty());
  CHECK(*platform.model_error == kModelErrorInSimulator);
}
