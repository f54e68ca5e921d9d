#include "models/statistics/rank_sum.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using rubato::rank_sum_test;
using rubato::RankSum;

namespace {

/// Samples of n and m values without ties whose U is `u`: b is 1..m, and as many values of a as it
/// takes lie above all of it.
std::pair<std::vector<double>, std::vector<double>> samples_with(int n, int m, int u) {
  std::vector<double> a, b;
  for (int j = 1; j <= m; ++j) b.push_back(j);
  for (int i = 0; i < n; ++i) {
    const int above = std::min(m, u);  // this value of a is larger than so many of b
    u -= above;
    a.push_back(above + 0.5 + i * 1e-3);
  }
  return {a, b};
}

double two_sided(int n, int m, int u) {
  const auto [a, b] = samples_with(n, m, u);
  const RankSum test = rank_sum_test(a, b);
  REQUIRE(test.exact);
  REQUIRE(test.u == u);
  return test.two_sided;
}

/// The probabilities by their definition: every choice of ranks for a.
RankSum by_enumeration(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count_u = [](const std::vector<double>& x, const std::vector<double>& y) {
    double u = 0;
    for (const double p : x) {
      for (const double q : y) u += p > q ? 1 : p == q ? 0.5 : 0;
    }
    return u;
  };
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  RankSum test;
  test.u = count_u(a, b);
  double choices = 0, less = 0, greater = 0;
  std::vector<bool> of_a(all.size(), false);
  std::fill(of_a.begin(), of_a.begin() + static_cast<ptrdiff_t>(a.size()), true);
  do {
    std::vector<double> x, y;
    for (size_t i = 0; i < all.size(); ++i) (of_a[i] ? x : y).push_back(all[i]);
    const double u = count_u(x, y);
    ++choices;
    less += u <= test.u;
    greater += u >= test.u;
  } while (std::prev_permutation(of_a.begin(), of_a.end()));
  test.less = less / choices;
  test.greater = greater / choices;
  test.two_sided = std::min(1.0, 2 * std::min(test.less, test.greater));
  return test;
}

}  // namespace

TEST_CASE("rank sums of very small samples are counted by hand") {
  // One of the (6 choose 3) = 20 arrangements is as extreme as this.
  const RankSum apart = rank_sum_test({1, 2, 3}, {4, 5, 6});
  CHECK(apart.exact);
  CHECK(apart.u == 0);
  CHECK(apart.less == Approx(1. / 20));
  CHECK(apart.greater == 1);
  CHECK(apart.two_sided == Approx(2. / 20));
  // 3 above 2 below: (1, 4) against (2, 3, 5): 4 > 2, 4 > 3, so U = 2. Arrangements of two among
  // five by U: 0: 1, 1: 1, 2: 2, ... of 10: U <= 2 in 4, U >= 2 in 8.
  const RankSum mixed = rank_sum_test({1, 4}, {2, 3, 5});
  CHECK(mixed.u == 2);
  CHECK(mixed.less == Approx(0.4));
  CHECK(mixed.greater == Approx(0.8));
  CHECK(mixed.two_sided == Approx(0.8));
  CHECK(rank_sum_test({1}, {2}).two_sided == 1);
}

TEST_CASE("counting agrees with enumerating all arrangements") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int n = 1; n <= 6; ++n) {
    for (int m = 1; m <= 6; ++m) {
      std::vector<double> a(n), b(m);
      for (double& value : a) value = uniform(random);
      for (double& value : b) value = uniform(random) + 0.2;
      const RankSum expected = by_enumeration(a, b);
      const RankSum test = rank_sum_test(a, b);
      CAPTURE(n, m);
      CHECK(test.exact);
      CHECK(test.u == expected.u);
      CHECK(test.less == Approx(expected.less));
      CHECK(test.greater == Approx(expected.greater));
      CHECK(test.two_sided == Approx(expected.two_sided));
    }
  }
}

TEST_CASE("critical values are those of the printed tables of Mann and Whitney's U") {
  // The largest U that is significant at 0.05, two-sided: 2 for 5 and 5, 17 for 8 and 10, 23 for 10
  // and 10, 127 for 20 and 20; at 0.01: 16 for 10 and 10, 105 for 20 and 20.
  const auto is_critical = [](int n, int m, int u, double level) {
    return two_sided(n, m, u) <= level && two_sided(n, m, u + 1) > level;
  };
  CHECK(is_critical(5, 5, 2, 0.05));
  CHECK(is_critical(8, 10, 17, 0.05));
  CHECK(is_critical(10, 8, 17, 0.05));
  CHECK(is_critical(10, 10, 23, 0.05));
  CHECK(is_critical(20, 20, 127, 0.05));
  CHECK(is_critical(10, 10, 16, 0.01));
  CHECK(is_critical(20, 20, 105, 0.01));
}

TEST_CASE("counts stay exact where they nearly overflow") {
  // 33 and 33 values apart: 2 of (66 choose 33) = 7219428434016265800 arrangements.
  CHECK(two_sided(33, 33, 0) == Approx(2 / 7219428434016265800.).epsilon(1e-12));
  // In the middle U <= (n m - 1) / 2 holds for exactly half of them: n m = 1089 is odd.
  const auto [a, b] = samples_with(33, 33, 544);
  CHECK(rank_sum_test(a, b).less == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("with ties, and for many values, the normal approximation takes over") {
  // a = {1, 2, 2, 3}, b = {2, 3, 4, 5}. U: 1 beats none; each 2 ties with one: 0.5 twice; 3 beats
  // the 2 and ties with the 3: 1.5. U = 2.5. Ties: three 2s (24) and two 3s (6), 30 in all.
  // variance = 16 / 12 * (9 - 30 / 56) = 11.2857, deviation 3.35942;
  // less: (2.5 - 8 + 0.5) / 3.35942 = -1.48835; greater: (2.5 - 8 - 0.5) / 3.35942 = -1.78602.
  const RankSum tied = rank_sum_test({1, 2, 2, 3}, {2, 3, 4, 5});
  CHECK(!tied.exact);
  CHECK(tied.u == 2.5);
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.)) / 2; };
  CHECK(tied.less == Approx(below(-1.48835)).epsilon(1e-4));
  CHECK(tied.greater == Approx(below(1.78602)).epsilon(1e-4));
  CHECK(tied.two_sided == Approx(2 * below(-1.48835)).epsilon(1e-4));
  // Nothing but ties: no evidence at all.
  CHECK(rank_sum_test({1, 1, 1}, {1, 1, 1, 1}).two_sided == 1);

  // Beyond 66 values; the approximation meets the exact figure at 33 and 33, U = 390, within 2 %
  // (3.5 to 4 of the deviations sqrt(33 * 33 * 67 / 12) = 78 are not reached: (390 - 544.5) / 78 =
  // -1.98).
  const auto [a, b] = samples_with(33, 33, 390);
  CHECK(two_sided(33, 33, 390) == Approx(2 * below((390 - 544.5 + 0.5) / 77.976)).epsilon(0.02));
  const auto [c, d] = samples_with(34, 33, 390);
  CHECK(!rank_sum_test(c, d).exact);
}
