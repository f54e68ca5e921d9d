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

/// A cost and the numbers of what it is the difference of (Variant::of).
struct Difference {
  Finding cost;
  size_t with = 0, without = 0;
};

/// The costs of the variants that end; of several placements the best. `taken`: by number.
std::vector<Difference> differences(const std::vector<Variant>& variants,
                                    const std::vector<Taken>& taken, const ScenarioResult& platform,
                                    const std::vector<std::string>& calls) {
  std::vector<Difference> found;
  for (size_t i = 0; i < variants.size(); ++i) {
    const Taken &with = taken[variants[i].of], &without = taken[i + 1];
    if (!with.ends || !without.ends) continue;
    Difference next{{variants[i].kind, with.elapsed - without.elapsed}, variants[i].of, i + 1};
    next.cost.of_elapsed = next.cost.seconds / platform.elapsed;
    name_call(with, without, calls, platform, next.cost);
    if (!variants[i].changes.empty())
      next.cost.scenarios = {with_changes(platform, variants[i].changes)};
    const bool is_other = found.empty() || found.back().cost.kind != next.cost.kind;
    if (is_other)
      found.push_back(next);
    else if (next.cost.seconds > found.back().cost.seconds)
      found.back() = next;
  }
  return found;
}

/// Sets the intervals of costs.
void find_intervals(Study& study, const Scenario& platform, const std::vector<Variant>& variants,
                    const RecordingOverhead& overhead, std::vector<Difference>& found) {
  std::map<size_t, size_t> lanes;  // by number: index into `scenarios`
  std::vector<Scenario> scenarios;
  for (const Difference& each : found) {
    for (const size_t number : {each.with, each.without}) {
      if (lanes.emplace(number, scenarios.size()).second)
        scenarios.push_back(number == 0 ? platform : variants[number - 1].scenario);
    }
  }
  if (scenarios.empty()) return;
  const IntervalPlan plan(scenarios);
  Results results = study.replay(plan.scenarios());
  const Intervals intervals = plan.settle(results, overhead);
  for (Difference& each : found) {
    const auto &with = intervals[lanes[each.with]], &without = intervals[lanes[each.without]];
    if (with && without) each.cost.half = half_of_difference(*with, *without);
  }
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
  std::vector<Scenario> scenarios;
  const auto is_replayed = [&](const Variant& variant) {
    return variant.kind != FindingKind::kContention || !known.contention;
  };
  for (const Variant& variant : variants) {
    if (is_replayed(variant)) scenarios.push_back(variant.scenario);
  }
  if (scenarios.empty()) return found;
  Study study(source, options);
  const Results results = study.replay(scenarios);
  std::vector<Taken> taken_by = {taken(known, calls)};
  auto next = results.scenarios.begin();
  for (const Variant& variant : variants) {
    taken_by.push_back(is_replayed(variant) ? taken(*next++, results.calls)
                                            : alone(taken_by[0], *known.contention, calls));
  }
  std::vector<Difference> costs = differences(variants, taken_by, known, calls);
  std::erase_if(costs, [&](const Difference& each) {
    return !(each.cost.seconds >= kLeastGain * known.elapsed);
  });
  // With shared links each scenario would be replayed once more in the order of time.
  if (states_uncertainty(platform.platform) && !has_shared_network(platform, Placement()))
    find_intervals(study, platform, variants, options.subtracted(trace.overhead), costs);
  const auto function = costly_function(source, platform, options);
  for (Difference& each : costs) {
    name_messages(known, function, each.cost);
    found.findings.push_back(std::move(each.cost));
  }
  sort_by_cost(found.findings);
  return found;
}

}  // namespace rubato
