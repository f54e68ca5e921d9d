// User-defined networks: cables between nodes and switches, each a link in either direction.
//
//   nodes  = ["n[0-3]"]                     n0   n2
//   cables = ["n[0-1] s0", "n[2-3] s1",      ╲  ╱
//             "s0 s1 50GB/s 200ns"]     n1 ── s0 ══ s1 ── n3     (n2 at s1)
//
// Routes are shortest paths; of several next switches the one named first is used (nodes come
// before switches), or all shortest paths get an equal part (`spread`). Explicit routes, such as
// "n0 s0 s2 s1 n3", override these.

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <sstream>

#include "models/base/error.h"
#include "models/base/units.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

constexpr size_t kMostNames = size_t{1} << 20;

/// "n[0-2]x" as n0x, n1x, n2x; also [0,4-7].
std::vector<std::string> expanded(const std::string& word) {
  const size_t open = word.find('['), close = word.find(']');
  if (open == std::string::npos && close == std::string::npos) return {word};
  const auto bad = [&] { return InputError("'" + word + "' should be a name, or as in n[0-15]"); };
  if (open == std::string::npos || close == std::string::npos || close < open) throw bad();
  std::vector<std::string> names;
  std::istringstream ranges(word.substr(open + 1, close - open - 1));
  for (std::string range; std::getline(ranges, range, ',');) {
    const size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    for (const std::string& number : {first, last}) {
      if (number.empty() || number.size() > 7 ||
          number.find_first_not_of("0123456789") != std::string::npos)
        throw bad();
    }
    for (int i = std::stoi(first); i <= std::stoi(last); ++i) {
      names.push_back(word.substr(0, open) + std::to_string(i) + word.substr(close + 1));
      if (names.size() > kMostNames) throw InputError("'" + word + "' is more than 1 M names");
    }
  }
  if (names.empty()) throw bad();
  return names;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

class Graph : public Topology {
 public:
  Graph(const ContentionSetting& setting, const std::vector<std::string>& nodes)
      : Topology(static_cast<int>(nodes.size())),
        spreads_(setting.word("routing") == "spread"),
        bandwidth_(setting.number("link_bandwidth")),
        latency_(*setting.number("link_latency")) {
    add_kind("node");
    add_kind("switch");
    for (const std::string& node : nodes) {
      if (!vertices_.try_emplace(node, names_.size()).second)
        throw InputError("there are two nodes '" + node + "'");
      names_.push_back(node);
    }
    cables_.resize(names_.size());
    for (const std::string& line : setting.lines("cables")) {
      in_line("cable", line, [&] { add_cables(words_of(line)); });
    }
    for (auto& cables : cables_) std::sort(cables.begin(), cables.end());
    for (const std::string& line : setting.lines("routes"))
      in_line("route", line, [&] { add_route(line); });
    find_distances();
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route.clear();
    const auto by_hand = routes_.find({from, to});
    if (by_hand != routes_.end()) {
      for (const uint32_t link : by_hand->second) route.push_back({link, 1});
      return merge(route);
    }
    if (spreads_) return spread(from, to, route);
    for (auto at = static_cast<uint32_t>(from); at != static_cast<uint32_t>(to);) {
      const Cable& next = *std::find_if(cables_[at].begin(), cables_[at].end(),
                                        [&, left = distance(to, at)](const Cable& cable) {
                                          return distance(to, cable.to) == left - 1;
                                        });
      route.push_back({next.link, 1});
      at = next.to;
    }
  }
  int diameter() const override { return static_cast<int>(names_.size()); }
  /// Nodes in the lowest row, then switches by their distance from them, above what they connect.
  TopologyDrawing drawing() const override {
    std::vector<std::vector<uint32_t>> rows(1);
    std::vector<bool> seen(names_.size());
    for (uint32_t node = 0; node < static_cast<uint32_t>(nodes()); ++node) rows[0].push_back(node);
    while (!rows.back().empty()) {
      for (const uint32_t at : rows.back()) seen[at] = true;
      std::vector<uint32_t> above;
      for (const uint32_t at : rows.back()) {
        for (const Cable& cable : cables_[at]) {
          if (seen[cable.to]) continue;
          seen[cable.to] = true;
          above.push_back(cable.to);
        }
      }
      rows.push_back(std::move(above));
    }
    rows.pop_back();
    // Switches that no node reaches are drawn above all others.
    std::vector<uint32_t> apart;
    for (uint32_t i = 0; i < names_.size(); ++i) {
      if (!seen[i]) apart.push_back(i);
    }
    if (!apart.empty()) rows.push_back(std::move(apart));
    TopologyDrawing drawing;
    drawing.vertices.resize(names_.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t i = 0; i < rows[row].size(); ++i) {
        const double height = rows.size() > 1 ? 1.0 * row / (rows.size() - 1) : 0.5;
        drawing.vertices[rows[row][i]] = {(i + 0.5) / rows[row].size(), 1 - height,
                                          names_[rows[row][i]], row == 0};
      }
    }
    for (uint32_t from = 0; from < names_.size(); ++from) {
      for (const Cable& cable : cables_[from]) {
        const Cable* back = find(cable.to, from);
        if (back && cable.to < from) continue;
        TopologyDrawing::Cable drawn{from, cable.to, {cable.link}, {}};
        if (back) drawn.back.push_back(back->link);
        const double rise = drawing.vertices[from].y - drawing.vertices[cable.to].y;
        drawn.bends = rise == 0;
        drawing.cables.push_back(std::move(drawn));
      }
    }
    return drawing;
  }
  std::string link_name(uint32_t link) const override { return link_names_[link]; }

 private:
  struct Cable {
    uint32_t to;
    uint32_t link;
    auto operator<=>(const Cable&) const = default;
  };
  static constexpr uint16_t kApart = UINT16_MAX;

  template <typename Read>
  static void in_line(const char* what, const std::string& line, const Read& read) {
    try {
      read();
    } catch (const InputError& error) {
      throw InputError(std::string(what) + " '" + line + "': " + error.what());
    }
  }

  uint32_t vertex(const std::string& name) {
    const auto [entry, is_new] = vertices_.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      cables_.emplace_back();
    }
    return static_cast<uint32_t>(entry->second);
  }

  /// FROM TO, then in any order a bandwidth, a latency, one-way or half-duplex.
  void add_cables(const std::vector<std::string>& words) {
    std::optional<double> bandwidth = bandwidth_;
    double latency = latency_;
    bool one_way = false, half_duplex = false;
    if (words.size() < 2) throw InputError("write FROM TO [BANDWIDTH] [LATENCY]");
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "one-way") {
        one_way = true;
      } else if (words[i] == "half-duplex") {
        half_duplex = true;
      } else if (words[i].find("/s") != std::string::npos) {
        bandwidth = parse_bandwidth(words[i]);
      } else {
        latency = parse_seconds(words[i]);
        if (latency < 0) throw InputError("a time must not be negative");
      }
    }
    if (!bandwidth) throw InputError("there is neither a bandwidth nor a link_bandwidth");
    const std::vector<std::string> froms = expanded(words[0]), tos = expanded(words[1]);
    if (froms.size() > 1 && tos.size() > 1 && froms.size() != tos.size())
      throw InputError("the two ranges have different lengths");
    for (size_t i = 0; i < std::max(froms.size(), tos.size()); ++i) {
      const uint32_t from = vertex(froms[froms.size() > 1 ? i : 0]);
      const uint32_t to = vertex(tos[tos.size() > 1 ? i : 0]);
      const std::string ends = names_[from] + "→" + names_[to];
      if (from == to) throw InputError("both ends are " + names_[from]);
      if (find(from, to) || (!one_way && find(to, from)))
        throw InputError("there is one before " + ends + "; give one the bandwidth of both");
      const int count = nodes();
      const int kind = static_cast<int>(from) < count || static_cast<int>(to) < count ? 0 : 1;
      const uint32_t there = add_link(*bandwidth, kind, latency);
      link_names_.push_back(ends);
      cables_[from].push_back({to, there});
      if (one_way) continue;
      uint32_t back = there;
      if (!half_duplex) {
        back = add_link(*bandwidth, kind, latency);
        link_names_.push_back(names_[to] + "→" + names_[from]);
      }
      cables_[to].push_back({from, back});
    }
  }
  const Cable* find(uint32_t from, uint32_t to) const {
    for (const Cable& cable : cables_[from]) {
      if (cable.to == to) return &cable;
    }
    return nullptr;
  }

  /// The vertices on the way, nodes at its ends.
  void add_route(const std::string& line) {
    std::vector<uint32_t> links;
    const std::vector<std::string> words = words_of(line);
    std::vector<uint32_t> way;
    for (const std::string& word : words) {
      const auto known = vertices_.find(word);
      if (known == vertices_.end()) throw InputError("no cable ends at '" + word + "'");
      way.push_back(static_cast<uint32_t>(known->second));
    }
    const auto is_node = [&](uint32_t at) { return static_cast<int>(at) < nodes(); };
    if (way.size() < 2 || !is_node(way.front()) || !is_node(way.back()))
      throw InputError("write the way from a node to a node, as in n0 s0 s1 n3");
    for (size_t i = 0; i + 1 < way.size(); ++i) {
      const Cable* cable = find(way[i], way[i + 1]);
      if (!cable) throw InputError("there is no cable " + words[i] + "→" + words[i + 1]);
      links.push_back(cable->link);
    }
    const std::pair ends(static_cast<int>(way.front()), static_cast<int>(way.back()));
    if (!routes_.try_emplace(ends, links).second) throw InputError("there is one before");
  }

  /// Links from `vertex` to node `to`.
  uint16_t distance(int to, uint32_t vertex) const {
    return distances_[static_cast<size_t>(to) * names_.size() + vertex];
  }
  void find_distances() {
    if (names_.size() >= kApart || names_.size() * nodes() > size_t{1} << 28)
      throw InputError("the graph has more than 256 M pairs of nodes and ends of cables");
    std::vector<std::vector<uint32_t>> back(names_.size());
    for (uint32_t from = 0; from < names_.size(); ++from) {
      for (const Cable& cable : cables_[from]) back[cable.to].push_back(from);
    }
    distances_.assign(names_.size() * nodes(), kApart);
    for (int to = 0; to < nodes(); ++to) {
      uint16_t* const row = distances_.data() + static_cast<size_t>(to) * names_.size();
      std::vector<uint32_t> reached = {static_cast<uint32_t>(to)};
      row[to] = 0;
      for (size_t i = 0; i < reached.size(); ++i) {
        for (const uint32_t from : back[reached[i]]) {
          if (row[from] != kApart) continue;
          row[from] = static_cast<uint16_t>(row[reached[i]] + 1);
          reached.push_back(from);
        }
      }
      for (int from = 0; from < nodes(); ++from) {
        if (row[from] == kApart && !routes_.contains({from, to}))
          throw InputError("there is no way from " + names_[from] + " to " + names_[to]);
      }
    }
  }

  /// Number of shortest paths through a link: paths up to it times paths behind it.
  void spread(int from, int to, std::vector<FairShare::Use>& route) const {
    std::vector<uint32_t> order = {static_cast<uint32_t>(from)};  // by distance
    std::map<uint32_t, double> behind, share;                     // by vertex
    share[from] = 1;
    const auto nearer = [&](uint32_t at, const auto& each) {
      for (const Cable& cable : cables_[at]) {
        if (distance(to, cable.to) + 1 == distance(to, at)) each(cable);
      }
    };
    for (size_t i = 0; i < order.size(); ++i) {
      nearer(order[i], [&](const Cable& cable) {
        if (share.try_emplace(cable.to, 0).second) order.push_back(cable.to);
      });
    }
    behind[to] = 1;
    for (auto at = order.rbegin(); at != order.rend(); ++at)
      nearer(*at, [&](const Cable& cable) { behind[*at] += behind[cable.to]; });
    for (const uint32_t at : order) {
      nearer(at, [&](const Cable& cable) {
        const double part = share[at] * behind[cable.to] / behind[at];
        share[cable.to] += part;
        route.push_back({cable.link, part});
      });
    }
    merge(route);
  }

  bool spreads_;
  std::optional<double> bandwidth_;  ///< of cables without their own
  double latency_;
  std::map<std::string, size_t> vertices_;  ///< by name; nodes first
  std::vector<std::string> names_, link_names_;
  std::vector<std::vector<Cable>> cables_;  ///< by vertex
  std::map<std::pair<int, int>, std::vector<uint32_t>> routes_;
  std::vector<uint16_t> distances_;
};

