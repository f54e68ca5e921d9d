#include "replay/run/scenario_groups.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/error.h"
#include "replay/trace/function_times.h"

namespace rubato {
namespace {

/// The payload from which on root and children wait for each other, by operation.
std::vector<std::optional<double>> sync_limits(const Platform& platform) {
  std::vector<std::optional<double>> limits;
  for (const OperationModel& operation : platform.collectives.operations)
    limits.push_back(operation.sync_limit);
  return limits;
}

/// The curve of packing, which the replay takes from the first scenario of a pass.
std::vector<std::array<double, 3>> packing(const Platform& platform) {
  std::vector<std::array<double, 3>> curve;
  if (!platform.packing) return curve;
  for (const Segment& segment : platform.packing->segments())
    curve.push_back({segment.from, segment.intercept, segment.per_byte});
  return curve;
}

/// By level: the protocols with the size from which on each is used.
using LevelProtocols = std::vector<std::vector<std::pair<double, Protocol>>>;

/// The protocols of a platform as used by the replay.
LevelProtocols protocols(const Platform& platform) {
  LevelProtocols all;
  for (int i = 0; i < kLevels; ++i) {
    const auto& level = platform.priced_by(static_cast<Level>(i));
    std::vector<std::pair<double, Protocol>> list;
    Protocol current = Protocol::kEager;
    if (level) {
      for (const ProtocolSegment& segment : level->protocols) {
        if (segment.protocol != current) list.push_back({segment.from, segment.protocol});
        current = segment.protocol;
      }
    }
    all.push_back(std::move(list));
  }
  return all;
}

Placement place(const Scenario& scenario, const Placement& recorded) {
  try {
    return scenario.placement.place(recorded);
  } catch (const InputError& error) {
    throw InputError("scenario '" + scenario.name + "': " + error.what());
  }
}

/// Refuses a [contention] that does not fit the placement; true if flows share links.
bool shares_network(const Scenario& scenario, const Placement& placement) {
  try {
    scenario.platform.contention.make_distances(placement);
    return scenario.platform.contention.make_network(placement, 1) != nullptr;
  } catch (const InputError& error) {
    throw InputError("scenario '" + scenario.name + "': " + error.what());
  }
}

/// The settings that distinguish distances between nodes, with all explicit and default numbers;
/// default settings if nothing does.
ContentionSetting distances(const Platform& platform) {
  const ContentionSetting& setting = platform.contention;
  if (!setting.model || !setting.model->distances) return {};
  ContentionSetting all = setting;
  for (const NetworkKey& key : setting.model->keys) {
    if (const auto number = setting.number(key.name)) all.numbers[key.name] = *number;
  }
  return all;
}

/// Refuses processor settings of ranks and nodes that do not exist.
void check_processors(const Scenario& scenario, const Placement& placement) {
  int nodes = 0;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    nodes = std::max(nodes, placement.node_of(rank) + 1);
  for (const ProcessorChange& change : scenario.processors) {
    const int count = change.nodes ? nodes : placement.ranks();
    if (change.last < count) continue;
    const std::string what = change.nodes ? "node" : "rank";
    throw InputError("scenario '" + scenario.name + "': there is no " + what + " " +
                     std::to_string(change.last) + "; the run has " + what + "s 0 to " +
                     std::to_string(count - 1));
  }
}

}  // namespace

size_t widest_lanes() {
#ifdef RUBATO_WIDE_NEEDS_AVX2
  return __builtin_cpu_supports("avx2") ? kWideLanes : kNarrowLanes;
#else
  return kWideLanes;
#endif
}

size_t lanes_in_use = widest_lanes();

std::vector<ScenarioGroup> group_scenarios(const std::vector<Scenario>& scenarios,
                                           const Placement& recorded, bool by_arrival) {
  std::vector<ScenarioGroup> groups;
  std::vector<LevelProtocols> keys;
  std::vector<std::vector<std::array<double, 3>>> curves;  // of packing
  std::vector<PlacementRule> placements;
  std::vector<ContentionSetting> apart;
  std::vector<std::vector<std::optional<double>>> limits;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const Scenario& scenario = scenarios[i];
    const bool measured = scenario.basis != Basis::kModel;
    const auto key = protocols(scenario.platform);
    const auto limit = sync_limits(scenario.platform);
    const ContentionSetting& contention = scenario.platform.contention;
    const ContentionSetting distance = distances(scenario.platform);
    const bool contended = contention.model && shares_network(scenario, place(scenario, recorded));
    const bool needs_order = !measured && (contended || by_arrival);
    size_t g = 0;
    while (g < groups.size() &&
           !(groups[g].measured == measured && groups[g].local == scenario.local &&
             keys[g] == key && curves[g] == packing(scenario.platform) &&
             groups[g].needs_order == needs_order && placements[g] == scenario.placement &&
             limits[g] == limit && apart[g] == distance)) {
      ++g;
    }
    if (g == groups.size()) {
      groups.push_back({measured, scenario.local, needs_order, place(scenario, recorded), {}});
      keys.push_back(key);
      curves.push_back(packing(scenario.platform));
      placements.push_back(scenario.placement);
      apart.push_back(distance);
      limits.push_back(limit);
    }
    check_processors(scenario, groups[g].placement);
    groups[g].scenarios.push_back(i);
  }
  return groups;
}

std::vector<PlannedPass> plan_passes(const std::vector<ScenarioGroup>& groups) {
  std::vector<PlannedPass> passes;
  for (const ScenarioGroup& group : groups) {
    for (size_t i = 0; i < group.scenarios.size(); ++i) {
      if (i % group.lanes() == 0) passes.push_back({&group, {}});
      passes.back().scenarios.push_back(group.scenarios[i]);
    }
  }
  return passes;
}

std::vector<std::string> functions_to_time(const std::vector<Scenario>& scenarios,
                                           const std::vector<FunctionName>& known,
                                           const TraceDefinitions& trace) {
  std::vector<std::string> functions;
  for (const Scenario& scenario : scenarios) {
    for (const FunctionChange& change : scenario.functions) {
      if (std::find(functions.begin(), functions.end(), change.name) != functions.end()) continue;
      const bool found = std::any_of(known.begin(), known.end(), [&](const FunctionName& function) {
        return is_function(function.name, change.name);
      });
      if (!found) {
        std::vector<std::string> names;
        for (const FunctionName& function : known) names.push_back(function.name);
        throw InputError("scenario '" + scenario.name + "': " + trace.path + " has no function '" +
                         change.name + "' on record" +
                         (known.empty() ? ", nor any other; " + trace.how_to_record_functions()
                                        : did_you_mean(change.name, names)));
      }
      functions.push_back(change.name);
    }
  }
  if (functions.size() > kMostFunctions) {
    throw InputError("the scenarios change " + std::to_string(functions.size()) +
                     " functions; one run can do " + std::to_string(kMostFunctions));
  }
  return functions;
}

}  // namespace rubato
