#include "replay/study/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "models/base/error.h"
#include "models/platform/uncertainty.h"
#include "replay/study/study.h"
#include "replay/study/threshold_search.h"

namespace rubato {
namespace {

constexpr int kPointsOfCurve = 31, kPointsOfMap = 13;
constexpr int kMostPoints = 1000;  ///< of an axis
constexpr double kMostInAll = 10000;
constexpr double kMostFactor = 1e6;  ///< and one over it

const std::vector<std::string> kKeys = {"latency",          "bandwidth",        "cpu",
                                        "self.latency",     "self.bandwidth",   "socket.latency",
                                        "socket.bandwidth", "node.latency",     "node.bandwidth",
                                        "network.latency",  "network.bandwidth"};

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw UsageError("--sweep: '" + word + "': " + why);
}

/// All of `text` as a number; -1 if it is none.
double number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value) ? value : -1;
}

/// "latency=0.1..100/31"
SweepAxis parse_axis(const std::string& word) {
  SweepAxis axis;
  const size_t equals = word.find('=');
  const size_t dots = word.find("..");
  const size_t slash = std::min(word.find('/'), word.size());
  const std::string usage = "write KEY=LOW..HIGH with factors above 0, as in latency=0.1..100";
  if (equals == std::string::npos || dots == std::string::npos || dots < equals || slash < dots)
    refuse(word, usage);
  axis.key = word.substr(0, equals);
  if (std::find(kKeys.begin(), kKeys.end(), axis.key) == kKeys.end()) {
    refuse(word, "'" + axis.key + "' is no number to sweep" + did_you_mean(axis.key, kKeys));
  }
  axis.low = number(word.substr(equals + 1, dots - equals - 1));
  axis.high = number(word.substr(dots + 2, slash - dots - 2));
  if (!(axis.low > 0) || !(axis.high > 0)) refuse(word, usage);
  if (axis.low < 1 / kMostFactor || axis.high > kMostFactor)
    refuse(word, "factors are from a millionth to a million");
  if (!(axis.low < axis.high)) refuse(word, "the first factor must be the lower one");
  if (slash == word.size()) return axis;
  const double points = number(word.substr(slash + 1));
  if (points != std::floor(points) || points < 2 || points > kMostPoints)
    refuse(word, "write /N for N points, from 2 to " + std::to_string(kMostPoints));
  axis.points = static_cast<int>(points);
  return axis;
}

Scenario with_factor(const Scenario& scenario, const SweepAxis& axis, double factor) {
  return changed(scenario, change_by(axis.key, '*', factor));
}

std::vector<Scenario> along(const SweepAxis& axis, const Scenario& scenario) {
  std::vector<Scenario> variants;
  for (int point = 0; point < axis.points; ++point)
    variants.push_back(with_factor(scenario, axis, axis.factor(point)));
  return variants;
}

/// Finds where elapsed rises along an axis, as a function of how much worse the number is than at
/// its best.
class CrossoverSearch {
 public:
  CrossoverSearch(const Scenario& scenario, const SweepAxis& axis,
                  const std::vector<double>& elapsed)
      : scenario_(&scenario),
        axis_(&axis),
        least_(axis.worsening(axis.more_is_worse() ? axis.low : axis.high)) {
    for (int point = 0; point < axis.points; ++point) {
      const double more = axis.worsening(axis.factor(point)) - least_;
      search_.add(std::max(0.0, more), elapsed[static_cast<size_t>(point)]);
    }
    for (const double percent : kCrossoverPercents)
      targets_.push_back(best() * (1 + percent / 100));
  }

  /// The scenarios to replay next; empty when all crossovers are found.
  std::vector<Scenario> next() {
    asked_ = search_.next(targets_);
    std::vector<Scenario> variants;
    for (const double more : asked_)
      variants.push_back(with_factor(*scenario_, *axis_, factor_at(more)));
    return variants;
  }
  /// Adds the elapsed times of these scenarios.
  void add(const double* elapsed) {
    for (const double more : asked_) search_.add(more, *elapsed++);
  }

  Crossover found() const {
    Crossover crossover;
    crossover.best = best();
    crossover.worst = search_.known().rbegin()->second;
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (const auto more = search_.reaches(targets_[i])) crossover.factors[i] = factor_at(*more);
    }
    return crossover;
  }

 private:
  double best() const { return search_.known().begin()->second; }
  double factor_at(double more) const { return axis_->worsening(least_ + more); }

  const Scenario* scenario_;
  const SweepAxis* axis_;
  double least_;  ///< worsening() at the best factor
  ThresholdSearch search_;
  std::vector<double> targets_;  ///< seconds
  std::vector<double> asked_;
};

/// Sets `sweep.crossovers`. `lines`: elapsed along each axis, the other number unchanged.
void find_crossovers(Study& study, const Scenario& scenario,
                     const std::vector<std::vector<double>>& lines, Sweep& sweep) {
  std::vector<CrossoverSearch> searches;
  for (size_t i = 0; i < sweep.axes.size(); ++i)
    searches.emplace_back(scenario, sweep.axes[i], lines[i]);
  for (;;) {
    std::vector<Scenario> variants;
    std::vector<size_t> starts;
    for (CrossoverSearch& search : searches) {
      starts.push_back(variants.size());
      for (Scenario& variant : search.next()) variants.push_back(std::move(variant));
    }
    if (variants.empty()) break;
    const std::vector<double> elapsed = study.elapsed(variants);
    for (size_t i = 0; i < searches.size(); ++i) searches[i].add(elapsed.data() + starts[i]);
  }
  for (const CrossoverSearch& search : searches) sweep.crossovers.push_back(search.found());
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

std::vector<SweepAxis> parse_sweep(const std::string& text) {
  std::vector<SweepAxis> axes;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    axes.push_back(parse_axis(text.substr(start, end - start)));
    start = end + 1;
  }
  if (axes.size() > 2) refuse(text, "at most two numbers");
  if (axes.size() == 2 && axes[0].key == axes[1].key) refuse(text, "write two different numbers");
  double points = 1;
  for (SweepAxis& axis : axes) {
    if (axis.points == 0) axis.points = axes.size() == 1 ? kPointsOfCurve : kPointsOfMap;
    points *= axis.points;
  }
  if (points > kMostInAll) refuse(text, "at most 10000 points in all");
  return axes;
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
