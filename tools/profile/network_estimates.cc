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
  const std::vector<uint64_t>& numbers = steps.numbers();
  const RunSteps::Sums all = steps.sums(numbers);
  NetworkEstimates estimates;
  estimates.kept = all.mpi > 0 ? all.kept / all.mpi : 0;
  estimates.kept_calls = steps.kept_calls();
  for (const Scenario& scenario : scenarios)
    estimates.scenarios.push_back({scenario.name, 0, 0, ""});
  /// The elapsed times of these steps.
  const auto replay = [&](const std::vector<uint64_t>& chosen) {
    const Results results = run_replay(*steps.source(chosen), scenarios, options);
    std::vector<double> times;
    for (size_t i = 0; i < results.scenarios.size(); ++i) {
      times.push_back(results.scenarios[i].elapsed);
      if (!results.scenarios[i].deadlock.empty())
        estimates.scenarios[i].deadlock = results.scenarios[i].deadlock;
    }
    return times;
  };
  constexpr double kNearlyAll = 0.99;
  if (one_of == 1 && !numbers.empty() && whole.calls > 0 && all.calls >= kNearlyAll * whole.calls) {
    estimates.is_exact = true;
    const std::vector<double> times = replay(numbers);
    for (size_t i = 0; i < times.size(); ++i) estimates.scenarios[i].elapsed = times[i];
    return estimates;
  }
  if (numbers.size() < kFewestSteps)
    throw InputError(
        fmt::format("fewer than {} steps between collectives of all ranks are on record; record a "
                    "trace",
                    kFewestSteps));
  std::vector<RunSteps::Sums> groups;
  std::vector<std::vector<double>> saved(scenarios.size());  // by group
  for (size_t group = 0; group < kGroups; ++group) {
    std::vector<uint64_t> members;
    for (size_t i = group; i < numbers.size(); i += kGroups) members.push_back(numbers[i]);
    groups.push_back(steps.sums(members));
    const std::vector<double> times = replay(members);
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
      throw InputError("the steps on record do not represent the run; record a trace");
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
