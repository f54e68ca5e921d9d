#include "calibrate/clock/noise.h"

#include <catch2/catch.hpp>

using namespace rubato;

TEST_CASE("noise of a fixed amount of work") {
  // 1, 1, 1 and 5 ms: 2 ms in the mean, so half of the time is lost.
  const NoiseSummary noise = summarise_noise({1e-3, 1e-3, 5e-3, 1e-3});
  CHECK(noise.least == 1e-3);
  CHECK(noise.most == 5e-3);
  CHECK(noise.mean == Approx(2e-3));
  CHECK(noise.lost == Approx(0.5));
  CHECK(summarise_noise({}).lost == 0);
}

TEST_CASE("the rank that lost most represents the noise, with the longest quantum of all") {
  // Of 2, 2 and 8 ms half is lost: 1 - 2 / 4. Of 1 and 9 ms four fifths: 1 - 1 / 5.
  const NoiseSummary quiet =
      summarise_noise({1e-3, 1e-3, 20e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3,
                       1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3});
  CHECK(noise_text({summarise_noise({2e-3, 2e-3, 8e-3}), summarise_noise({1e-3, 9e-3}), quiet}) ==
        "80.00% of the time lost; work of 1.000ms took 5.000ms in the mean, 20.000ms at most");
  CHECK(noise_text({}).empty());
}
