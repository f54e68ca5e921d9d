#include "models/placement/rank_mapping.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace rubato {
namespace {

constexpr int kMostRankRounds = 50, kMostNodeRounds = 20;

/// Weights between ranks, and between each rank and each node.
class Ties {
 public:
  Ties(int ranks, int nodes, const std::vector<PairWeight>& pairs)
      : nodes_(nodes), peers_(ranks), to_node_(static_cast<size_t>(ranks) * nodes) {
    for (const PairWeight& pair : pairs) {
      if (pair.a == pair.b) continue;
      peers_[pair.a].push_back({pair.b, pair.weight});
      peers_[pair.b].push_back({pair.a, pair.weight});
    }
    for (auto& peers : peers_) std::sort(peers.begin(), peers.end());
  }

  int ranks() const { return static_cast<int>(peers_.size()); }
  int nodes() const { return nodes_; }
  double to_node(int rank, int node) const {
    return to_node_[static_cast<size_t>(rank) * nodes_ + node];
  }
  double between(int a, int b) const {
    const auto& peers = peers_[a];
    const auto found =
        std::lower_bound(peers.begin(), peers.end(), b,
                         [](const auto& peer, int rank) { return peer.first < rank; });
    return found != peers.end() && found->first == b ? found->second : 0;
  }
  double all(int rank) const {
    return std::accumulate(peers_[rank].begin(), peers_[rank].end(), 0.0,
                           [](double sum, const auto& peer) { return sum + peer.second; });
  }

  void put(int rank, int node) { tie(rank, node, 1); }
  void take(int rank, int node) { tie(rank, node, -1); }

 private:
  void tie(int rank, int node, double sign) {
    for (const auto& [peer, weight] : peers_[rank])
      to_node_[static_cast<size_t>(peer) * nodes_ + node] += sign * weight;
  }

  int nodes_;
  std::vector<std::vector<std::pair<int, double>>> peers_;
  std::vector<double> to_node_;  ///< by rank and node
};

std::vector<int> fill_nodes(Ties ties, std::vector<int> capacity) {
  std::vector<int> node_of_rank(ties.ranks(), -1);
  for (int node = 0; node < ties.nodes(); ++node) {
    for (; capacity[node] > 0; --capacity[node]) {
      int best = -1;
      std::pair<double, double>
          best_tie;  // an empty node starts with the rank of the largest total weight
      for (int rank = 0; rank < ties.ranks(); ++rank) {
        if (node_of_rank[rank] >= 0) continue;
        const std::pair tie(ties.to_node(rank, node), ties.all(rank));
        if (best >= 0 && tie <= best_tie) continue;
        best = rank;
        best_tie = tie;
      }
      node_of_rank[best] = node;
      ties.put(best, node);
    }
  }
  return node_of_rank;
}

/// Swaps pairs of ranks while the weight between nodes falls.
std::vector<int> exchange(Ties ties, std::vector<int> node_of_rank, double least) {
  for (int rank = 0; rank < ties.ranks(); ++rank) ties.put(rank, node_of_rank[rank]);
  bool better = true;
  for (int round = 0; better && round < kMostRankRounds; ++round) {
    better = false;
    for (int a = 0; a < ties.ranks(); ++a) {
      int partner = -1;
      double best = least;
      const int from = node_of_rank[a];
      for (int b = 0; b < ties.ranks(); ++b) {
        const int to = node_of_rank[b];
        if (to == from) continue;
        const double gain = ties.to_node(a, to) - ties.to_node(a, from) + ties.to_node(b, from) -
                            ties.to_node(b, to) - 2 * ties.between(a, b);
        if (gain <= best) continue;
        best = gain;
        partner = b;
      }
      if (partner < 0) continue;
      const int to = node_of_rank[partner];
      ties.take(a, from);
      ties.take(partner, to);
      std::swap(node_of_rank[a], node_of_rank[partner]);
      ties.put(a, to);
      ties.put(partner, from);
      better = true;
    }
  }
  return node_of_rank;
}

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

double weight_across(const std::vector<int>& node_of_rank, const std::vector<PairWeight>& pairs) {
  double sum = 0;
  for (const PairWeight& pair : pairs) {
    if (node_of_rank[pair.a] != node_of_rank[pair.b]) sum += pair.weight;
  }
  return sum;
}

std::vector<int> map_ranks(const std::vector<int>& node_of_rank,
                           const std::vector<PairWeight>& pairs) {
  if (node_of_rank.empty()) return {};
  std::vector<int> capacity(*std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1);
  for (const int node : node_of_rank) ++capacity[node];
  const Ties ties(static_cast<int>(node_of_rank.size()), static_cast<int>(capacity.size()), pairs);
  double total = 0;
  for (const PairWeight& pair : pairs) total += pair.weight;
  const double least = 1e-12 * total;  // less is rounding
  std::vector<int> best = node_of_rank;
  for (const std::vector<int>& start : {node_of_rank, fill_nodes(ties, capacity)}) {
    std::vector<int> mapped = exchange(ties, start, least);
    if (weight_across(mapped, pairs) < weight_across(best, pairs) - least) best = std::move(mapped);
  }
  return best;
}

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
