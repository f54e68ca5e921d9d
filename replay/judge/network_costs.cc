#include "replay/judge/network_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/platform/uncertainty.h"
#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/run/contention_cost.h"
#include "replay/study/intervals.h"
#include "replay/study/placement_candidates.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr double kLeastCost = 0.02;  ///< of the elapsed time

/// What a replay took: seconds, those in calls summed over ranks.
struct Taken {
  bool ends = false;  ///< no deadlock
  double elapsed = 0;
  std::map<std::string, double> by_call;

  double in(const std::string& call) const {
    const auto found = by_call.find(call);
    return found == by_call.end() ? 0 : found->second;
  }
};

Taken taken(const ScenarioResult& result, const std::vector<std::string>& calls) {
  Taken taken{result.deadlock.empty(), result.elapsed, {}};
  for (const RankResult& rank : result.ranks) {
    for (size_t call = 0; call < rank.calls.size(); ++call)
      taken.by_call[calls[call]] += rank.calls[call].time;
  }
  return taken;
}

struct Variant {
  FindingKind kind;
  std::vector<std::string> changes;  ///< of the scenario, to be tried
  Scenario scenario;
  size_t of = 0;  ///< the number of what it is compared with; 0: the platform, 1: the first variant
};

/// The platform with one property at its best.
std::vector<Variant> variants_of(const Scenario& platform, const Placement& recorded) {
  std::vector<Variant> variants;
  // A scenario does not change the bandwidths of a network's own links.
  const NetworkModel* network = platform.platform.contention.model;
  const bool has_own_links = network && network->has_own_links;
  Scenario kept = platform;  // with the improvements that stay
  size_t number = 0;         // of it
  for (const FindingRow& row : kFindingRows) {
    const auto& [improve, change, stays] = row.property;
    Scenario improved = stays ? kept : platform;
    if (row.kind == FindingKind::kPlacement) {
      for (const auto& way : plain_placements(platform, platform.placement.place(recorded))) {
        improved = platform;
        for (const std::string& each : way) improved = changed(improved, each);
        variants.push_back({row.kind, way, improved});
      }
    }
    if (!improve || !improve(improved)) continue;
    const bool acts = change && !(stays && has_own_links) && has_effect(platform, change);
    variants.push_back({row.kind, {}, improved, stays ? number : 0});
    if (acts) variants.back().changes = {change};
    if (!stays) continue;
    kept = improved;
    number = variants.size();
  }
  return variants;
}

/// Names the call in which more than half of the cost is.
void name_call(const Taken& with, const Taken& without, const std::vector<std::string>& calls,
               const ScenarioResult& platform, Finding& cost) {
  std::vector<double> longer(calls.size());
  double all = 0;
  for (size_t call = 0; call < calls.size(); ++call) {
    if (outside_elapsed(calls[call])) continue;
    longer[call] = with.in(calls[call]) - without.in(calls[call]);
    all += std::max(0.0, longer[call]);
  }
  name_main_call(calls, platform, longer, all, cost);
}

/// The costs of the variants that end; of several placements the best. `taken`: by number.
/// `intervals`: likewise, or empty.
std::vector<Finding> costs_of(const std::vector<Variant>& variants, const std::vector<Taken>& taken,
                              const Intervals& intervals, const ScenarioResult& platform,
                              const std::vector<std::string>& calls) {
  std::vector<Finding> costs;
  for (size_t i = 0; i < variants.size(); ++i) {
    const size_t of = variants[i].of;
    const Taken &with = taken[of], &without = taken[i + 1];
    if (!with.ends || !without.ends) continue;
    Finding cost{variants[i].kind, with.elapsed - without.elapsed};
    cost.of_elapsed = cost.seconds / platform.elapsed;
    name_call(with, without, calls, platform, cost);
    if (!variants[i].changes.empty())
      cost.scenarios = {with_changes(platform, variants[i].changes)};
    if (!intervals.empty() && intervals[of] && intervals[i + 1])
      cost.half = half_of_difference(*intervals[of], *intervals[i + 1]);
    const bool is_other = costs.empty() || costs.back().kind != cost.kind;
    if (is_other)
      costs.push_back(cost);
    else if (cost.seconds > costs.back().seconds)
      costs.back() = cost;
  }
  return costs;
}

/// The platform without contention, as far as replayed before (contention_cost.h).
Taken alone(Taken taken, const ContentionCost& cost, const std::vector<std::string>& calls) {
  taken.elapsed = cost.elapsed_alone;
  for (size_t call = 0; call < cost.by_call.size(); ++call)
    taken.by_call[calls[call]] -= cost.by_call[call];
  return taken;
}

bool is_costly(const ScenarioResult& platform, const ScenarioResult& perfect) {
  if (platform.degradation_fit) return false;  // it would be fitted again in each variant
  // The platform may have faster or slower processors than the recording.
  const double recorded = mean(perfect.ranks, &RankResult::compute);
  const double scale = recorded > 0 ? mean(platform.ranks, &RankResult::compute) / recorded : 1;
  const double cost = platform.elapsed - scale * perfect.elapsed;
  return cost > 0 && cost >= kLeastCost * platform.elapsed;
}

}  // namespace

const ScenarioResult* costly_network(const Roles& roles) {
  if (!roles.platform || !roles.perfect) return nullptr;
  if (is_costly(*roles.platform, *roles.perfect)) return roles.platform;
  for (const ScenarioResult& scenario : roles.results->scenarios) {
    if (is_platform(scenario) && is_costly(scenario, *roles.perfect)) return &scenario;
  }
  return nullptr;
}

NetworkCosts network_costs(EventSource& source, const Scenario& platform,
                           const ScenarioResult& known, const std::vector<std::string>& calls,
                           const ReplayOptions& options) {
  const TraceDefinitions& trace = source.definitions();
  const std::vector<Variant> variants =
      variants_of(platform, Placement(trace.node_of_rank, trace.socket_of_rank));
  NetworkCosts found{known.name, known.elapsed, {}};
  // With shared links each scenario is a pass of its own, and intervals take three more of each.
  const bool with_intervals =
      states_uncertainty(platform.platform) && !has_shared_network(platform, Placement());
  std::vector<Scenario> scenarios;
  if (with_intervals) scenarios.push_back(platform);
  const auto is_replayed = [&](const Variant& variant) {
    return variant.kind != FindingKind::kContention || !known.contention;
  };
  for (const Variant& variant : variants) {
    if (is_replayed(variant)) scenarios.push_back(variant.scenario);
  }
  if (scenarios.empty()) return found;
  const IntervalPlan plan(with_intervals ? scenarios : std::vector<Scenario>());
  Results results = Study(source, options).replay(with_intervals ? plan.scenarios() : scenarios);
  const Intervals intervals =
      with_intervals ? plan.settle(results, options.subtracted(trace.overhead)) : Intervals();
  std::vector<Taken> taken_by = {taken(known, calls)};
  auto next = results.scenarios.begin() + (with_intervals ? 1 : 0);
  for (const Variant& variant : variants) {
    taken_by.push_back(is_replayed(variant) ? taken(*next++, results.calls)
                                            : alone(taken_by[0], *known.contention, calls));
  }
  const auto function = costly_function(source, platform, options);
  for (Finding& cost : costs_of(variants, taken_by, intervals, known, calls)) {
    if (!(cost.seconds >= kLeastGain * known.elapsed)) continue;
    name_messages(known, function, cost);
    found.findings.push_back(std::move(cost));
  }
  sort_by_cost(found.findings);
  return found;
}

}  // namespace rubato
