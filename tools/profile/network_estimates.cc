#include "tools/profile/network_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/base/error.h"
#include "models/statistics/statistics.h"
#include "replay/study/run_replay.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

constexpr size_t kGroups = 8;

/// Replays steps in all scenarios.
class StepReplay {
 public:
  StepReplay(const RunSteps& steps, const std::vector<Scenario>& scenarios,
             const ReplayOptions& options, NetworkEstimates& estimates)
      : steps_(&steps), scenarios_(&scenarios), options_(&options), estimates_(&estimates) {
    for (const Scenario& scenario : scenarios)
      estimates.scenarios.push_back({scenario.name, 0, 0, ""});
  }

  /// The elapsed times.
  std::vector<double> elapsed(const std::vector<uint64_t>& numbers) {
    const Results results = run_replay(*steps_->source(numbers), *scenarios_, *options_);
    std::vector<double> times;
    for (size_t i = 0; i < results.scenarios.size(); ++i) {
      times.push_back(results.scenarios[i].elapsed);
      if (!results.scenarios[i].deadlock.empty())
        estimates_->scenarios[i].deadlock = results.scenarios[i].deadlock;
    }
    const RunSteps::Sums sums = steps_->sums(numbers);
    kept_ += sums.kept;
    mpi_ += sums.mpi;
    estimates_->kept = mpi_ > 0 ? kept_ / mpi_ : 0;
    estimates_->kept_calls = steps_->kept_calls();
    return times;
  }

 private:
  const RunSteps* steps_;
  const std::vector<Scenario>* scenarios_;
  const ReplayOptions* options_;
  NetworkEstimates* estimates_;
  double kept_ = 0, mpi_ = 0;
};

/// An estimate of the sum of `values` over the run, and its standard error.
struct Total {
  double value = 0, error = 0;
};

/// By ratio to a quantity whose sum over the run is known; none if it has no sum.
std::optional<Total> total_of(const std::vector<double>& values,
                              const std::vector<RunSteps::Sums>& groups,
                              double RunSteps::Sums::*quantity, double known) {
  std::vector<double> sizes, rest;
  for (const RunSteps::Sums& group : groups) sizes.push_back(group.*quantity);
  const double size = mean(sizes);
  if (!(size > 0) || !(known > 0)) return {};
  const double ratio = mean(values) / size;
  for (size_t i = 0; i < groups.size(); ++i) rest.push_back(values[i] - ratio * sizes[i]);
  return Total{ratio * known, standard_error(rest) / size * known};
}

}  // namespace

NetworkEstimates estimate_networks(const RunSteps& steps, uint64_t one_of, const WholeRun& whole,
                                   const std::vector<Scenario>& scenarios,
                                   const ReplayOptions& options) {
  NetworkEstimates estimates;
  StepReplay replay(steps, scenarios, options, estimates);
  const std::vector<uint64_t>& numbers = steps.numbers();
  constexpr double kNearlyAll = 0.99;
  if (one_of == 1 && !numbers.empty() && whole.calls > 0 &&
      steps.sums(numbers).calls >= kNearlyAll * whole.calls) {
    estimates.is_exact = true;
    const std::vector<double> times = replay.elapsed(numbers);
    for (size_t i = 0; i < times.size(); ++i) estimates.scenarios[i].elapsed = times[i];
    return estimates;
  }
  if (numbers.size() < kFewestSteps)
    throw InputError(fmt::format("fewer than {} steps are on record", kFewestSteps));
  std::vector<RunSteps::Sums> groups;
  std::vector<std::vector<double>> saved(scenarios.size());  // by group
  for (size_t group = 0; group < kGroups; ++group) {
    std::vector<uint64_t> members;
    for (size_t i = group; i < numbers.size(); i += kGroups) members.push_back(numbers[i]);
    groups.push_back(steps.sums(members));
    const std::vector<double> times = replay.elapsed(members);
    for (size_t i = 0; i < times.size(); ++i)
      saved[i].push_back(groups.back().length - groups.back().lost - times[i]);
  }
  const double not_seen = 1 - 1 / static_cast<double>(one_of);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    if (!estimates.scenarios[i].deadlock.empty()) continue;
    const std::optional<Total> by_time =
        total_of(saved[i], groups, &RunSteps::Sums::mpi, whole.mpi - steps.left_out().mpi);
    const std::optional<Total> by_calls =
        total_of(saved[i], groups, &RunSteps::Sums::calls, whole.calls - steps.left_out().calls);
    const bool calls = by_calls && (!by_time || by_calls->error < by_time->error);
    const Total best = (calls ? by_calls : by_time).value_or(Total{});
    estimates.scenarios[i].elapsed = whole.elapsed - whole.lost - best.value;
    if (!(estimates.scenarios[i].elapsed > 0))
      throw InputError("the steps on record do not represent the run");
    estimates.scenarios[i].half_width = student_t(kGroups - 1) * best.error * std::sqrt(not_seen);
  }
  return estimates;
}

Table network_table(const NetworkEstimates& estimates, double measured) {
  Table table;
  const auto add = [&](const NetworkEstimate& each) {
    const bool ended = each.deadlock.empty();
    const double factor = measured > 0 ? each.elapsed / measured : 0;
    const auto if_ended = [&](const Json& value) { return ended ? value : Json(nullptr); };
    table.add(
        {{"scenario", each.scenario, "Scenario"},
         {"elapsed", if_ended(json_text::number(each.elapsed)), "Elapsed", As::kSeconds},
         {"half_width", each.half_width > 0 ? json_text::number(each.half_width) : Json(nullptr),
          "±", As::kSeconds},
         {"vs_measured", if_ended(json_text::number(factor)), As::kJson},
         {"deadlock", ended ? Json(nullptr) : Json(each.deadlock), As::kJson},
         {"vs measured", if_ended(fmt::format("{:.3f}×", factor))}});
  };
  add({"measured", measured, 0, ""});
  for (const NetworkEstimate& each : estimates.scenarios) add(each);
  return table;
}

}  // namespace rubato
