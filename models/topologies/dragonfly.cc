// Dragonflies (Kim, Dally, Scott, Abts: Technology-driven, highly-scalable dragonfly topology,
// 2008) as in SimGrid and Cray's Aries: groups of chassis of routers, each with nodes.
//
//   green   between all routers of a chassis
//   black   between routers of the same place in all chassis of a group
//   blue    between two groups: router b of group a to router a of group b (modulo routers)
//
//   minimal   node, green and black to the router with the cable, blue, green and black, node
//   valiant   over a third group, if there is one, drawn by the pair

#include <algorithm>
#include <cmath>
#include <numbers>

#include "models/base/error.h"
#include "models/network/topology.h"

namespace rubato {
namespace {

class Dragonfly : public Topology {
 public:
  struct Shape {
    int groups, chassis, routers, nodes;  ///< routers of a chassis, nodes of a router
    int per_group() const { return chassis * routers; }
  };

  /// `cables`: between groups, chassis, routers.
  Dragonfly(const Shape& shape, double bandwidth, const std::vector<int>& cables, bool valiant)
      : Topology(shape.groups * shape.per_group() * shape.nodes), shape_(shape), valiant_(valiant) {
    const auto add = [&](const char* name, double each, int count) {
      const auto first = static_cast<uint32_t>(links().size());
      const int kind = add_kind(name);
      for (int i = 0; i < count; ++i) add_link(each, kind);
      return first;
    };
    const int routers = shape.groups * shape.per_group();
    add("node", bandwidth, 2 * nodes());
    green_ = add("chassis", bandwidth * cables[2], routers * shape.routers);
    black_ = add("group", bandwidth * cables[1], routers * shape.chassis);
    blue_ = add("global", bandwidth * cables[0], shape.groups * shape.groups);
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route = {{static_cast<uint32_t>(2 * from), 1}, {static_cast<uint32_t>(2 * to + 1), 1}};
    int router = from / shape_.nodes;
    const int target = to / shape_.nodes;
    const int own = router / shape_.per_group(), other = target / shape_.per_group();
    if (valiant_ && own != other && shape_.groups > 2) {
      int middle = draw(from, to, shape_.groups - 2);
      for (const int taken : {std::min(own, other), std::max(own, other)})
        middle += middle >= taken;
      router = to_group(router, middle, route);
    }
    if (router / shape_.per_group() != other) router = to_group(router, other, route);
    in_group(router, target, route);
    merge(route);
  }
  std::string link_name(uint32_t link) const override {
    const auto between = [](const std::string& what, uint32_t from, uint32_t to) {
      return what + " " + std::to_string(from) + "→" + std::to_string(to);
    };
    const auto routers = static_cast<uint32_t>(shape_.routers);
    const auto chassis = static_cast<uint32_t>(shape_.chassis);
    const auto groups = static_cast<uint32_t>(shape_.groups);
    if (link < green_) return "node " + std::to_string(link / 2) + (link % 2 == 0 ? " out" : " in");
    if (link < black_) {
      const uint32_t from = (link - green_) / routers;
      return between("router", from, from - from % routers + (link - green_) % routers);
    }
    if (link < blue_) {
      const uint32_t from = (link - black_) / chassis, place = from % routers;
      const uint32_t group = from / (routers * chassis);
      return between("router", from,
                     (group * chassis + (link - black_) % chassis) * routers + place);
    }
    return between("group", (link - blue_) / groups, (link - blue_) % groups);
  }
  /// Groups on a circle, each one of routers with their nodes outside.
  TopologyDrawing drawing() const override {
    TopologyDrawing drawing;
    drawing.is_round = true;
    const int groups = shape_.groups, routers = shape_.per_group();
    // Neighbours on the circle leave a gap, and all fit on the page.
    const double part = groups > 1 ? 0.9 * std::sin(std::numbers::pi / groups) : 1;
    const double centre = groups > 1 ? 0.5 / (1 + part) : 0;
    const double reach = groups > 1 ? centre * part : 0.5, radius = reach / 1.4;
    const auto add_in_group = [&](int group, double at, double index, std::string name,
                                  bool is_node) {
      const double angle = 2 * std::numbers::pi * group / groups;
      drawing.add_on_circle(0.5 + centre * std::sin(angle), 0.5 - centre * std::cos(angle), at,
                            index, routers, std::move(name), is_node);
    };
    for (int node = 0; node < nodes(); ++node) {
      const int router = node / shape_.nodes;
      const double side = (node % shape_.nodes + 0.5) / shape_.nodes - 0.5;
      add_in_group(router / routers, reach, router % routers + 0.8 * side,
                   "node " + std::to_string(node), true);
    }
    const auto first = static_cast<uint32_t>(drawing.vertices.size());
    for (int router = 0; router < groups * routers; ++router)
      add_in_group(router / routers, radius, router % routers, "router " + std::to_string(router),
                   false);
    const auto connect = [&](uint32_t from, uint32_t to, uint32_t there, uint32_t back) {
      drawing.cables.push_back({from, to, {there}, {back}});
    };
    for (uint32_t node = 0; node < first; ++node)
      connect(node, first + node / static_cast<uint32_t>(shape_.nodes), 2 * node, 2 * node + 1);
    for (int router = 0; router < groups * routers; ++router) {
      const int place = router % shape_.routers, chassis = router / shape_.routers % shape_.chassis;
      for (int other = place + 1; other < shape_.routers; ++other)
        connect(first + router, first + router + (other - place), green(router, other),
                green(router + (other - place), place));
      for (int other = chassis + 1; other < shape_.chassis; ++other) {
        const int peer = router + (other - chassis) * shape_.routers;
        connect(first + router, first + peer, black(router, other), black(peer, chassis));
      }
    }
    for (int a = 0; a < groups; ++a) {
      for (int b = a + 1; b < groups; ++b)
        connect(first + gate(a, b), first + gate(b, a), blue(a, b), blue(b, a));
    }
    return drawing;
  }
  int diameter() const override { return valiant_ ? 10 : 7; }

