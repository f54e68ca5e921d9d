#include "models/network/topology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "models/base/error.h"
#include "models/placement/splitmix64.h"

namespace rubato {
namespace {

/// Distance d: d + 1 links.
class Hops : public Distances {
 public:
  Hops(std::shared_ptr<const Topology> topology, Placement placement, double link_latency)
      : topology_(std::move(topology)),
        placement_(std::move(placement)),
        link_latency_(link_latency) {}

  int between(int from, int to) const override {
    const int hops =
        topology_->hops(placement_.network_node_of(from), placement_.network_node_of(to));
    return std::max(1, hops) - 1;
  }
  int count() const override { return std::max(1, topology_->diameter()); }
  double latency(int distance) const override { return (distance + 1) * link_latency_; }

 private:
  std::shared_ptr<const Topology> topology_;
  Placement placement_;
  double link_latency_;
};

/// Pairs of nodes by the latency of their links, in a table.
class Latencies : public Distances {
 public:
  Latencies(const Topology& topology, const Placement& placement) {
    std::map<int, size_t> index;  // of nodes of the network that are in use
    for (int rank = 0; rank < placement.ranks(); ++rank) {
      const int node = placement.network_node_of(rank);
      index_of_rank_.push_back(index.try_emplace(node, index.size()).first->second);
    }
    nodes_ = index.size();
    std::vector<double> all(nodes_ * nodes_, 0);
    for (const auto& [from, row] : index) {
      for (const auto& [to, column] : index) {
        if (from != to) all[row * nodes_ + column] = topology.latency(from, to);
      }
    }
    const std::unordered_set<double> different(all.begin(), all.end());
    std::vector<double> sorted(different.begin(), different.end());
    std::sort(sorted.begin(), sorted.end());
    const size_t groups = std::min(sorted.size(), size_t{PairClass::kMostDistances});
    std::vector<double> ends;  // the longest of each group
    for (size_t group = 0; group < groups; ++group) {
      const size_t first = sorted.size() * group / groups;
      const size_t end = sorted.size() * (group + 1) / groups;
      ends.push_back(sorted[end - 1]);
      double sum = 0;
      for (size_t i = first; i < end; ++i) sum += sorted[i];
      latencies_.push_back(end == first + 1 ? sorted[first]
                                            : sum / static_cast<double>(end - first));
    }
    for (const double latency : all) {
      const auto group = std::lower_bound(ends.begin(), ends.end(), latency) - ends.begin();
      distances_.push_back(static_cast<uint8_t>(group));
    }
  }

  int between(int from, int to) const override {
    return distances_[index_of_rank_[from] * nodes_ + index_of_rank_[to]];
  }
  int count() const override { return static_cast<int>(latencies_.size()); }
  double latency(int distance) const override { return latencies_[distance]; }

