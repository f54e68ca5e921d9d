#include "replay/study/placement_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "models/base/error.h"
#include "replay/observe/call_profile.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

Scenario placed(const Scenario& scenario, const TriedPlacement& tried, int sockets) {
  Scenario moved = scenario;
  PlacementRule& rule = moved.placement;
  rule.kind = PlacementRule::Kind::kHosts;
  rule.hosts.clear();
  std::map<int, int> first_named;  // nodes are numbered in this order
  for (const int node : tried.node_of_rank) {
    first_named.try_emplace(node, static_cast<int>(first_named.size()));
    rule.hosts.push_back("node" + std::to_string(node));
  }
  rule.slots.assign(rule.hosts.size(), kNoSocket);
  rule.shuffle.reset();
  rule.nodes.clear();
  if (rule.sockets == 0 && sockets > 1) rule.sockets = sockets;
  if (tried.network_of_node.empty()) return moved;
  rule.nodes.resize(first_named.size());
  for (const auto& [node, named] : first_named) rule.nodes[named] = tried.network_of_node[node];
  return moved;
}

}  // namespace

PlacementSearch find_placement(EventSource& source, const Scenario& scenario,
                               const PlacementSearchSettings& settings,
                               const ReplayOptions& options) {
  const TraceDefinitions& trace = source.definitions();
  if (scenario.basis != Basis::kModel)
    throw InputError(
        "placement has no effect on recorded durations; name a "
        "platform");
  if (names_nodes(scenario))
    throw InputError("a scenario that changes processors of nodes cannot be placed differently");
  if (trace.ranks() > kMostPlacedRanks)
    throw InputError("placements are searched for " + std::to_string(kMostPlacedRanks) +
                     " ranks at most");
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  const Placement asked = scenario.placement.place(recorded);
  if (asked.nodes() < 2)
    throw InputError(
        "all ranks are on one node; add ppn=1 to the platform to use one node per rank");

  PlacementSearch found;
  CallProfile seen(trace, {});
  Study study(source, options);
  found.run = study.observe(scenario, {&seen});
  found.sockets = scenario.placement.sockets == 0 ? sockets_told(asked) : 0;
  found.tried = find_placement_candidates(scenario, asked, pair_traffic(seen, trace, scenario),
                                          settings.free);

  std::vector<Scenario> scenarios;
  for (size_t i = 1; i < found.tried.size(); ++i) {
    scenarios.push_back(placed(scenario, found.tried[i], found.sockets));
    scenarios.back().name = std::to_string(i);
  }
  found.tried[0].elapsed = found.run.scenarios[0].elapsed;
  if (!scenarios.empty()) {
    const Results results = study.replay(scenarios);
    for (size_t i = 1; i < found.tried.size(); ++i) {
      const ScenarioResult& result = results.scenarios[i - 1];
      found.tried[i].elapsed =
          result.deadlock.empty() ? result.elapsed : std::numeric_limits<double>::infinity();
    }
    std::erase_if(found.tried, [](const auto& tried) { return std::isinf(tried.elapsed); });
  }
  std::stable_sort(
      found.tried.begin(), found.tried.end(),
      [](const TriedPlacement& a, const TriedPlacement& b) { return a.elapsed < b.elapsed; });
  return found;
}

}  // namespace rubato
