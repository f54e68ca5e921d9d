#pragma once

#include <vector>

namespace rubato {

/// What two ranks lose when they are on different nodes; any unit, never negative. Each pair once.
struct PairWeight {
  int a = 0;
  int b = 0;
  double weight = 0;
};

/// Sum of the weights of pairs on different nodes.
double weight_across(const std::vector<int>& node_of_rank, const std::vector<PairWeight>& pairs);

/// A node for each rank, with as many ranks on each as in `node_of_rank`, so that little weight
/// lies between nodes; never more than there. Nodes are filled with the rank that is tied most to
/// those on it; then pairs of ranks change places while that helps (Kernighan, Lin: An efficient
/// heuristic procedure for partitioning graphs, Bell System Technical Journal 49, 1970, without
/// steps uphill). Nodes are 0 to max(node_of_rank).
std::vector<int> map_ranks(const std::vector<int>& node_of_rank,
                           const std::vector<PairWeight>& pairs);

}  // namespace rubato
