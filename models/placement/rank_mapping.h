#pragma once

#include <functional>
#include <vector>

namespace rubato {

/// Cost of placing two ranks on different nodes; any unit, never negative. Each pair once.
struct PairWeight {
  int a = 0;
  int b = 0;
  double weight = 0;
};

/// Sum of the weights of pairs on different nodes.
double weight_across(const std::vector<int>& node_of_rank, const std::vector<PairWeight>& pairs);

/// A node for each rank, with as many ranks on each as in `node_of_rank`, that minimises the weight
/// between nodes; it is never more than in `node_of_rank`. Nodes are filled one after the other,
/// with the rank that has the largest weight to the ranks already on the node; then pairs of ranks
/// swap places while that helps (Kernighan, Lin: An efficient heuristic procedure for partitioning
/// graphs, Bell System Technical Journal 49, 1970, without uphill steps). Nodes are 0 to
/// max(node_of_rank).
std::vector<int> map_ranks(const std::vector<int>& node_of_rank,
                           const std::vector<PairWeight>& pairs);

/// Cost of traffic between two nodes of a network, such as the links between them; symmetric, not
/// negative.
using NodeDistance = std::function<double(int, int)>;

/// Sum of the weights of pairs, each times the distance between their nodes of the network.
double weighted_distance(const std::vector<int>& network_node, const std::vector<PairWeight>& pairs,
                         const NodeDistance& distance);

/// A node of the network, one of `free`, for each of `nodes` nodes, so that nodes with much traffic
/// are near each other. First, the node with the most traffic to the placed nodes repeatedly gets
/// the free place with the least weighted distance, lower numbers first. Then nodes swap places
/// with each other and with free places while that helps, twenty rounds at most (a local search for
/// the quadratic assignment problem of Koopmans and Beckmann, Econometrica 25, 1957). `free` has at
/// least `nodes` numbers.
std::vector<int> map_nodes(int nodes, const std::vector<PairWeight>& pairs,
                           const std::vector<int>& free, const NodeDistance& distance);

}  // namespace rubato
