#pragma once

// Where should the ranks of a run be? Candidates from who talks to whom, each replayed.
//
//   ranks to nodes      as asked for, in blocks, round robin, those that talk together (map_ranks)
//        ×
//   nodes to a network  as asked for, in a row, at equal distances, drawn, near each other by the
//   with a shape        links between them (map_nodes)
//
// Near is short, but shares few links: so all of them are replayed, and the best is found, not
// computed.

#include <cstdint>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// How ranks come to nodes, and nodes into the network.
enum class RankOrder : uint8_t { kAsked, kBlocks, kRoundRobin, kMessages };
enum class NodeOrder : uint8_t { kAsked, kRow, kSpread, kDrawn, kNear };

struct TriedPlacement {
  RankOrder ranks = RankOrder::kAsked;
  NodeOrder nodes = NodeOrder::kAsked;
  std::vector<int> node_of_rank;     ///< numbers from 0 on
  std::vector<int> network_of_node;  ///< by these; empty: the network has no shape
  double elapsed = 0;                ///< seconds
  /// Links that a byte between nodes passes, weighted by what messages take there; 0 without a
  /// shape, and where links have latencies of their own.
  double mean_links = 0;
};

struct PlacementSearch {
  Results run;                        ///< of the scenario as asked for
  std::vector<TriedPlacement> tried;  ///< the best first; the one asked for is among them
  int sockets = 0;  ///< of a node, as recorded, where other placements have to be told; else 0
};

struct PlacementSearchSettings {
  /// Nodes of the network that may be used; empty: those that the scenario names with nodes=, else
  /// all.
  std::vector<int> free;
};

/// Replays `scenario` in other placements on as many nodes, with as many ranks on each. Errors:
/// InputError: the scenario keeps recorded durations or deadlocks, there is only one node, or too
/// few free ones, more than kMostPlacedRanks
/// ranks, or a network of more than kMostNetworkNodes nodes.
PlacementSearch find_placement(EventSource& source, const Scenario& scenario,
                               const PlacementSearchSettings& settings,
                               const ReplayOptions& options);
inline constexpr int kMostPlacedRanks = 4096;
inline constexpr int kMostNetworkNodes = 1 << 16;

}  // namespace rubato
