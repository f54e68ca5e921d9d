#include "replay/threshold_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rubato {
namespace {

constexpr double kSame = 1e-9;  ///< so near to each other, in parts of x, two points are one

/// Where the line through two points has the value; infinity where it does not rise.
double on_line(std::pair<double, double> a, std::pair<double, double> b, double value) {
  if (!(b.second > a.second)) return INFINITY;
  return a.first + (value - a.second) / (b.second - a.second) * (b.first - a.first);
}

}  // namespace

ThresholdSearch::Point ThresholdSearch::above(double target) const {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const auto& point) { return point.second >= target; });
}

bool ThresholdSearch::is_found(double target, Point above) const {
  if (above == known_.end() || above == known_.begin()) return true;
  const Point below = std::prev(above);
  if (above->first - below->first <= kPrecision * above->first) return true;
  const double near = std::min(above->second - target, target - below->second);
  return near <= kPrecision * (target - known_.begin()->second);
}

std::vector<double> ThresholdSearch::next(const std::vector<double>& targets) const {
  std::vector<double> wanted;
  for (const double target : targets) {
    const Point b = above(target);
    if (is_found(target, b)) continue;
    const Point a = std::prev(b);
    const auto look_at = [&](double x) {
      if (x > a->first * (1 + kSame) && x < b->first * (1 - kSame)) wanted.push_back(x);
    };
    look_at(on_line(*a, *b, target));
    if (a != known_.begin()) look_at(on_line(*std::prev(a), *a, target));
    if (std::next(b) != known_.end()) look_at(on_line(*b, *std::next(b), target));
    // Whatever the function does, half of what is left goes.
    look_at(a->first > 0 ? std::sqrt(a->first * b->first) : b->first / 2);
  }
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> asked;
  for (const double x : wanted) {
    if (asked.empty() || x - asked.back() > kPrecision / 10 * x) asked.push_back(x);
  }
  return asked;
}

std::optional<double> ThresholdSearch::reaches(double target) const {
  const Point b = above(target);
  if (b == known_.end()) return {};
  if (b == known_.begin()) return b->first;
  return on_line(*std::prev(b), *b, target);
}

}  // namespace rubato