 private:
  std::vector<size_t> index_of_rank_;
  size_t nodes_ = 0;
  std::vector<double> latencies_;
  std::vector<uint8_t> distances_;  ///< by pair of nodes
};

}  // namespace

int Topology::add_kind(const std::string& name) {
  kinds_.push_back(name);
  return static_cast<int>(kinds_.size()) - 1;
}

uint32_t Topology::add_link(double bandwidth, int kind, double latency) {
  links_.push_back({bandwidth, kind, latency});
  return static_cast<uint32_t>(links_.size() - 1);
}

int Topology::draw(int from, int to, int count) {
  uint64_t bits = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  return static_cast<int>(splitmix64(bits) % static_cast<uint64_t>(count));
}

void Topology::merge(std::vector<FairShare::Use>& route) {
  std::sort(route.begin(), route.end(),
            [](const FairShare::Use& a, const FairShare::Use& b) { return a.link < b.link; });
  size_t kept = 0;
  for (const FairShare::Use& use : route) {
    if (kept > 0 && route[kept - 1].link == use.link) {
      route[kept - 1].weight += use.weight;
    } else {
      route[kept++] = use;
    }
  }
  route.resize(kept);
}

int Topology::hops(int from, int to) const {
  std::vector<FairShare::Use> uses;
  route(from, to, uses);
  double sum = 0;
  for (const FairShare::Use& use : uses) sum += use.weight;
  return static_cast<int>(std::lround(sum));
}

double Topology::latency(int from, int to) const {
  std::vector<FairShare::Use> uses;
  route(from, to, uses);
  double sum = 0;
  for (const FairShare::Use& use : uses) sum += use.weight * links_[use.link].latency;
  return sum;
}

double Topology::limit(int, int) const {
  return std::numeric_limits<double>::infinity();
}

std::unique_ptr<Distances> sum_latencies(const Topology& topology, const Placement& placement) {
  auto latencies = std::make_unique<Latencies>(topology, placement);
  if (latencies->count() == 1 && latencies->latency(0) == 0) return nullptr;
  return latencies;
}

std::unique_ptr<Distances> count_links(std::shared_ptr<const Topology> topology,
                                       const Placement& placement, double link_latency) {
  return std::make_unique<Hops>(std::move(topology), placement, link_latency);
}

std::vector<NetworkKey> with_link_keys(std::vector<NetworkKey> keys) {
  keys.push_back({"link_bandwidth",
                  NetworkKey::Kind::kBandwidth,
                  "of a link in each direction; without it flows share nothing",
                  {}});
  keys.push_back({"link_latency", NetworkKey::Kind::kSeconds,
                  "of each link on the way, on top of [level.network]", 0});
  return with_sharing_keys(std::move(keys));
}

std::vector<NetworkKey> with_sharing_keys(std::vector<NetworkKey> keys) {
  keys.push_back({"sharing",
                  NetworkKey::Kind::kWord,
                  "of full links: fair, or rtt: the longer the latency, the less",
                  {},
                  "",
                  {"fair", "rtt"}});
  keys.push_back({"pairs",
                  NetworkKey::Kind::kWord,
                  "messages between two ranks: in-order, one by one, or at-once, as in SimGrid",
                  {},
                  "",
                  {"in-order", "at-once"}});
  keys.push_back({"weight_s", NetworkKey::Kind::kRatio,
                  "bytes, with rtt: what they take on each link counts as latency", 20537});
  keys.push_back({"injection_bandwidth",
                  NetworkKey::Kind::kBandwidth,
                  "of a node into the network, by all its links; none: no limit",
                  {}});
  keys.push_back({"ejection_bandwidth",
                  NetworkKey::Kind::kBandwidth,
                  "of a node out of the network; none: no limit",
                  {}});
  keys.push_back({"load",
                  NetworkKey::Kind::kShare,
                  "what others take of every link all the time, as in 30%",
                  {}});
  keys.push_back({"loads", NetworkKey::Kind::kLines,
                  "likewise of a kind of link, as the load report calls it: level 1 30%"});
  return keys;
}

std::vector<double> constant_loads(const Topology& topology, const ContentionSetting& setting) {
  const std::vector<std::string>& kinds = topology.kinds();
  std::vector<double> loads(kinds.size(), setting.number("load").value_or(0));
  std::vector<bool> is_set(kinds.size(), false);
  for (const std::string& line : setting.lines("loads")) {
    const size_t space = std::min(line.rfind(' '), line.size());
    const std::string name = line.substr(0, space);
    const auto kind = std::find(kinds.begin(), kinds.end(), name) - kinds.begin();
    if (kind == static_cast<std::ptrdiff_t>(kinds.size())) {
      std::string all;
      for (const std::string& each : kinds) all += (all.empty() ? "'" : ", '") + each + "'";
      throw InputError("loads: '" + line + "' names no kind of link; write one of " + all +
                       " and its load, as in \"" + kinds.front() + " 30%\"");
    }
    if (is_set[kind]) throw InputError("loads: '" + name + "' is given twice");
    is_set[kind] = true;
    try {
      loads[kind] = parse_share(space < line.size() ? line.substr(space + 1) : "");
    } catch (const InputError& error) {
      throw InputError("loads: '" + line + "': " + error.what());
    }
  }
  return loads;
}

void refuse_loads(const ContentionSetting& setting) {
  if (setting.number("load") || !setting.lines("loads").empty())
    throw InputError("load: links have none without 'link_bandwidth'");
}

double link_bandwidth(const ContentionSetting& setting) {
  return setting.number("link_bandwidth").value_or(1);
}

void check_links(const char* model, double links) {
  constexpr double kMost = 1 << 26;
  if (links > kMost) throw InputError(std::string("the ") + model + " has more than 64 M links");
}

void check_nodes(const char* model, const Placement& placement, double nodes) {
  const int last = placement.network_nodes() - 1;
  if (last < nodes) return;
  const std::string has =
      ", the " + std::string(model) + " has " + std::to_string(static_cast<long>(nodes));
  if (last >= placement.nodes())
    throw InputError("nodes= names node " + std::to_string(last) + has + " nodes");
  throw InputError("the run has " + std::to_string(last + 1) + " nodes" + has);
}

}  // namespace rubato
