#include "replay/judge/network_costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/platform/uncertainty.h"
#include "models/scenario/level_changes.h"
#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/run/contention_cost.h"
#include "replay/study/intervals.h"
#include "replay/study/placement_candidates.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr double kLeastCost = 0.02;      ///< of the elapsed time, of a network
constexpr double kLeastProperty = 0.01;  ///< likewise, of a property

/// What a replay took: seconds, those in calls summed over ranks.
struct Taken {
  bool ends = false;  ///< no deadlock
  double elapsed = 0;
  std::map<std::string, double> by_call;
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
  NetworkProperty property;
  std::vector<std::string> changes;  ///< NetworkCosts::Cost::changes
  Scenario scenario;
  size_t of = 0;  ///< the number of what it is compared with; 0: the platform, 1: the first variant
};

/// Removes the latency of all levels but self and of links; false if there is none.
bool remove_latency(Platform& platform) {
  bool any = false;
  for (int i = 0; i < kLevels; ++i) {
    auto& level = platform.levels[i];
    if (!level || level->transfer.empty() || i == static_cast<int>(Level::kSelf)) continue;
    const double latency = level->transfer(0);
    if (latency > 0) add_latency(*level, -latency);
    any = any || latency > 0;
  }
  const auto links = platform.contention.numbers.find("link_latency");
  if (links != platform.contention.numbers.end() && links->second > 0) {
    links->second = 0;
    any = true;
  }
  return any;
}

/// True if data of some rendezvous messages waits until a rank is inside MPI; removes that.
bool add_progress(Platform& platform) {
  bool any = false;
  for (auto& level : platform.levels) {
    if (!level) continue;
    for (ProtocolSegment& segment : level->protocols) {
      if (segment.protocol != Protocol::kPull && segment.protocol != Protocol::kPush) continue;
      segment.protocol = Protocol::kAsync;
      any = true;
    }
  }
  return any;
}

/// Collectives with a formula cost only their synchronisation; false if there are none.
bool remove_formulas(CollectiveModel& model) {
  if (model.pricing != CollectivePricing::kAnalytic) return false;  // they are not used
  bool any = false;
  for (OperationModel& operation : model.operations) {
    if (operation.formula.empty() || operation.perfect) continue;
    operation.perfect = true;
    any = true;
  }
  return any;
}

/// `change`, if it changes something.
std::vector<std::string> if_effective(const Scenario& platform, const char* change) {
  return has_effect(platform, change) ? std::vector<std::string>{change}
                                      : std::vector<std::string>{};
}

/// The platform with one property at its best.
std::vector<Variant> variants_of(const Scenario& platform, const Placement& recorded) {
  std::vector<Variant> variants;
  Scenario changes = platform;
  if (remove_latency(changes.platform))
    variants.push_back({NetworkProperty::kLatency, if_effective(platform, "latency/2"), changes});
  if (has_effect(platform, "overhead/1e9")) {
    variants.push_back(
        {NetworkProperty::kOverhead, {"overhead/2"}, changed(platform, "overhead/1e9")});
  }
  changes = platform;
  if (remove_formulas(changes.platform.collectives))
    variants.push_back({NetworkProperty::kFormulas, {}, changes});
  for (const auto& way : plain_placements(platform, platform.placement.place(recorded))) {
    changes = platform;
    for (const std::string& change : way) changes = changed(changes, change);
    variants.push_back({NetworkProperty::kPlacement, way, changes});
  }
  // Contention and lack of progress take time only because transfers do: each is removed in
  // addition to those before it, bandwidth last.
  changes = platform;
  size_t number = 0;
  const auto remove = [&](NetworkProperty property, const std::vector<std::string>& suggested) {
    variants.push_back({property, suggested, changes, number});
    number = variants.size();
  };
  const NetworkModel* network = platform.platform.contention.model;
  const bool has_own_links = network && network->has_own_links;
  const std::vector<std::string> faster =
      has_own_links ? std::vector<std::string>{} : if_effective(platform, "bandwidth*2");
  if (has_shared_network(platform, Placement())) {
    changes.platform.contention.flows_alone = true;
    remove(NetworkProperty::kContention, faster);
    if (has_own_links) {
      changes.platform.contention.set_model(nullptr);
      remove(NetworkProperty::kLinks, {});
    }
  }
  if (add_progress(changes.platform)) remove(NetworkProperty::kProgress, {});
  if (has_effect(changes, "bandwidth*1e9")) {
    changes = changed(changes, "bandwidth*1e9");
    remove(NetworkProperty::kBandwidth, faster);
  }
  return variants;
}

