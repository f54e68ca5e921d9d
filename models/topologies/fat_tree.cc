// Fat trees: parallel ports generalised (PGFT, Zahavi: D-Mod-K routing providing non-blocking
// traffic for shift permutations on real life fat trees, 2010), with the numbers of SimGrid's
// topo_parameters. A switch of level i has down[i] children, each child up[i] parents, and between
// the two are parallel[i] cables.
//
//   level 2      s0    s1         down = [4, 2], up = [1, 2], parallel = [1, 1]: 8 nodes, of
//                ║ ╲  ╱ ║         which 4 share the two cables up from their switch, tapered 2:1
//                ║  ╲╱  ║
//   level 1      s0 ╱╲  s1
//              ╱ │ │ ╲ ...
//   nodes     0  1 2  3 4 5 6 7
//
// A path goes up to the lowest level where both nodes are below one switch, and down again. With
// d-mod-k the destination d chooses: at level i the port d / (up[0] * ... * up[i-1]) modulo the
// ports there, the same on the way down. With `spread` all ports get an equal part.

#include "models/base/error.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

class FatTree : public Topology {
 public:
  struct Level {
    int down, up, parallel;
    uint32_t first_link = 0;  ///< below: of child c, port p: up at + 2 (c ports + p), down behind
    int below = 1;            ///< nodes under an entity of the level below
    int choices = 1;          ///< entities of the level below above the same nodes
    int ports() const { return up * parallel; }
  };

  FatTree(std::vector<Level> levels, double bandwidth, bool spreads)
      : Topology(nodes_of(levels)), levels_(std::move(levels)), spreads_(spreads) {
    int below = 1, choices = 1;
    for (size_t i = 0; i < levels_.size(); ++i) {
      Level& level = levels_[i];
      const int kind = add_kind("level " + std::to_string(i + 1));
      level.first_link = static_cast<uint32_t>(links().size());
      level.below = below;
      level.choices = choices;
      const size_t children = static_cast<size_t>(nodes() / below) * choices;
      for (size_t link = 0; link < children * level.ports() * 2; ++link) add_link(bandwidth, kind);
      below *= level.down;
      choices *= level.up;
    }
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route.clear();
    size_t top = 0;
    while (from / (levels_[top].below * levels_[top].down) !=
           to / (levels_[top].below * levels_[top].down))
      ++top;
    int choice = 0;
    for (size_t i = 0; i <= top; ++i) {
      const Level& level = levels_[i];
      const int first = spreads_ ? 0 : choice, last = spreads_ ? level.choices - 1 : choice;
      const int wanted = to / level.choices % level.ports();
      const double part = spreads_ ? 1.0 / (level.choices * level.ports()) : 1;
      for (int at = first; at <= last; ++at) {
        for (int port = 0; port < level.ports(); ++port) {
          if (!spreads_ && port != wanted) continue;
          route.push_back({link(level, from, at, port), part});
          route.push_back({link(level, to, at, port) + 1, part});
        }
      }
      choice += wanted % level.up * level.choices;
    }
  }
  int hops(int from, int to) const override {
    int hops = 2;
    for (const Level& level : levels_) {
      const int reach = level.below * level.down;
      if (from / reach == to / reach) break;
      hops += 2;
    }
    return hops;
  }
  std::string link_name(uint32_t link) const override {
    const size_t i = links()[link].kind;
    const uint32_t cable = (link - levels_[i].first_link) / 2;
    const auto ports = static_cast<uint32_t>(levels_[i].ports());
    return "level " + std::to_string(i + 1) + (link % 2 == 0 ? " up from " : " down to ") +
           (i == 0 ? "node " : "switch ") + std::to_string(cable / ports) +
           (ports > 1 ? " by port " + std::to_string(cable % ports) : "");
  }
  TopologyDrawing drawing() const override {
    TopologyDrawing drawing;
    const double levels = static_cast<double>(levels_.size());
    const auto add_row = [&](size_t height, int count) {
      const auto first = static_cast<uint32_t>(drawing.vertices.size());
      const std::string name =
          height == 0 ? "node " : "level " + std::to_string(height) + " switch ";
      for (int i = 0; i < count; ++i)
        drawing.add((i + 0.5) / count, 1 - static_cast<double>(height) / levels,
                    name + std::to_string(i), height == 0);
      return first;
    };
    uint32_t children = add_row(0, nodes());
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      const int count = nodes() / level.below * level.choices;
      const uint32_t parents = add_row(i + 1, count / level.down * level.up);
      for (int child = 0; child < count; ++child) {
        const int group = child / level.choices / level.down, choice = child % level.choices;
        for (int up = 0; up < level.up; ++up) {
          const int parent = (group * level.up + up) * level.choices + choice;
          TopologyDrawing::Cable cable{children + static_cast<uint32_t>(child),
                                       parents + static_cast<uint32_t>(parent),
                                       {},
                                       {}};
          for (int port = up; port < level.ports(); port += level.up) {
            cable.there.push_back(link(level, child / level.choices * level.below, choice, port));
            cable.back.push_back(cable.there.back() + 1);
          }
          drawing.cables.push_back(std::move(cable));
        }
      }
      children = parents;
    }
    return drawing;
  }
  int diameter() const override { return 2 * static_cast<int>(levels_.size()); }

 private:
  static int nodes_of(const std::vector<Level>& levels) {
    int nodes = 1;
    for (const Level& level : levels) nodes *= level.down;
    return nodes;
  }
  /// Up from the child over `node` that `choice` leads to.
  uint32_t link(const Level& level, int node, int choice, int port) const {
    const uint32_t child = static_cast<uint32_t>(node / level.below * level.choices + choice);
    return level.first_link + 2 * (child * static_cast<uint32_t>(level.ports()) + port);
  }

  std::vector<Level> levels_;
  bool spreads_;
};

