#include "replay/judge/network_costs.h"

#include <algorithm>

#include "models/platform/uncertainty.h"
#include "models/scenario/level_changes.h"
#include "models/scenario/scenario.h"
#include "replay/run/contention_cost.h"
#include "replay/study/intervals.h"
#include "replay/study/placement_candidates.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr double kLeastCost = 0.02;  ///< of the elapsed time

struct Variant {
  NetworkProperty property;
  std::string change;
  Scenario scenario;
  size_t of = 0;  ///< the scenario that it is compared with, 0: the platform
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

/// The platform with one property at its best. Number 1 is the first variant.
std::vector<Variant> variants_of(const Scenario& platform, const Placement& recorded) {
  std::vector<Variant> variants;
  const auto add = [&](NetworkProperty property, const char* change) {
    if (has_effect(platform, change)) variants.push_back({property, "", changed(platform, change)});
  };
  Scenario no_latency = platform;
  if (remove_latency(no_latency.platform))
    variants.push_back({NetworkProperty::kLatency, "", std::move(no_latency)});
  add(NetworkProperty::kOverhead, "overhead/1e9");
  // Bandwidth is what it costs without contention and with progress, which take time only because
  // transfers do.
  Scenario best = platform;
  size_t number = 0;
  const auto improve = [&](NetworkProperty property) {
    variants.push_back({property, "", best, number});
    number = variants.size();
  };
  if (has_shared_network(platform, Placement())) {
    best.platform.contention.flows_alone = true;
    improve(NetworkProperty::kContention);
  }
  if (add_progress(best.platform)) improve(NetworkProperty::kProgress);
  if (has_effect(best, "bandwidth*1e9")) {
    best = changed(best, "bandwidth*1e9");
    improve(NetworkProperty::kBandwidth);
  }
  for (const std::string& change : plain_placements(platform, platform.placement.place(recorded)))
    variants.push_back({NetworkProperty::kPlacement, change, changed(platform, change)});
  return variants;
}

/// The costs of the variants that end; of several placements the best.
void add_costs(const std::vector<Variant>& variants, const Results& results,
               const Intervals& intervals, NetworkCosts& found) {
  const ScenarioResult& base = results.scenarios[0];
  found.elapsed = base.elapsed;
  for (size_t i = 0; i < variants.size(); ++i) {
    const ScenarioResult& result = results.scenarios[i + 1];
    const size_t of = variants[i].of;
    if (!result.deadlock.empty() || !results.scenarios[of].deadlock.empty()) continue;
    NetworkCosts::Cost cost;
    cost.property = variants[i].property;
    cost.change = variants[i].change;
    cost.seconds = results.scenarios[of].elapsed - result.elapsed;
    if (!intervals.empty() && intervals[of] && intervals[i + 1])
      cost.half = half_of_difference(*intervals[of], *intervals[i + 1]);
    const bool is_other = !found.costs.empty() && found.costs.back().property == cost.property;
    if (!is_other)
      found.costs.push_back(cost);
    else if (cost.seconds > found.costs.back().seconds)
      found.costs.back() = cost;
  }
}

}  // namespace

bool needs_network_costs(const Roles& roles) {
  if (!roles.platform || !roles.perfect) return false;
  const double elapsed = roles.platform->elapsed;
  return elapsed - roles.perfect->elapsed >= kLeastCost * elapsed;
}

NetworkCosts network_costs(EventSource& source, const Scenario& platform,
                           const ScenarioResult& known, const ReplayOptions& options) {
  const TraceDefinitions& trace = source.definitions();
  const std::vector<Variant> variants =
      variants_of(platform, Placement(trace.node_of_rank, trace.socket_of_rank));
  std::vector<Scenario> scenarios;
  for (const Variant& variant : variants) scenarios.push_back(variant.scenario);
  NetworkCosts found;
  found.elapsed = known.elapsed;
  if (!variants.empty()) {
    Study study(source, options);
    // With shared links each scenario is a pass of its own, and intervals take two more of each.
    if (has_shared_network(platform, Placement()) || !states_uncertainty(platform.platform)) {
      Results results = study.replay(scenarios);
      results.scenarios.insert(results.scenarios.begin(), known);
      add_costs(variants, results, {}, found);
    } else {
      scenarios.insert(scenarios.begin(), platform);
      const IntervalPlan plan(scenarios);
      Results results = study.replay(plan.scenarios());
      const Intervals intervals = plan.settle(results, options.subtracted(trace.overhead));
      add_costs(variants, results, intervals, found);
    }
  }
  found.function = costly_function(source, platform, options);
  return found;
}

}  // namespace rubato
