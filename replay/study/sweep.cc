#include "replay/study/sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/error.h"
#include "models/platform/uncertainty.h"
#include "replay/study/study.h"
#include "replay/study/threshold_search.h"

namespace rubato {
namespace {

Scenario with_factor(const Scenario& scenario, const SweepAxis& axis, double factor) {
  return changed(scenario, change_by(axis.key, '*', factor));
}

std::vector<Scenario> along(const SweepAxis& axis, const Scenario& scenario) {
  std::vector<Scenario> variants;
  for (int point = 0; point < axis.points; ++point)
    variants.push_back(with_factor(scenario, axis, axis.factor(point)));
  return variants;
}

/// Sets `sweep.crossovers`. `lines`: elapsed along each axis, the other number unchanged. Along an
/// axis x is how much worse the number is than at its best.
void find_crossovers(Study& study, const Scenario& scenario,
                     const std::vector<std::vector<double>>& lines, Sweep& sweep) {
  const auto least = [](const SweepAxis& axis) {
    return axis.worsening(axis.more_is_worse() ? axis.low : axis.high);
  };
  const auto factor_at = [&](const SweepAxis& axis, double x) {
    return axis.worsening(least(axis) + x);
  };
  std::vector<ElapsedFunction> functions;
  for (size_t i = 0; i < sweep.axes.size(); ++i) {
    const SweepAxis& axis = sweep.axes[i];
    ElapsedFunction function{
        [&](double x) { return with_factor(scenario, axis, factor_at(axis, x)); }};
    for (int point = 0; point < axis.points; ++point) {
      const double x = axis.worsening(axis.factor(point)) - least(axis);
      function.search.add(std::max(0.0, x), lines[i][static_cast<size_t>(point)]);
    }
    const double best = function.search.known().begin()->second;
    for (const double percent : kCrossoverPercents)
      function.targets.push_back(best * (1 + percent / 100));
    functions.push_back(std::move(function));
  }
  find_thresholds(study, functions);
  for (size_t i = 0; i < functions.size(); ++i) {
    const ThresholdSearch& search = functions[i].search;
    Crossover crossover{search.known().begin()->second, search.known().rbegin()->second};
    for (size_t k = 0; k < functions[i].targets.size(); ++k) {
      if (const auto x = search.reaches(functions[i].targets[k]))
        crossover.factors[k] = factor_at(sweep.axes[i], *x);
    }
    sweep.crossovers.push_back(crossover);
  }
}

void sweep_curve(Study& study, const Scenario& scenario, const RecordingOverhead* overhead,
                 Sweep& sweep) {
  std::vector<Scenario> variants = along(sweep.axes[0], scenario);
  variants.push_back(scenario);
  std::vector<double> elapsed =
      overhead ? elapsed_with_intervals(study, variants, *overhead, sweep.intervals)
               : study.elapsed(variants);
  sweep.unchanged = elapsed.back();
  elapsed.pop_back();
  if (overhead) sweep.intervals.pop_back();
  sweep.elapsed = {elapsed};
  find_crossovers(study, scenario, sweep.elapsed, sweep);
}

void sweep_map(Study& study, const Scenario& scenario, Sweep& sweep) {
  std::vector<Scenario> variants = {scenario};
  const auto add = [&](std::vector<Scenario> more) {
    for (Scenario& variant : more) variants.push_back(std::move(variant));
  };
  for (const SweepAxis& axis : sweep.axes) add(along(axis, scenario));
  for (const Scenario& row : along(sweep.axes[1], scenario)) add(along(sweep.axes[0], row));
  const std::vector<double> elapsed = study.elapsed(variants);
  auto next = elapsed.begin();
  const auto take = [&](const SweepAxis& axis) {
    const auto start = next;
    return std::vector<double>(start, next += axis.points);
  };
  sweep.unchanged = *next++;
  std::vector<std::vector<double>> lines;
  for (const SweepAxis& axis : sweep.axes) lines.push_back(take(axis));
  while (next != elapsed.end()) sweep.elapsed.push_back(take(sweep.axes[0]));
  find_crossovers(study, scenario, lines, sweep);
}

}  // namespace

double SweepAxis::factor(int point) const {
  if (point + 1 == points) return high;
  return low * std::pow(high / low, static_cast<double>(point) / (points - 1));
}

bool SweepAxis::more_is_worse() const {
  return key.ends_with("latency");
}

bool can_sweep(const Scenario& scenario) {
  return scenario.basis == Basis::kModel && scenario.base != "perfect";
}

std::vector<Sweep> run_sweeps(EventSource& source, const std::vector<Scenario>& scenarios,
                              const std::vector<SweepAxis>& axes, const ReplayOptions& options,
                              const RecordingOverhead* overhead) {
  std::vector<Sweep> sweeps;
  Study study(source, options);
  for (const Scenario& scenario : scenarios) {
    if (!can_sweep(scenario)) continue;
    Sweep sweep{scenario.name, axes, {}, 0, {}, {}};
    // In the order of time they would triple the duration.
    const bool has_intervals = overhead && states_uncertainty(scenario.platform) &&
                               !scenario.platform.contention.model && !options.wildcards_by_arrival;
    if (axes.size() == 2)
      sweep_map(study, scenario, sweep);
    else
      sweep_curve(study, scenario, has_intervals ? overhead : nullptr, sweep);
    if (!(sweep.unchanged > 0)) throw InputError("the run takes no time on " + scenario.name);
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

}  // namespace rubato
