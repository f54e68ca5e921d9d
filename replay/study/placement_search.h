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

#include <cstdint>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// How ranks are assigned to nodes, and nodes to the network.
enum class RankOrder : uint8_t { kAsked, kBlocks, kRoundRobin, kMessages };
enum class NodeOrder : uint8_t { kAsked, kRow, kSpread, kDrawn, kNear };

struct TriedPlacement {
  RankOrder ranks = RankOrder::kAsked;
  NodeOrder nodes = NodeOrder::kAsked;
  std::vector<int> node_of_rank;     ///< numbers from 0 on
  std::vector<int> network_of_node;  ///< indexed by these; empty: the network has no topology
  double elapsed = 0;                ///< seconds
  /// Mean number of links of a byte between nodes, weighted by the cost of messages; 0 without a
  /// topology, and if links have latencies of their own.
  double mean_links = 0;
};

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
inline constexpr int kMostNetworkNodes = 1 << 16;

}  // namespace rubato