 private:
  /// From a router to the one at another place of its chassis.
  uint32_t green(int router, int place) const {
    return green_ + static_cast<uint32_t>(router * shape_.routers + place);
  }
  /// To the one at its place of another chassis.
  uint32_t black(int router, int chassis) const {
    return black_ + static_cast<uint32_t>(router * shape_.chassis + chassis);
  }
  uint32_t blue(int own, int group) const {
    return blue_ + static_cast<uint32_t>(own * shape_.groups + group);
  }
  /// The router of a group that has the cable to another one.
  int gate(int own, int group) const {
    return own * shape_.per_group() + group % shape_.per_group();
  }
  /// Over the cable to another group; the router at its end.
  int to_group(int router, int group, std::vector<FairShare::Use>& route) const {
    const int own = router / shape_.per_group();
    in_group(router, gate(own, group), route);
    route.push_back({blue(own, group), 1});
    return gate(group, own);
  }
  void in_group(int router, int target, std::vector<FairShare::Use>& route) const {
    const int place = target % shape_.routers;
    if (router % shape_.routers != place) {
      route.push_back({green(router, place), 1});
      router += place - router % shape_.routers;
    }
    if (router == target) return;
    const int chassis = target / shape_.routers % shape_.chassis;
    route.push_back({black(router, chassis), 1});
  }

  Shape shape_;
  bool valiant_;
  uint32_t green_ = 0, black_ = 0, blue_ = 0;  ///< the first link of each
};

std::shared_ptr<const Topology> make_dragonfly(const ContentionSetting& setting,
                                               const Placement& placement) {
  const std::vector<int> shape = setting.counts("shape");
  std::vector<int> cables = setting.counts("cables");
  if (shape.size() != 4) {
    throw InputError(
        "a dragonfly needs 'shape': groups, chassis of a group, routers of a chassis, nodes of a "
        "router");
  }
  if (cables.empty()) cables.assign(3, 1);
  if (cables.size() != 3)
    throw InputError("'cables' of a dragonfly are those between groups, chassis and routers");
  const double routers = 1.0 * shape[0] * shape[1] * shape[2];
  check_nodes("dragonfly", placement, routers * shape[3]);
  check_links("dragonfly",
              2 * routers * shape[3] + routers * (shape[1] + shape[2]) + 1.0 * shape[0] * shape[0]);
  return std::make_shared<Dragonfly>(Dragonfly::Shape{shape[0], shape[1], shape[2], shape[3]},
                                     link_bandwidth(setting), cables,
                                     setting.word("routing") == "valiant");
}

}  // namespace

extern const NetworkModel dragonfly_model;
const NetworkModel dragonfly_model = {
    "dragonfly",
    "groups of routers, all connected with each other, whose links are shared fairly",
    with_link_keys({{"shape", NetworkKey::Kind::kCounts,
                     "groups, chassis of a group, routers of a chassis, nodes of a router"},
                    {"cables", NetworkKey::Kind::kCounts,
                     "between two groups, two chassis, two routers; without it 1"},
                    {"routing",
                     NetworkKey::Kind::kWord,
                     "minimal, or valiant: over a third group",
                     {},
                     "",
                     {"minimal", "valiant"}}}),
    make_links<make_dragonfly>,
    make_hops<make_dragonfly>,
    count_nodes<make_dragonfly>,
};

}  // namespace rubato
