#include "models/placement.h"

#include <algorithm>
#include <set>

namespace rubato {

Placement Placement::blocks(int ranks, int per_node) {
  std::vector<int> node_of_rank(ranks);
  for (int rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank / per_node;
  return Placement(std::move(node_of_rank));
}

int Placement::nodes() const {
  return static_cast<int>(std::set<int>(node_of_rank_.begin(), node_of_rank_.end()).size());
}

}  // namespace rubato