std::shared_ptr<const Topology> make_fat_tree(const ContentionSetting& setting,
                                              const Placement& placement) {
  const std::vector<int> down = setting.counts("down");
  std::vector<int> up = setting.counts("up"), parallel = setting.counts("parallel");
  if (down.empty()) throw InputError("a fat-tree needs 'down', the children of a switch by level");
  if (up.empty()) up.assign(down.size(), 1);
  if (parallel.empty()) parallel.assign(down.size(), 1);
  if (up.size() != down.size() || parallel.size() != down.size())
    throw InputError("'down', 'up' and 'parallel' of a fat-tree need a number for each level");
  std::vector<FatTree::Level> levels;
  double nodes = 1, links = 0, choices = 1;
  for (const int count : down) nodes *= count;
  check_nodes("fat-tree", placement, nodes);
  double children = nodes;
  for (size_t i = 0; i < down.size(); ++i) {
    levels.push_back({down[i], up[i], parallel[i]});
    links += 2 * children * choices * up[i] * parallel[i];
    children /= down[i];
    choices *= up[i];
  }
  check_links("fat-tree", links);
  return std::make_shared<FatTree>(std::move(levels), link_bandwidth(setting),
                                   setting.word("routing") == "spread");
}

}  // namespace

extern const NetworkModel fat_tree_model;
const NetworkModel fat_tree_model = {
    "fat-tree",
    "levels of switches, whose links are shared fairly",
    with_link_keys(
        {{"down", NetworkKey::Kind::kCounts, "children of a switch, by level from the nodes up"},
         {"up", NetworkKey::Kind::kCounts, "parents of a child, by level; without it 1"},
         {"parallel", NetworkKey::Kind::kCounts, "cables between the two, by level; without it 1"},
         {"routing",
          NetworkKey::Kind::kWord,
          "d-mod-k, or spread over all shortest paths",
          {},
          "",
          {"d-mod-k", "spread"}}}),
    make_links<make_fat_tree>,
    make_hops<make_fat_tree>,
    count_nodes<make_fat_tree>,
};

}  // namespace rubato
