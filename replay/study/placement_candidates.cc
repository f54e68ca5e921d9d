#include "replay/study/placement_candidates.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/error.h"

namespace rubato {
namespace {

/// Seconds of a message at a level; 0 if it has no costs.
double seconds_at(const Platform& platform, Level level, double bytes) {
  const auto& model = platform.priced_by(level);
  if (!model) return 0;
  return model->send_overhead(bytes) + model->transfer(bytes) + model->receive_overhead(bytes);
}

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
    counts_links_ = !setting.model->has_own_links;
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

class PlacementFinder {
 public:
  PlacementFinder(const Scenario& scenario, const Placement& asked, PairTraffic traffic,
                  const std::vector<int>& free)
      : asked_(&asked),
        traffic_(std::move(traffic)),
        shape_(scenario.platform.contention),
        nodes_(asked.nodes()),
        free_(free.empty() ? scenario.placement.nodes : free) {
    if (free_.empty()) {
      free_.resize(shape_.nodes());
      std::iota(free_.begin(), free_.end(), 0);
    }
    // (nodes=random: the first of all nodes.)
    if (free.empty() && static_cast<int>(free_.size()) == shape_.nodes())
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
      add(RankOrder::kMessages, map_ranks(asked, traffic_.extra));
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
    const std::vector<PairWeight> weights = weights_of_nodes(node_of_rank, traffic_.whole);
    const auto links = [this](int a, int b) { return shape_.links(a, b); };
    const auto put = [&](NodeOrder nodes, std::vector<int> places) {
      places.resize(nodes_);
      tried.nodes = nodes;
      tried.network_of_node = std::move(places);
      const double all = weight_across(node_of_rank, traffic_.whole);
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
  PairTraffic traffic_;
  Shape shape_;
  int nodes_;
  std::vector<int> free_;
  std::set<std::vector<int>> groups_;
  std::set<std::pair<std::vector<int>, std::vector<int>>> places_;
  std::vector<TriedPlacement> found_;
};

}  // namespace

PairTraffic pair_traffic(CallProfile& seen, const TraceDefinitions& trace,
                         const Scenario& scenario) {
  std::map<std::pair<int, int>, std::pair<double, double>> sums;
  for (int rank = 0; rank < trace.ranks(); ++rank) {
    for (const PeerTraffic& traffic : seen.take_peers(rank)) {
      if (traffic.peer == rank || traffic.peer < 0) continue;
      Requests all = traffic.sent;
      all += traffic.fetched;
      if (all.count == 0) continue;
      const auto count = static_cast<double>(all.count);
      const double bytes = static_cast<double>(all.bytes) / count;
      const double between = seconds_at(scenario.platform, Level::kNetwork, bytes);
      const double inside = seconds_at(scenario.platform, Level::kNode, bytes);
      auto& [extra, whole] = sums[std::minmax(rank, static_cast<int>(traffic.peer))];
      extra += count * std::max(0.0, between - inside);
      whole += count * between;
    }
  }
  PairTraffic pairs;
  for (const auto& [pair, sum] : sums) {
    if (sum.first > 0) pairs.extra.push_back({pair.first, pair.second, sum.first});
    if (sum.second > 0) pairs.whole.push_back({pair.first, pair.second, sum.second});
  }
  return pairs;
}

bool names_nodes(const Scenario& scenario) {
  return std::any_of(scenario.processors.begin(), scenario.processors.end(),
                     [](const ProcessorChange& change) { return change.nodes; });
}

bool same_nodes(const Placement& a, const Placement& b) {
  // Independent of the names of nodes: numbered in the order of their first rank.
  std::map<int, int> node_of_b;
  std::set<int> met;
  for (int rank = 0; rank < a.ranks(); ++rank) {
    const auto [known, is_new] = node_of_b.try_emplace(a.node_of(rank), b.node_of(rank));
    if (is_new && !met.insert(b.node_of(rank)).second) return false;
    if (known->second != b.node_of(rank)) return false;
  }
  return true;
}

std::vector<std::vector<std::string>> plain_placements(const Scenario& scenario,
                                                       const Placement& placement) {
  const int ranks = placement.ranks(), nodes = placement.nodes();
  if (nodes < 2 || nodes == ranks || names_nodes(scenario)) return {};
  if (!scenario.platform.level(Level::kNode) || !scenario.platform.level(Level::kNetwork))
    return {};
  std::vector<int> ranks_on(ranks);
  for (int rank = 0; rank < ranks; ++rank) ++ranks_on[placement.node_of(rank)];
  const int most = *std::max_element(ranks_on.begin(), ranks_on.end());
  std::vector<std::vector<std::string>> ways;
  if (!same_nodes(Placement::blocks(ranks, most), placement))
    ways.push_back({"placement=block:" + std::to_string(most)});
  if (!same_nodes(Placement::round_robin(ranks, nodes), placement))
    ways.push_back({"placement=roundrobin:" + std::to_string(nodes)});
  const int sockets = sockets_told(placement);
  for (auto& changes : ways) {
    if (scenario.placement.sockets == 0 && sockets > 1)
      changes.push_back("sockets=" + std::to_string(sockets));
  }
  return ways;
}

int sockets_told(const Placement& placement) {
  int most = 0;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    most = std::max(most, placement.socket_of(rank) + 1);
  return most;
}

std::vector<TriedPlacement> find_placement_candidates(const Scenario& scenario,
                                                      const Placement& asked, PairTraffic traffic,
                                                      const std::vector<int>& free) {
  return PlacementFinder(scenario, asked, std::move(traffic), free).find();
}

}  // namespace rubato
