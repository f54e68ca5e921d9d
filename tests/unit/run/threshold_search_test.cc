// Where a function of straight pieces reaches a value, and in how many looks.

#include "replay/study/threshold_search.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

using rubato::ThresholdSearch;

namespace {

struct Found {
  std::optional<double> x;
  size_t looks = 0;
  int rounds = 0;
};

/// From points at 0 and at powers of ten.
Found search(const std::function<double(double)>& f, double target) {
  ThresholdSearch search;
  search.add(0, f(0));
  for (int power = -2; power <= 6; ++power) search.add(std::pow(10, power), f(std::pow(10, power)));
  Found found;
  for (auto next = search.next({target}); !next.empty(); next = search.next({target})) {
    for (const double x : next) search.add(x, f(x));
    found.looks += next.size();
    ++found.rounds;
    REQUIRE(found.rounds < 50);
  }
  found.x = search.reaches(target);
  return found;
}

}  // namespace

// 100 up to x = 7, then 10 more each: 101 at 7.1, between the points 1 and 10. The line back
// through 10 (130) and 100 (1030) meets 101 at 10 - 29 / 10 = 7.1: it is there at the first look,
// and not yet just below at the second.
TEST_CASE("a bend in the bracket is found from beyond it") {
  const Found found = search([](double x) { return 100 + 10 * std::max(0.0, x - 7); }, 101);
  CHECK(found.x.value() == Approx(7.1).epsilon(1e-9));
  CHECK(found.rounds == 2);
  CHECK(found.looks <= 6);
}

// 100 + x up to 3, then steeper, 103 + 5 (x - 3): 102 at 2, on the line from 0.1 through 1.
TEST_CASE("a bend beyond the threshold does not matter") {
  const Found found = search([](double x) { return 100 + x + 4 * std::max(0.0, x - 3); }, 102);
  CHECK(found.x.value() == Approx(2).epsilon(1e-9));
  CHECK(found.rounds == 2);
}

// Bends at 2, 4 and 6, slopes 1, 2, 4, 8. f(4) = 100 + 2 + 4 = 106, so 110 is at 5.
TEST_CASE("many bends take some more rounds") {
  const Found found = search(
      [](double x) {
        return 100 + x + std::max(0.0, x - 2) + 2 * std::max(0.0, x - 4) + 4 * std::max(0.0, x - 6);
      },
      110);
  CHECK(found.x.value() == Approx(5).epsilon(2e-4));
  CHECK(found.rounds <= 4);
}

TEST_CASE("a jump is found by halving") {
  const Found found = search([](double x) { return x < 300 ? 100 : 150; }, 101);
  CHECK(found.x.value() == Approx(300).epsilon(ThresholdSearch::kPrecision));
}

// A millionth below 101 from 2 on, 50 steeper from 80 on: 101 at 80 + 1e-6 / 50. To be near to a
// value is not to be at its place.
TEST_CASE("a flat piece just below the value is passed") {
  const Found found = search(
      [](double x) {
        return x < 2 ? 100 + x * 0.4999995 : 101 - 1e-6 + 50 * std::max(0.0, x - 80);
      },
      101);
  CHECK(found.x.value() == Approx(80).epsilon(ThresholdSearch::kPrecision));
  CHECK(found.rounds <= 16);
}

TEST_CASE("unreachable thresholds are not searched, nor immediate ones") {
  CHECK_FALSE(search([](double) { return 100; }, 101).x.has_value());
  CHECK(search([](double) { return 100; }, 101).looks == 0);
  CHECK(search([](double x) { return 100 + x; }, 100).x.value() == 0);
}
