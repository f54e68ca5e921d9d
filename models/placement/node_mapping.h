#pragma once

#include <functional>
#include <vector>

#include "models/placement/rank_mapping.h"

namespace rubato {

/// What it costs that two nodes of a network talk, such as the links between them; the same both
/// ways, not negative.
using NodeDistance = std::function<double(int, int)>;

/// Sum of the weights of pairs, each times the distance between their nodes of the network.
double weighted_distance(const std::vector<int>& network_node, const std::vector<PairWeight>& pairs,
                         const NodeDistance& distance);

/// A node of the network, one of `free`, for each of `nodes` nodes, so that those tied most are
/// near each other. The node tied most to those that have a place gets the free place with the
/// least weighted distance, lower numbers first; then nodes change places with each other and with
/// free ones while that helps, twenty rounds at most (a local search for the quadratic assignment
/// problem of Koopmans and Beckmann, Econometrica 25, 1957). `free` has as many numbers at least.
std::vector<int> map_nodes(int nodes, const std::vector<PairWeight>& pairs,
                           const std::vector<int>& free, const NodeDistance& distance);

}  // namespace rubato
