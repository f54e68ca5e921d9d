#pragma once

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

}  // namespace rubato
