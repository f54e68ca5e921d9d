#pragma once

#include <functional>
#include <vector>

#include "models/placement/rank_mapping.h"

namespace rubato {

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
