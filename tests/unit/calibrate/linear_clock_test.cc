#include "calibrate/clock/linear_clock.h"

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
  // One point gives no drift.
  CHECK(fit_clock({{10, 5}}).reference(20) == 25);
}

TEST_CASE("clocks of a tree are put together") {
  // Mine to the parent's: + 1 s, + 1e-3; the parent's to the reference: + 10 s, + 2e-3. At 100 s of
  // mine the parent shows 100 + 1 + 1e-3 (100 - 50) = 101.05, the reference 101.05 + 10 + 2e-3
  // (101.05 - 51.05) = 111.15; a second of mine is 1.001 x 1.002 of it.
  const LinearClock own{50, 1, 1e-3}, parent{51.05, 10, 2e-3};
  const LinearClock both = over_parent(own, parent);
  CHECK(both.reference(100) == Approx(111.15));
  CHECK(both.reference(101) - both.reference(100) == Approx(1.001 * 1.002));
  CHECK(both.own(111.15) == Approx(100));
}

TEST_CASE("a new offset keeps the drift") {
  const LinearClock moved = LinearClock{0, 1, 1e-3}.through({100, 7});
  CHECK(moved.reference(100) == 107);
  CHECK(moved.reference(101) - moved.reference(100) == Approx(1.001));
}
