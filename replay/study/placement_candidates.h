#pragma once

// Placements that may be faster than that of a scenario, derived from the traffic between ranks.

#include <cstdint>
#include <string>
#include <vector>

#include "models/placement/placement.h"
#include "models/placement/rank_mapping.h"
#include "models/scenario/scenario.h"
#include "replay/observe/call_profile.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The traffic of pairs of ranks in messages and one-sided operations, in seconds at their mean
/// length.
struct PairTraffic {
  std::vector<PairWeight> extra;  ///< the saving on one node, if all of it were waited for
  std::vector<PairWeight> whole;  ///< the cost between nodes
};

/// Takes the peers of `seen`, from a replay of `scenario`.
PairTraffic pair_traffic(CallProfile& seen, const TraceDefinitions& trace,
                         const Scenario& scenario);

/// True if it changes processors of nodes: with other placements this would apply to other ranks.
bool names_nodes(const Scenario& scenario);
/// True if both have the same sets of ranks on nodes, whatever the nodes are called.
bool same_nodes(const Placement& a, const Placement& b);
/// Ways to place the ranks of `scenario` in blocks, and in turn, on as many nodes as `placement`,
/// its present one, each as changes: "placement=block:4", and "sockets=2" where ranks have sockets.
/// Without the present one; empty with one node, with one rank on each, and if it changes
/// processors of nodes or lacks a level for both.
std::vector<std::vector<std::string>> plain_placements(const Scenario& scenario,
                                                       const Placement& placement);
/// Number of sockets of a node with known sockets; 0 if none are known.
int sockets_told(const Placement& placement);

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

/// The placements to try on as many nodes, with as many ranks on each: the `asked` one of the
/// scenario first. `free`: nodes of the network that may be used; empty: the nodes named by the
/// scenario with nodes=, else all. Errors: InputError if there are too few, or the network has more
/// than kMostNetworkNodes.
std::vector<TriedPlacement> find_placement_candidates(const Scenario& scenario,
                                                      const Placement& asked, PairTraffic traffic,
                                                      const std::vector<int>& free);
inline constexpr int kMostNetworkNodes = 1 << 16;

}  // namespace rubato
