#include "tools/calibration/platform_fit.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace rubato;

TEST_CASE("a curve with an uncertainty of 50 % is reported") {
  SegmentedFit fit;
  CHECK(uncertain_curve(fit).empty());
  fit.segments = {{0, 1e-6, 1e-9, 0.03}, {4096, 2e-6, 1e-9, 0.49}};
  CHECK(uncertain_curve(fit).empty());
  const double none = std::numeric_limits<double>::quiet_NaN();
  fit.segments = {{0, 1e-6, 1e-9, none}, {4096, 2e-6, 1e-9, 8.3}, {8192, 2e-6, 1e-9, none}};
  CHECK(uncertain_curve(fit).find("Its times from 4KiB on have an uncertainty of 830 %") == 0);
}
