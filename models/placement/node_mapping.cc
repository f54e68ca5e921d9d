#include "models/placement/node_mapping.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <utility>

namespace rubato {
namespace {

constexpr int kMostNodeRounds = 20;

using Peers = std::vector<std::vector<std::pair<int, double>>>;

/// Cost of one node at `place`, over its peers that have a place.
double cost_of(const std::vector<std::pair<int, double>>& peers, int place,
               const std::vector<int>& places, const NodeDistance& distance) {
  double sum = 0;
  for (const auto& [peer, weight] : peers) {
    if (places[peer] >= 0) sum += weight * distance(place, places[peer]);
  }
  return sum;
}

/// Puts nodes on places of `free` one after the other, and removes these from it.
std::vector<int> place_one_by_one(const Peers& peers, std::vector<int>& free,
                                  const NodeDistance& distance) {
  const size_t nodes = peers.size();
  std::vector<int> places(nodes, -1);
  std::vector<double> tie(nodes), all(nodes);
  for (size_t node = 0; node < nodes; ++node) {
    for (const auto& [peer, weight] : peers[node]) all[node] += weight;
  }
  for (size_t step = 0; step < nodes; ++step) {
    size_t next = nodes;
    for (size_t node = 0; node < nodes; ++node) {
      if (places[node] >= 0) continue;
      if (next == nodes || std::pair(tie[node], all[node]) > std::pair(tie[next], all[next]))
        next = node;
    }
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t at = 0; at < free.size(); ++at) {
      const double cost = cost_of(peers[next], free[at], places, distance);
      if (cost >= least) continue;
      least = cost;
      best = at;
    }
    places[next] = free[best];
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(best));
    for (const auto& [peer, weight] : peers[next]) tie[peer] += weight;
  }
  return places;
}

/// Gain of moving a node to another place, whether that is free or not.
double gain(const Peers& peers, int node, int place, std::vector<int>& places,
            const NodeDistance& distance) {
  return cost_of(peers[node], places[node], places, distance) -
         cost_of(peers[node], place, places, distance);
}

}  // namespace

double weighted_distance(const std::vector<int>& network_node, const std::vector<PairWeight>& pairs,
                         const NodeDistance& distance) {
  double sum = 0;
  for (const PairWeight& pair : pairs) {
    const int a = network_node[pair.a], b = network_node[pair.b];
    if (a != b) sum += pair.weight * distance(a, b);
  }
  return sum;
}

std::vector<int> map_nodes(int nodes, const std::vector<PairWeight>& pairs,
                           const std::vector<int>& free, const NodeDistance& distance) {
  assert(free.size() >= static_cast<size_t>(nodes));
  Peers peers(nodes);
  double total = 0;
  for (const PairWeight& pair : pairs) {
    if (pair.a == pair.b) continue;
    peers[pair.a].push_back({pair.b, pair.weight});
    peers[pair.b].push_back({pair.a, pair.weight});
    total += pair.weight;
  }
  std::vector<int> left = free;
  std::vector<int> places = place_one_by_one(peers, left, distance);
  const double least = 1e-12 * total;  // less is rounding
  bool better = true;
  for (int round = 0; better && round < kMostNodeRounds; ++round) {
    better = false;
    for (int a = 0; a < nodes; ++a) {
      for (int b = a + 1; b < nodes; ++b) {
        const int place_of_a = places[a], place_of_b = places[b];
        const double before = cost_of(peers[a], place_of_a, places, distance) +
                              cost_of(peers[b], place_of_b, places, distance);
        std::swap(places[a], places[b]);
        const double after = cost_of(peers[a], places[a], places, distance) +
                             cost_of(peers[b], places[b], places, distance);
        if (after < before - least)
          better = true;
        else
          std::swap(places[a], places[b]);
      }
      for (int& place : left) {
        if (gain(peers, a, place, places, distance) <= least) continue;
        std::swap(places[a], place);
        better = true;
      }
    }
  }
  return places;
}

}  // namespace rubato
