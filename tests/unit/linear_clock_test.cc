#include "calibrate/linear_clock.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("a clock is a line through its points") {
  // The reference shows 5 s more at 10 s, and gains 1 ms each second: 5.002 at 12 s.
  const LinearClock clock = fit_clock({{10, 5}, {11, 5.001}, {12, 5.002}});
  CHECK(clock.drift == Approx(1e-3));
  CHECK(clock.reference(10) == Approx(15));
  CHECK(clock.reference(20) == Approx(25.01));
  CHECK(clock.own(25.01) == Approx(20));
  // Errors of +1, -2, +1 us have no trend and no mean.
  const LinearClock noisy = fit_clock({{10, 5.000001}, {11, 5.000998}, {12, 5.002001}});
  CHECK(noisy.drift == Approx(1e-3));
  CHECK(noisy.reference(11) == Approx(16.001).epsilon(1e-12));
  // One point tells no drift.
  CHECK(fit_clock({{10, 5}}).reference(20) == 25);
}

TEST_CASE("a new offset keeps the drift") {
  const LinearClock moved = LinearClock{0, 1, 1e-3}.through({100, 7});
  CHECK(moved.reference(100) == 107);
  CHECK(moved.reference(101) - moved.reference(100) == Approx(1.001));
}
