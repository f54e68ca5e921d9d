#include "models/statistics/comparison.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "models/statistics/statistics.h"

namespace rubato {
namespace {

using Key = std::pair<std::string, double>;  // operation, bytes

/// The median of each launch, by cell.
std::map<Key, std::vector<double>> medians_of_launches(
    const std::vector<Observation>& observations) {
  std::map<Key, std::map<int, std::vector<double>>> times;
  for (const Observation& o : observations) {
    times[{o.operation, o.bytes}][o.launch].push_back(o.seconds);
  }
  std::map<Key, std::vector<double>> medians;
  for (const auto& [key, launches] : times) {
    for (const auto& [launch, sample] : launches) {
      medians[key].push_back(median(without_outliers(sample)));
    }
  }
  return medians;
}

/// The two-sided p if all of `a` values are below all of `b` others.
double p_when_apart(size_t a, size_t b) {
  std::vector<double> low(a), high(b);
  std::iota(low.begin(), low.end(), 0.);
  std::iota(high.begin(), high.end(), static_cast<double>(a));
  return rank_sum_test(low, high).two_sided;
}

}  // namespace

int Comparison::differing(double level) const {
  return static_cast<int>(
      std::count_if(cells.begin(), cells.end(),
                    [&](const CellComparison& cell) { return cell.test.two_sided <= level; }));
}

int Comparison::with_too_few(double level) const {
  return static_cast<int>(
      std::count_if(cells.begin(), cells.end(),
                    [&](const CellComparison& cell) { return cell.least_p > level; }));
}

Comparison compare(const std::vector<Observation>& a, const std::vector<Observation>& b) {
  const auto of_a = medians_of_launches(a);
  const auto of_b = medians_of_launches(b);
  std::map<std::string, size_t> order;
  for (const Observation& o : a) order.emplace(o.operation, order.size());

  Comparison comparison;
  std::map<std::pair<size_t, size_t>, double> least_p;  // by launches: there are few such pairs
  for (const auto& [key, times] : of_a) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) {
      ++comparison.only_in_a;
      continue;
    }
    CellComparison cell{key.first, key.second, times, other->second, 0, 0, {}, 1, 1};
    cell.median_a = median(cell.a);
    cell.median_b = median(cell.b);
    cell.test = rank_sum_test(cell.a, cell.b);
    cell.welch_p = welch_test(cell.a, cell.b);
    const auto [least, is_new] = least_p.try_emplace({cell.a.size(), cell.b.size()});
    if (is_new) least->second = p_when_apart(cell.a.size(), cell.b.size());
    cell.least_p = least->second;
    // With ties the approximation may fall below the least p that so few launches allow.
    cell.test.two_sided = std::max(cell.test.two_sided, cell.least_p);
    cell.test.less = std::max(cell.test.less, cell.least_p / 2);
    cell.test.greater = std::max(cell.test.greater, cell.least_p / 2);
    if (cell.a.size() + cell.b.size() >
        static_cast<size_t>(comparison.launches_a + comparison.launches_b)) {
      comparison.launches_a = static_cast<int>(cell.a.size());
      comparison.launches_b = static_cast<int>(cell.b.size());
    }
    comparison.cells.push_back(std::move(cell));
  }
  for (const auto& [key, times] : of_b) comparison.only_in_b += of_a.find(key) == of_a.end();
  std::stable_sort(comparison.cells.begin(), comparison.cells.end(),
                   [&](const CellComparison& left, const CellComparison& right) {
                     return order[left.operation] < order[right.operation];
                   });
  return comparison;
}

const char* asterisks(double p) {
  return p <= 0.001 ? "***" : p <= 0.01 ? "**" : p <= 0.05 ? "*" : "";
}

}  // namespace rubato
