#pragma once

// Finds a placement for the ranks of a run. Candidates are derived from the traffic, and each is
// replayed.
//
//   ranks to nodes      as requested, in blocks, round robin, by traffic (map_ranks)
//        ×
//   nodes to a network  as requested, in a row, at equal distances, random, near each other by the
//   with a topology     links between them (map_nodes)
//
// Near nodes have short routes, but share few links: so all candidates are replayed, and the best
// one is found, not computed.

#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/study/placement_candidates.h"
#include "replay/trace/trace.h"

namespace rubato {

struct PlacementSearch {
  Results run;                        ///< of the requested scenario
  std::vector<TriedPlacement> tried;  ///< the best first, including the requested one
  int sockets = 0;  ///< of a node, as recorded, if other placements need the number; else 0
};

struct PlacementSearchSettings {
  /// Nodes of the network that may be used; empty: the nodes named by the scenario with nodes=,
  /// else all.
  std::vector<int> free;
};

/// Replays `scenario` in other placements on as many nodes, with as many ranks on each. Errors:
/// InputError: the scenario keeps recorded durations or deadlocks; there is only one node, or too
/// few free ones; more than kMostPlacedRanks ranks, or a network of more than kMostNetworkNodes
/// nodes.
PlacementSearch find_placement(EventSource& source, const Scenario& scenario,
                               const PlacementSearchSettings& settings,
                               const ReplayOptions& options);
inline constexpr int kMostPlacedRanks = 4096;

}  // namespace rubato