std::shared_ptr<const Topology> make_graph(const ContentionSetting& setting,
                                           const Placement& placement) {
  std::vector<std::string> nodes;
  for (const std::string& line : setting.lines("nodes")) {
    for (const std::string& word : words_of(line)) {
      for (std::string& name : expanded(word)) nodes.push_back(std::move(name));
    }
  }
  if (nodes.empty() || setting.lines("cables").empty())
    throw InputError("a graph needs 'nodes', their names, and 'cables'");
  check_nodes("graph", placement, static_cast<double>(nodes.size()));
  return std::make_shared<Graph>(setting, nodes);
}

}  // namespace

extern const NetworkModel graph_model;
const NetworkModel graph_model = {
    "graph",
    "cables between nodes and switches by hand, which are shared fairly",
    with_link_keys(
        {{"nodes", NetworkKey::Kind::kLines, "names, also as in n[0-15]"},
         {"cables", NetworkKey::Kind::kLines,
          "FROM TO [BANDWIDTH] [LATENCY] [one-way] [half-duplex]"},
         {"routes", NetworkKey::Kind::kLines, "from node to node by hand, as in n0 s0 s1 n3"},
         {"routing",
          NetworkKey::Kind::kWord,
          "shortest, or spread over all shortest paths",
          {},
          "",
          {"shortest", "spread"}}}),
    make_own_links<make_graph>,
    make_latencies<make_graph>,
    count_nodes<make_graph>,
    nullptr,
    true,
};

}  // namespace rubato
