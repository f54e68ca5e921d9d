#include "calibrate/plan/quick_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "models/base/units.h"

namespace rubato {

void VisitCost::add(size_t bytes, double seconds) {
  const auto above = seconds_.upper_bound(bytes);
  if (above != seconds_.begin()) seconds = std::max(seconds, std::prev(above)->second);
  seconds_[bytes] = seconds;
}

double VisitCost::operator()(size_t bytes) const {
  auto right = seconds_.lower_bound(bytes);
  if (right == seconds_.begin()) return right->second;
  if (right == seconds_.end()) --right;
  if (right == seconds_.begin()) return right->second;
  const auto left = std::prev(right);
  const double slope =
      (right->second - left->second) / static_cast<double>(right->first - left->first);
  return left->second + slope * static_cast<double>(bytes - left->first);
}

std::set<size_t> affordable_lengths(const std::set<size_t>& wanted, const std::set<size_t>& needed,
                                    const VisitCost& cost, int visits, double seconds) {
  constexpr size_t kLeast = 3;
  double planned = 0;
  for (const size_t bytes : wanted) planned += visits * cost(bytes);
  std::set<size_t> left = wanted;
  const auto leave_out = [&](size_t bytes) {
    planned -= visits * cost(bytes);
    left.erase(bytes);
  };
  if (planned > seconds) {
    for (const size_t bytes : wanted) {
      if (!std::has_single_bit(bytes) && bytes != 0 && !needed.count(bytes)) leave_out(bytes);
    }
  }
  while (planned > seconds && left.size() > kLeast) {
    const auto longest = std::find_if(left.rbegin(), left.rend(),
                                      [&](size_t bytes) { return !needed.count(bytes); });
    leave_out(longest == left.rend() ? *left.rbegin() : *longest);
  }
  return left;
}

double clock_seconds(int nodes, double round_trip, ClockMethod method) {
  if (nodes < 2) return 0;
  const double point = kClockExchanges * round_trip, of_all = (nodes - 1) * point;
  if (method == ClockMethod::kJk) return kClockPoints * (kClockPointEvery + of_all);
  const double tree = std::ceil(std::log2(nodes)) * kClockPoints * (kClockPointEvery + point);
  return method == ClockMethod::kHca ? tree + of_all : tree;
}

double round_trip_of_barrier(double seconds, int ranks) {
  return 2 * seconds / std::ceil(std::log2(ranks));
}

std::string left_out_text(const std::string& what, const std::set<size_t>& wanted,
                          const std::set<size_t>& measured) {
  if (measured.size() >= wanted.size() || measured.empty()) return "";
  return what + ": " + std::to_string(measured.size()) + " of " + std::to_string(wanted.size()) +
         " lengths, the longest " + format_bytes(static_cast<double>(*measured.rbegin()));
}

}  // namespace rubato
