#include "calibrate/plan/time_plan.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("parts share the time of a run that is not planned") {
  // 20 s in four parts, 28 s at most: 8 s to spare.
  TimePlan plan(20, 28);
  CHECK(plan.left(0) == 20);
  CHECK(plan.begin(6, 0) == 12);  // as long again, no longer
  CHECK(plan.left(2) == 18);      // 14 behind it, 4 of its own
  CHECK(plan.left(8) == 14);      // it goes on
  // It took 10 s instead of 6: 28 - 10 - 14 = 4 s to spare.
  CHECK(plan.begin(6, 10) == 10);
  // And this one all 10 of its own: 8 s are planned, and 8 are there.
  CHECK(plan.begin(4, 20) == 4);
  // Something else took 3 s more: nothing to spare, but what is planned is done.
  CHECK(plan.begin(4, 27) == 4);
  CHECK(plan.left(29) == 2);
  CHECK(plan.left(40) == 0);
  // An unplanned part.
  CHECK(plan.begin(1, 40) == 1);
  CHECK(plan.left(40) == 1);
}

TEST_CASE("a quick run is to end within 30 s") {
  CHECK(time_limit(20, true) == 24);
  CHECK(time_limit(30, true) == 24);
  CHECK(quick_scale(18) == 1);
  CHECK(quick_scale(36) == 0.5);  // two levels and many patterns: three quarters of 24 s
  CHECK(time_limit(300, false) == 400);
  CHECK(time_limit(140, false) == 290);
}

TEST_CASE("a run takes the requested time") {
  // 20 s by default and 12 s requested: three quarters of these, 9 s, are planned.
  CHECK(scale_for(12, 20) == Approx(0.45));
  const Pace pace{true, false, scale_for(12, 20)};
  CHECK(pace.seconds(2, 10) == Approx(0.9));
  CHECK(Pace{false, false, 2}.seconds(2, 10) == 20);
  CHECK(scale_for(12, 0) == 1);  // nothing is planned
}

TEST_CASE("the remaining time is reported roughly") {
  CHECK(progress_text("node: cycle 3", 134) == "node: cycle 3; about 2 min left");
  CHECK(progress_text("node: cycle 3", 119.9) == "node: cycle 3; about 120 s left");
  CHECK(progress_text("node: cycle 3", 33) == "node: cycle 3; about 35 s left");
  CHECK(progress_text("node: cycle 3", 4.9) == "node: cycle 3; a few s left");
  CHECK(progress_text("node: cycle 3", 0) == "node: cycle 3");
}
