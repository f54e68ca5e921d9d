#include "replay/study/placement_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "models/placement/node_mapping.h"
#include "replay/observe/call_profile.h"
#include "replay/study/candidates.h"
#include "replay/study/pair_weights.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kMostListedNodes = 4096;    ///< the table of their latencies
constexpr size_t kMostLooks = 2'000'000;  ///< of one pass of map_nodes()

/// A network with a topology, used for the links between its nodes.
class Shape {
 public:
  /// Without a topology it has no nodes.
  explicit Shape(const ContentionSetting& setting) {
    if (!setting.model || !setting.model->nodes) return;
    nodes_ = setting.model->nodes(setting);
    if (nodes_ > kMostNetworkNodes)
      throw InputError("the network has " + std::to_string(nodes_) +
                       " nodes; placements are searched in networks of up to " +
                       std::to_string(kMostNetworkNodes));
    ContentionSetting counting = setting;
    counts_links_ = !setting.is("graph") && !setting.is("simgrid");
    if (counts_links_) counting.numbers["link_latency"] = 1;
    if (!counts_links_ && nodes_ > kMostListedNodes)
      throw InputError("the network has " + std::to_string(nodes_) +
                       " nodes with latencies of their own; placements are searched for up "
                       "to " +
                       std::to_string(kMostListedNodes));
    distances_ = counting.make_distances(Placement::blocks(nodes_, 1));
  }
  int nodes() const { return nodes_; }
  /// Number of links between two nodes; or the latency, if links have their own.
  double links(int a, int b) const {
    return distances_ ? distances_->latency(distances_->between(a, b)) : 1;
  }
  bool counts_links() const { return counts_links_; }

 private:
  int nodes_ = 0;
  bool counts_links_ = false;
  std::unique_ptr<Distances> distances_;
};

/// Consecutive numbers of nodes from 0 on, in the same order.
std::vector<int> dense_nodes(const Placement& placement) {
  std::map<int, int> number;
  for (int rank = 0; rank < placement.ranks(); ++rank) number[placement.node_of(rank)] = 0;
  int next = 0;
  for (auto& [node, dense] : number) dense = next++;
  std::vector<int> nodes;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    nodes.push_back(number[placement.node_of(rank)]);
  return nodes;
}

std::vector<PairWeight> weights_of_nodes(const std::vector<int>& node_of_rank,
                                         const std::vector<PairWeight>& pairs) {
  std::map<std::pair<int, int>, double> sums;
  for (const PairWeight& pair : pairs) {
    const auto ends = std::minmax(node_of_rank[pair.a], node_of_rank[pair.b]);
    if (ends.first != ends.second) sums[ends] += pair.weight;
  }
  std::vector<PairWeight> weights;
  for (const auto& [ends, weight] : sums) weights.push_back({ends.first, ends.second, weight});
  return weights;
}

/// Renumbers nodes in the order of their first rank.
std::vector<int> renumbered(std::vector<int> node_of_rank) {
  std::map<int, int> number;
  for (int& node : node_of_rank)
    node = number.try_emplace(node, static_cast<int>(number.size())).first->second;
  return node_of_rank;
}

/// The search itself.
class Search {
 public:
  Search(const Scenario& scenario, const Placement& asked, std::vector<PairWeight> pairs,
         std::vector<PairWeight> traffic, const PlacementSearchSettings& settings)
      : asked_(&asked),
        pairs_(std::move(pairs)),
        traffic_(std::move(traffic)),
        shape_(scenario.platform.contention),
        nodes_(asked.nodes()),
        free_(settings.free.empty() ? scenario.placement.nodes : settings.free) {
    if (free_.empty()) {
      free_.resize(shape_.nodes());
      std::iota(free_.begin(), free_.end(), 0);
    }
    // (nodes=random: the first of all nodes.)
    if (settings.free.empty() && static_cast<int>(free_.size()) == shape_.nodes())
      std::sort(free_.begin(), free_.end());
    if (shape_.nodes() > 0 && static_cast<int>(free_.size()) < nodes_) {
      throw InputError("the run has " + std::to_string(nodes_) + " nodes, and only " +
                       std::to_string(free_.size()) + " are free");
    }
    for (const int node : free_) {
      if (shape_.nodes() > 0 && node >= shape_.nodes()) {
        throw InputError("there is no node " + std::to_string(node) +
                         " in the network, which has " + std::to_string(shape_.nodes()));
      }
    }
  }

  std::vector<TriedPlacement> find() {
    const std::vector<int> asked = dense_nodes(*asked_);
    std::vector<int> ranks_on(nodes_);
    for (const int node : asked) ++ranks_on[node];
    add(RankOrder::kAsked, asked);
    const int ranks = asked_->ranks();
    if (nodes_ < ranks) {
      std::vector<int> blocks, turns;
      std::vector<int> left = ranks_on;
      for (int node = 0; node < nodes_; ++node) blocks.insert(blocks.end(), ranks_on[node], node);
      for (int node = 0; static_cast<int>(turns.size()) < ranks; node = (node + 1) % nodes_) {
        if (left[node]-- > 0) turns.push_back(node);
      }
      add(RankOrder::kBlocks, blocks);
      add(RankOrder::kRoundRobin, turns);
      add(RankOrder::kMessages, map_ranks(asked, pairs_));
    }
    return std::move(found_);
  }

