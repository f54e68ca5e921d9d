// Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
// the other", Annals of Mathematical Statistics 18, 1947.
//
// If all n + m values come from one distribution, each of the (n + m choose n) ways to choose which
// ranks are those of `a` is as likely as another. The number of ways that give U = u is the
// coefficient of q^u in the Gaussian binomial
//
//   product for i = 1..m of (1 - q^(n+i)) / (1 - q^i),
//
// a polynomial of degree n m. Multiplying and dividing by these factors takes only sums and
// differences of coefficients; in unsigned 64-bit arithmetic they are exact as long as the result
// is less than 2^64, whatever overflows on the way.
//
// With ties the average rank counts and U is approximately normal, with mean n m / 2 and variance
//
//   n m / 12 * (N + 1 - sum over groups of t equal values of (t^3 - t) / (N (N - 1))),   N = n + m.
#include "models/statistics/rank_sum.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

// (66 choose 33) = 7.2e18 is the last of its kind below 2^64 = 1.8e19 with an even N.
constexpr size_t kMostCounted = 66;

struct Ranking {
  double u = 0;
  double tie_sum = 0;  ///< of t^3 - t
};

Ranking rank(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, bool>> all;  // value, belongs to a
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  Ranking ranking;
  double smaller_of_b = 0;
  for (size_t first = 0; first < all.size();) {
    size_t end = first;
    double of_a = 0;
    for (; end < all.size() && all[end].first == all[first].first; ++end) of_a += all[end].second;
    const double equal = static_cast<double>(end - first);
    const double of_b = equal - of_a;
    ranking.u += of_a * (smaller_of_b + of_b / 2);
    ranking.tie_sum += equal * equal * equal - equal;
    smaller_of_b += of_b;
    first = end;
  }
  return ranking;
}

/// The number of ways in which U becomes 0, 1, ... n * m.
std::vector<uint64_t> ways(size_t n, size_t m) {
  std::vector<uint64_t> count(n * m + 1, 0);
  count[0] = 1;
  for (size_t i = 1; i <= m; ++i) {
    for (size_t u = count.size(); u-- > n + i;) count[u] -= count[u - n - i];
    for (size_t u = i; u < count.size(); ++u) count[u] += count[u - i];
  }
  return count;
}

/// The probabilities of U <= u and of U >= u.
std::pair<double, double> counted(size_t n, size_t m, double u) {
  const std::vector<uint64_t> count = ways(n, m);
  double all = 0;
  double below = 0;
  double above = 0;
  for (size_t i = 0; i < count.size(); ++i) {
    const double number = static_cast<double>(count[i]);
    all += number;
    if (static_cast<double>(i) <= u) below += number;
    if (static_cast<double>(i) >= u) above += number;
  }
  return {below / all, above / all};
}

double normal_below(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

/// The same by the normal approximation.
std::pair<double, double> approximated(double n, double m, const Ranking& ranking) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ranking.tie_sum / (all * (all - 1)));
  if (!(variance > 1e-9 * n * m)) return {1, 1};  // all values are equal
  const double deviation = std::sqrt(variance);
  const double beyond = ranking.u - n * m / 2;
  return {normal_below((beyond + 0.5) / deviation), normal_below(-(beyond - 0.5) / deviation)};
}

}  // namespace

RankSum rank_sum_test(const std::vector<double>& a, const std::vector<double>& b) {
  assert(!a.empty() && !b.empty());
  const Ranking ranking = rank(a, b);
  RankSum test;
  test.u = ranking.u;
  test.exact = ranking.tie_sum == 0 && a.size() + b.size() <= kMostCounted;
  std::tie(test.less, test.greater) =
      test.exact
          ? counted(a.size(), b.size(), ranking.u)
          : approximated(static_cast<double>(a.size()), static_cast<double>(b.size()), ranking);
  test.two_sided = std::min(1.0, 2 * std::min(test.less, test.greater));
  return test;
}

}  // namespace rubato
