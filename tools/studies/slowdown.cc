#include "tools/studies/slowdown.h"

#include <cmath>

#include "models/statistics/statistics.h"
#include "replay/study/intervals.h"

namespace rubato {
namespace {

double mean_of(const std::vector<RunTime>& runs, double RunTime::*value) {
  double sum = 0;
  for (const RunTime& run : runs) sum += run.*value;
  return sum / static_cast<double>(runs.size());
}

/// The sum of squared deviations from the mean, relative to it.
double squares(const std::vector<RunTime>& runs, double mean) {
  double sum = 0;
  for (const RunTime& run : runs) sum += std::pow(run.elapsed / mean - 1, 2);
  return sum;
}

/// The half-width that runs of this spread have.
double of_runs(double spread, size_t n, size_t m) {
  const auto before = static_cast<double>(n), after = static_cast<double>(m);
  return student_t(before + after - 2) * spread * std::sqrt(1 / before + 1 / after);
}

}  // namespace

Slowdown slowdown_of(const std::vector<RunTime>& before, const std::vector<RunTime>& after,
                     bool one_scenario) {
  Slowdown s;
  s.runs_before = before.size();
  s.runs_after = after.size();
  s.repeated = s.runs_before + s.runs_after > 2;
  s.before = mean_of(before, &RunTime::elapsed);
  s.after = mean_of(after, &RunTime::elapsed);
  const double ratio = s.after / s.before;
  s.share = ratio - 1;
  const auto of_before = [&](double RunTime::*part) { return mean_of(before, part) / s.before; };
  const auto of_after = [&](double RunTime::*part) { return mean_of(after, part) / s.after; };
  const auto of_both = [&](double RunTime::*part) {
    return std::hypot(of_before(part), of_after(part));
  };
  double runs = of_both(&RunTime::compute);
  if (s.repeated) {
    const auto freedom = static_cast<double>(s.runs_before + s.runs_after - 2);
    s.spread = std::sqrt((squares(before, s.before) + squares(after, s.after)) / freedom);
    runs = of_runs(s.spread, s.runs_before, s.runs_after);
  }
  const auto of_difference = [&](double RunTime::*part) {
    return of_after(part) - of_before(part);
  };
  const double losses = s.repeated ? of_difference(&RunTime::losses) : of_both(&RunTime::losses);
  const std::string& file = before.front().platform_file;
  const bool one_file = !file.empty() && file == after.front().platform_file;
  const double model = one_scenario ? 0
                                    : model_of_ratio(of_before(&RunTime::model),
                                                     of_after(&RunTime::model), one_file);
  s.other = ratio * std::hypot(of_difference(&RunTime::overhead), losses, model);
  s.half = std::hypot(ratio * runs, s.other);
  return s;
}

GateResult gate_result(const Slowdown& slowdown, double limit) {
  // (110 / 100 - 1 is above 0.1 by the last bit.)
  constexpr double kRounding = 1e-12;
  if (slowdown.lacks_cores) return GateResult::kUndecided;
  if (slowdown.low() > limit + kRounding) return GateResult::kFailed;
  return slowdown.high() <= limit + kRounding ? GateResult::kPassed : GateResult::kUndecided;
}

std::optional<size_t> runs_to_decide(const Slowdown& slowdown, double limit) {
  const double distance = std::abs(slowdown.share - limit);
  if (!slowdown.repeated) return {};
  for (size_t n = 2; n <= kMostRuns; ++n) {
    const double runs = (1 + slowdown.share) * of_runs(slowdown.spread, n, n);
    if (std::hypot(runs, slowdown.other) < distance) return n;
  }
  return {};
}

}  // namespace rubato