/// Sets the call in which more than half of the cost is.
void name_call(const Taken& with, const Taken& without, NetworkCosts::Cost& cost) {
  double all = 0, most = 0;
  for (const auto& [call, seconds] : with.by_call) {
    if (outside_elapsed(call)) continue;
    const auto found = without.by_call.find(call);
    const double longer = seconds - (found == without.by_call.end() ? 0 : found->second);
    all += std::max(0.0, longer);
    if (longer <= most) continue;
    most = longer;
    cost.call = call;
  }
  if (!(most > all / 2)) cost.call = "";
}

/// A cost and the numbers of what it is the difference of (Variant::of).
struct Difference {
  NetworkCosts::Cost cost;
  size_t with = 0, without = 0;
};

/// The costs of the variants that end; of several placements the best. `taken`: by number.
std::vector<Difference> differences(const std::vector<Variant>& variants,
                                    const std::vector<Taken>& taken) {
  std::vector<Difference> found;
  for (size_t i = 0; i < variants.size(); ++i) {
    const Taken &with = taken[variants[i].of], &without = taken[i + 1];
    if (!with.ends || !without.ends) continue;
    Difference next{{}, variants[i].of, i + 1};
    next.cost.property = variants[i].property;
    next.cost.changes = variants[i].changes;
    next.cost.seconds = with.elapsed - without.elapsed;
    name_call(with, without, next.cost);
    const bool is_other = !found.empty() && found.back().cost.property == next.cost.property;
    if (!is_other)
      found.push_back(next);
    else if (next.cost.seconds > found.back().cost.seconds)
      found.back() = next;
  }
  return found;
}

/// Sets the intervals of the costs that count.
void find_intervals(Study& study, const Scenario& platform, const std::vector<Variant>& variants,
                    const RecordingOverhead& overhead, double elapsed,
                    std::vector<Difference>& found) {
  std::map<size_t, size_t> lanes;  // by number: index into `scenarios`
  std::vector<Scenario> scenarios;
  const auto add = [&](size_t number) {
    if (lanes.emplace(number, scenarios.size()).second)
      scenarios.push_back(number == 0 ? platform : variants[number - 1].scenario);
  };
  for (const Difference& each : found) {
    if (!counts(each.cost, elapsed)) continue;
    add(each.with);
    add(each.without);
  }
  if (scenarios.empty()) return;
  const IntervalPlan plan(scenarios);
  Results results = study.replay(plan.scenarios());
  const Intervals intervals = plan.settle(results, overhead);
  for (Difference& each : found) {
    if (!counts(each.cost, elapsed)) continue;
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

bool counts(const NetworkCosts::Cost& cost, double elapsed) {
  return cost.seconds >= kLeastProperty * elapsed;
}

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
  NetworkCosts found;
  found.scenario = known.name;
  found.elapsed = known.elapsed;
  std::vector<Scenario> scenarios;
  const auto is_replayed = [&](const Variant& variant) {
    return variant.property != NetworkProperty::kContention || !known.contention;
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
  std::vector<Difference> costs = differences(variants, taken_by);
  // With shared links each scenario is a pass of its own, and intervals take three more of each.
  if (states_uncertainty(platform.platform) && !has_shared_network(platform, Placement()))
    find_intervals(study, platform, variants, options.subtracted(trace.overhead), known.elapsed,
                   costs);
  for (const Difference& each : costs) found.costs.push_back(each.cost);
  found.function = costly_function(source, platform, options);
  return found;
}

}  // namespace rubato
