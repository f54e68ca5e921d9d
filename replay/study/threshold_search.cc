#include "replay/study/threshold_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr double kSmallestStep = ThresholdSearch::kPrecision / 2;
constexpr double kLeast = 1e-12;  ///< closer to 0 the search stops

/// Where the line through two points reaches the value; infinity if it does not rise.
double on_line(std::pair<double, double> a, std::pair<double, double> b, double value) {
  if (!(b.second > a.second)) return INFINITY;
  return a.first + (value - a.second) / (b.second - a.second) * (b.first - a.first);
}

}  // namespace

ThresholdSearch::Point ThresholdSearch::above(double target) const {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const auto& point) { return point.second >= target; });
}

bool ThresholdSearch::is_found(Point above) const {
  if (above == known_.end() || above == known_.begin()) return true;
  if (above->first < kLeast) return true;
  return above->first - std::prev(above)->first <= kPrecision * above->first;
}

std::vector<double> ThresholdSearch::next(const std::vector<double>& targets) const {
  std::vector<double> wanted;
  for (const double target : targets) {
    const Point b = above(target);
    if (is_found(b)) continue;
    const Point a = std::prev(b);
    // Next to a known point the other side is examined, which ends the search.
    const double first = a->first > 0 ? a->first * (1 + kSmallestStep) : kLeast / 2;
    const double last = b->first * (1 - kSmallestStep);
    const auto look_at = [&](double x) {
      if (x >= a->first && x <= b->first) wanted.push_back(std::clamp(x, first, last));
    };
    look_at(on_line(*a, *b, target));
    if (a != known_.begin()) look_at(on_line(*std::prev(a), *a, target));
    if (std::next(b) != known_.end()) look_at(on_line(*b, *std::next(b), target));
    // For any function, bisection halves the rest.
    look_at(a->first > 0 ? std::sqrt(a->first * b->first) : b->first / 2);
  }
  std::sort(wanted.begin(), wanted.end());
  std::vector<double> asked;
  for (const double x : wanted) {
    if (asked.empty() || x - asked.back() > kSmallestStep / 10 * x) asked.push_back(x);
  }
  return asked;
}

std::optional<double> ThresholdSearch::reaches(double target) const {
  const Point b = above(target);
  if (b == known_.end()) return {};
  if (b == known_.begin()) return b->first;
  return on_line(*std::prev(b), *b, target);
}

void find_thresholds(Study& study, std::vector<ElapsedFunction>& functions) {
  for (;;) {
    std::vector<std::pair<ElapsedFunction*, double>> asked;
    std::vector<Scenario> variants;
    for (ElapsedFunction& function : functions) {
      for (const double x : function.search.next(function.targets)) {
        asked.emplace_back(&function, x);
        variants.push_back(function.at(x));
      }
    }
    if (asked.empty()) return;
    const std::vector<double> elapsed = study.elapsed(variants);
    for (size_t i = 0; i < asked.size(); ++i)
      asked[i].first->search.add(asked[i].second, elapsed[i]);
  }
}

}  // namespace rubato
