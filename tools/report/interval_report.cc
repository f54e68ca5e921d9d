#include "tools/report/interval_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "tools/format/numbers.h"

namespace rubato {
namespace {

constexpr size_t kGroupsShown = 4;

std::optional<ElapsedInterval> interval_or_recording(const Roles& roles,
                                                     const ScenarioResult& scenario,
                                                     const ElapsedInterval* interval) {
  if (!scenario.deadlock.empty()) return {};
  if (interval) return *interval;
  if (&scenario != roles.measured) return {};
  ElapsedInterval exact{scenario.elapsed, scenario.elapsed, ""};
  exact.elapsed = scenario.elapsed;
  return exact;
}

}  // namespace

const ElapsedInterval* interval_of(const Intervals& intervals, size_t number) {
  return number < intervals.size() && intervals[number] ? &*intervals[number] : nullptr;
}

std::string show_interval(const Intervals& intervals, size_t number, const TimeUnit& unit) {
  const ElapsedInterval* interval = interval_of(intervals, number);
  if (!interval) return "";
  const double half = (interval->high - interval->low) / 2 * unit.scale;
  TimeUnit brief = unit;
  if (half > 0) {
    const int digits = static_cast<int>(std::ceil(-std::log10(half)));
    brief.decimals = std::clamp(digits, 0, unit.decimals);
  }
  return fmt::format(" ({}–{})", brief.show(interval->low), brief.show(interval->high));
}

std::optional<double> half_of_ratio(const Roles& roles, const Intervals& intervals, size_t number) {
  const std::vector<ScenarioResult>& scenarios = roles.results->scenarios;
  const auto reference = static_cast<size_t>(roles.reference - scenarios.data());
  const ElapsedInterval* const own = interval_of(intervals, number);
  const ElapsedInterval* const others = interval_of(intervals, reference);
  if (number == reference || (!own && !others)) return {};
  const auto a = interval_or_recording(roles, scenarios[number], own);
  const auto b = interval_or_recording(roles, scenarios[reference], others);
  if (!a || !b || !(a->elapsed > 0) || !(b->elapsed > 0)) return {};
  return half_of_ratio(*a, *b);
}

std::vector<std::string> not_told_apart(const Roles& roles, const Intervals& intervals) {
  const std::vector<ScenarioResult>& scenarios = roles.results->scenarios;
  const auto overlap = [&](size_t i, size_t j) {
    const ElapsedInterval *of_a = interval_of(intervals, i), *of_b = interval_of(intervals, j);
    const auto a = interval_or_recording(roles, scenarios[i], of_a);
    const auto b = interval_or_recording(roles, scenarios[j], of_b);
    if (!a || !b || (!of_a && !of_b) || !(a->elapsed > 0 && b->elapsed > 0)) return false;
    return std::abs(std::log(a->elapsed / b->elapsed)) <= half_of_ratio(*a, *b);
  };
  // Groups in which each overlaps with each, so that every pair is in one.
  std::set<std::pair<size_t, size_t>> said;
  std::vector<std::string> lines;
  size_t more = 0;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    for (size_t j = i + 1; j < scenarios.size(); ++j) {
      if (said.count({i, j}) || !overlap(i, j)) continue;
      std::vector<size_t> group = {i, j};
      for (size_t k = j + 1; k < scenarios.size(); ++k) {
        if (std::all_of(group.begin(), group.end(), [&](size_t each) { return overlap(each, k); }))
          group.push_back(k);
      }
      std::string names;
      for (size_t n = 0; n < group.size(); ++n) {
        names += n == 0 ? "" : n + 1 == group.size() ? " and " : ", ";
        names += scenarios[group[n]].name;
        for (size_t m = 0; m < n; ++m) said.insert({group[m], group[n]});
      }
      if (lines.size() == kGroupsShown) {
        ++more;
      } else {
        lines.push_back(names + " cannot be distinguished: their ratio may be 1.");
      }
    }
  }
  if (more > 0)
    lines.push_back(
        fmt::format("The same holds for {}.", counted(more, "more group", "more groups")));
  return lines;
}

}  // namespace rubato