 private:
  void add(RankOrder order, const std::vector<int>& node_of_rank) {
    if (!groups_.insert(renumbered(node_of_rank)).second) return;
    TriedPlacement tried;
    tried.ranks = order;
    tried.node_of_rank = node_of_rank;
    if (shape_.nodes() == 0) {
      found_.push_back(tried);
      return;
    }
    const std::vector<PairWeight> weights = weights_of_nodes(node_of_rank, traffic_);
    const auto links = [this](int a, int b) { return shape_.links(a, b); };
    const auto put = [&](NodeOrder nodes, std::vector<int> places) {
      places.resize(nodes_);
      tried.nodes = nodes;
      tried.network_of_node = std::move(places);
      const double all = weight_across(node_of_rank, traffic_);
      tried.mean_links = all > 0 && shape_.counts_links()
                             ? weighted_distance(tried.network_of_node, weights, links) / all
                             : 0;
      if (!places_.insert({node_of_rank, tried.network_of_node}).second) return;
      found_.push_back(tried);
    };
    if (order == RankOrder::kAsked) put(NodeOrder::kAsked, asked_places());
    put(NodeOrder::kRow, free_);
    put(NodeOrder::kSpread, spread());
    put(NodeOrder::kDrawn, drawn());
    // A pass of map_nodes() examines all pairs for each place.
    const size_t places = kMostLooks / std::max<size_t>(1, weights.size());
    if (places < static_cast<size_t>(nodes_)) return;
    std::vector<int> free = free_;
    free.resize(std::min(free.size(), places));
    put(NodeOrder::kNear, map_nodes(nodes_, weights, free, links));
  }

  std::vector<int> asked_places() const {
    const std::vector<int> dense = dense_nodes(*asked_);
    std::vector<int> places(nodes_);
    for (int rank = 0; rank < asked_->ranks(); ++rank)
      places[dense[rank]] = asked_->network_node_of(rank);
    return places;
  }
  std::vector<int> spread() const {
    std::vector<int> places;
    for (int64_t i = 0; i < nodes_; ++i)
      places.push_back(free_[i * static_cast<int64_t>(free_.size()) / nodes_]);
    return places;
  }
  std::vector<int> drawn() const {
    std::vector<int> places;
    for (const int at : drawn_order(static_cast<int>(free_.size()), kSeed))
      places.push_back(free_[at]);
    return places;
  }

  const Placement* asked_;
  std::vector<PairWeight> pairs_;    ///< the cost of being on different nodes
  std::vector<PairWeight> traffic_;  ///< their cost on different nodes
  Shape shape_;
  int nodes_;
  std::vector<int> free_;
  std::set<std::vector<int>> groups_;
  std::set<std::pair<std::vector<int>, std::vector<int>>> places_;
  std::vector<TriedPlacement> found_;
};

Scenario placed(const Scenario& scenario, const TriedPlacement& tried, int sockets) {
  Scenario moved = scenario;
  PlacementRule& rule = moved.placement;
  rule.kind = PlacementRule::Kind::kHosts;
  rule.hosts.clear();
  std::map<int, int> first_named;  // nodes are numbered in this order
  for (const int node : tried.node_of_rank) {
    first_named.try_emplace(node, static_cast<int>(first_named.size()));
    rule.hosts.push_back("node" + std::to_string(node));
  }
  rule.slots.assign(rule.hosts.size(), kNoSocket);
  rule.shuffle.reset();
  rule.nodes.clear();
  if (rule.sockets == 0 && sockets > 1) rule.sockets = sockets;
  if (tried.network_of_node.empty()) return moved;
  rule.nodes.resize(first_named.size());
  for (const auto& [node, named] : first_named) rule.nodes[named] = tried.network_of_node[node];
  return moved;
}

}  // namespace

PlacementSearch find_placement(EventSource& source, const Scenario& scenario,
                               const PlacementSearchSettings& settings,
                               const ReplayOptions& options) {
  const TraceDefinitions& trace = source.definitions();
  if (scenario.basis != Basis::kModel)
    throw InputError(
        "placement has no effect on recorded durations; name a "
        "platform");
  if (names_nodes(scenario))
    throw InputError("a scenario that changes processors of nodes cannot be placed differently");
  if (trace.ranks() > kMostPlacedRanks)
    throw InputError("placements are searched for " + std::to_string(kMostPlacedRanks) +
                     " ranks at most");
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  const Placement asked = scenario.placement.place(recorded);
  if (asked.nodes() < 2)
    throw InputError(
        "all ranks are on one node; add ppn=1 to the platform to use one node per rank");

  PlacementSearch found;
  CallProfile seen(trace, {});
  Study study(source, options);
  found.run = study.observe(scenario, {&seen});
  found.sockets = scenario.placement.sockets == 0 ? sockets_told(asked) : 0;
  PairTraffic pairs = pair_traffic(seen, trace, scenario);
  found.tried =
      Search(scenario, asked, std::move(pairs.extra), std::move(pairs.whole), settings).find();

  std::vector<Scenario> scenarios;
  for (size_t i = 1; i < found.tried.size(); ++i) {
    scenarios.push_back(placed(scenario, found.tried[i], found.sockets));
    scenarios.back().name = std::to_string(i);
  }
  found.tried[0].elapsed = found.run.scenarios[0].elapsed;
  if (!scenarios.empty()) {
    const Results results = study.replay(scenarios);
    for (size_t i = 1; i < found.tried.size(); ++i) {
      const ScenarioResult& result = results.scenarios[i - 1];
      found.tried[i].elapsed =
          result.deadlock.empty() ? result.elapsed : std::numeric_limits<double>::infinity();
    }
    std::erase_if(found.tried, [](const auto& tried) { return std::isinf(tried.elapsed); });
  }
  std::stable_sort(
      found.tried.begin(), found.tried.end(),
      [](const TriedPlacement& a, const TriedPlacement& b) { return a.elapsed < b.elapsed; });
  return found;
}

}  // namespace rubato
