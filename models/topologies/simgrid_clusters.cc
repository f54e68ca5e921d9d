// Routes in SimGrid's clusters with a topology, with SimGrid's order and choices: they differ from
// torus.cc, fat_tree.cc and dragonfly.cc if two paths are equally short.

#include "models/base/error.h"
#include "models/topologies/simgrid_zones.h"

namespace rubato::simgrid {
namespace {

/// Adds the links of cables.
class Cables {
 public:
  Cables(Platform* platform, const CableKind& cable, const std::string& kind)
      : platform_(platform), cable_(cable), kind_(platform->kind(kind)) {}

  struct Ends {
    uint32_t up, down;
  };
  Ends add(const std::string& name, int count = 1) {
    const Link link{name, cable_.bandwidth * count, cable_.latency, cable_.is_shared, kind_};
    if (!cable_.is_split) {
      const uint32_t both = platform_->add_link(link);
      return {both, both};
    }
    Link up = link, down = link;
    up.name += "_UP";
    down.name += "_DOWN";
    const uint32_t first = platform_->add_link(up);
    return {first, platform_->add_link(down)};
  }

 private:
  Platform* platform_;
  CableKind cable_;
  int kind_;
};

std::string between(const std::string& zone, const std::string& from, const std::string& to) {
  return zone + " " + from + "-" + to;
}

/// The links of limiter_link, one for each host or switch: a way passes those of its ends and of
/// all in between.
class Limiters {
 public:
  /// `zone`: with the level of the switches, where there are several.
  void add(Platform* platform, const CableKind& cable, const std::string& zone,
           const std::string& of) {
    if (cable.limiter > 0) {
      links_.push_back(platform->add_link(
          {between(zone, "limiter", of), cable.limiter, 0, true, platform->kind("limiter")}));
    }
  }
  /// `entity`: in the order of add().
  void pass(size_t entity, Way& way) const {
    if (!links_.empty()) way.links.push_back(links_[entity]);
  }

 private:
  std::vector<uint32_t> links_;  ///< empty: no limiters
};

class Torus : public Zone {
 public:
  Torus(Platform* platform, Point* point, const CableKind& cable, const std::vector<int>& sizes)
      : Zone(platform, point), sizes_(sizes) {
    for (const int size : sizes) nodes_ *= size;
    for (int node = 0; node < nodes_; ++node) {
      limiters_.add(platform, cable, point->name, std::to_string(node));
      int stride = 1;
      for (size_t d = 0; d < sizes_.size(); ++d) {
        Cables cables(platform, cable, "dimension " + std::to_string(d + 1));
        links_.push_back(cables.add(between(point->name, std::to_string(node),
                                            std::to_string(next(node, stride, sizes_[d], true)))));
        stride *= sizes_[d];
      }
    }
  }

  Way route(const Point& from, const Point& to) const override {
    Way way;
    if (from.number >= nodes_ || to.number >= nodes_) return way;
    int at = from.number, stride = 1;
    limiters_.pass(at, way);
    for (size_t d = 0; d < sizes_.size(); ++d) {
      const int size = sizes_[d];
      const int here = from.number / stride % size, there = to.number / stride % size;
      const bool up = (there > here && there <= here + size / 2) ||
                      (here > size / 2 && (here + size / 2) % size >= there);
      while (at / stride % size != there) {
        const int after = next(at, stride, size, up);
        const size_t cable = (up ? at : after) * sizes_.size() + d;
        way.links.push_back(up ? links_[cable].up : links_[cable].down);
        at = after;
        limiters_.pass(at, way);
      }
      stride *= size;
    }
    return way;
  }

 private:
  static int next(int node, int stride, int size, bool up) {
    const int at = node / stride % size;
    return node + ((at + (up ? 1 : size - 1)) % size - at) * stride;
  }

  std::vector<int> sizes_;
  int nodes_ = 1;
  Limiters limiters_;
  std::vector<Cables::Ends> links_;  ///< by node and dimension, up
};

/// An entity has a label with a digit for each level: below its own level the index of the parent,
/// above it the index of the child.
class FatTree : public Zone {
 public:
  FatTree(Platform* platform, Point* point, const CableKind& cable, const TreeShape& shape)
      : Zone(platform, point), shape_(shape) {
    const size_t levels = shape_.down.size();
    for (const int down : shape_.down) nodes_ *= down;
    for (size_t level = 0; level <= levels; ++level) {
      const std::string of_level = level > 0 ? " level " + std::to_string(level) : "";
      int children = 1;
      for (size_t i = 0; i < levels; ++i) children *= i < level ? shape_.up[i] : shape_.down[i];
      Limiters& limiters = limiters_.emplace_back();
      for (int i = 0; i < children; ++i)
        limiters.add(platform, cable, point->name + of_level, std::to_string(i));
      if (level == levels) break;
      first_.push_back(links_.size());
      Cables cables(platform, cable, "level " + std::to_string(level + 1));
      const int ports = shape_.up[level] * shape_.parallel[level];
      for (int link = 0; link < children * ports; ++link) {
        links_.push_back(
            cables.add(between(point->name + " level " + std::to_string(level + 1),
                               std::to_string(link / ports), std::to_string(link % ports))));
      }
    }
  }

  Way route(const Point& from, const Point& to) const override {
    Way way;
    if (from.number >= nodes_ || to.number >= nodes_) return way;
    std::vector<int> at = label(from.number);
    const std::vector<int> target = label(to.number);
    const size_t levels = shape_.down.size();
    size_t level = 0;
    const auto pass_limiter = [&] { limiters_[level].pass(number_at(level, at), way); };
    const auto is_above = [&] {
      return level > 0 && std::equal(at.begin() + static_cast<long>(level), at.end(),
                                     target.begin() + static_cast<long>(level));
    };
    pass_limiter();
    for (int divisor = 1; level < levels && !is_above();) {
      const int ports = shape_.up[level] * shape_.parallel[level];
      const int port = to.number / divisor % ports;
      divisor *= shape_.up[level];
      way.links.push_back(cable(level, at, port).up);
      at[level] = port % shape_.up[level];
      ++level;
      pass_limiter();
    }
    // Port i of a switch leads to child i modulo its children. SimGrid searches from a port on, and
    // continues the search from there further down.
    while (level > 0) {
      const size_t top = level;
      int port = from.number % shape_.parallel[top - 1] * shape_.down[top - 1];
      for (; level > 0 && port < shape_.down[level - 1] * shape_.parallel[level - 1]; ++port) {
        const int children = shape_.down[level - 1];
        if (port % children != target[level - 1]) continue;
        const int parent = at[level - 1];
        at[level - 1] = target[level - 1];
        --level;
        way.links.push_back(cable(level, at, parent + port / children * shape_.up[level]).down);
        pass_limiter();
      }
      if (level == top) throw InputError("a fat tree of SimGrid has no way down");
    }
    return way;
  }

 private:
  std::vector<int> label(int node) const {
    std::vector<int> digits;
    for (const int down : shape_.down) {
      digits.push_back(node % down);
      node /= down;
    }
    return digits;
  }
  /// The number of an entity among those of its level.
  size_t number_at(size_t level, const std::vector<int>& label) const {
    int number = 0;
    for (size_t i = label.size(); i-- > 0;)
      number = number * (i < level ? shape_.up[i] : shape_.down[i]) + label[i];
    return static_cast<size_t>(number);
  }
  /// Of port `port` of a child at `level`.
  const Cables::Ends& cable(size_t level, const std::vector<int>& child, int port) const {
    return links_[first_[level] +
                  number_at(level, child) *
                      static_cast<size_t>(shape_.up[level] * shape_.parallel[level]) +
                  static_cast<size_t>(port)];
  }

  TreeShape shape_;
  int nodes_ = 1;
  std::vector<Limiters> limiters_;  ///< by level, hosts first
  std::vector<size_t> first_;       ///< by level, in links_
  std::vector<Cables::Ends> links_;
};

class Dragonfly : public Zone {
 public:
  Dragonfly(Platform* platform, Point* point, const CableKind& cable, const DragonflyShape& shape)
      : Zone(platform, point),
        shape_(shape),
        nodes_(shape.groups * shape.chassis * shape.routers * shape.nodes) {
    const std::string& name = point->name;
    const auto router_name = [](int router) { return "r" + std::to_string(router); };
    Cables node(platform, cable, "node"), green(platform, cable, "chassis"),
        black(platform, cable, "group"), blue(platform, cable, "global");
    const int routers = nodes_ / shape.nodes;
    for (int i = 0; i < nodes_ + routers; ++i)
      limiters_.add(platform, cable, name,
                    i < nodes_ ? std::to_string(i) : router_name(i - nodes_));
    for (int i = 0; i < nodes_; ++i)
      node_.push_back(node.add(between(name, router_name(i / shape.nodes), std::to_string(i))));
    const auto add = [&](Cables& cables, int count, int a, int b) {
      const Cables::Ends ends = cables.add(between(name, router_name(a), router_name(b)), count);
      links_[{a, b}] = ends.up;
      links_[{b, a}] = ends.down;
    };
    for (int a = 0; a < routers; ++a) {
      for (int other = a % shape.routers + 1; other < shape.routers; ++other)
        add(green, shape.green, a, a - a % shape.routers + other);
    }
    for (int group = 0; group < shape.groups; ++group) {
      for (int a = 0; a < shape.chassis; ++a) {
        for (int b = a + 1; b < shape.chassis; ++b) {
          for (int place = 0; place < shape.routers; ++place)
            add(black, shape.black, router(group, a, place), router(group, b, place));
        }
      }
    }
    for (int a = 0; a < shape.groups; ++a) {
      for (int b = a + 1; b < shape.groups; ++b)
        add(blue, shape.blue, router(a, 0, b), router(b, 0, a));
    }
  }

  Way route(const Point& from, const Point& to) const override {
    Way way;
    if (from.number >= nodes_ || to.number >= nodes_) return way;
    limiters_.pass(from.number, way);
    way.links.push_back(node_[from.number].up);
    int at = from.number / shape_.nodes;
    limiters_.pass(nodes_ + at, way);
    const int target = to.number / shape_.nodes;
    /// On to another router, after which the way goes on from `then`.
    const auto go_on = [&](int next, int then) {
      if (next == at) return;
      way.links.push_back(links_.at({at, next}));
      at = then;
      limiters_.pass(nodes_ + at, way);
    };
    const auto go = [&](int next) { go_on(next, next); };
    const int group = group_of(at), other = group_of(target);
    if (group != other) {
      go(router(group, chassis_of(at), other));
      go(router(group, 0, other));
      go(router(other, 0, group));
    }
    if (at % shape_.routers != target % shape_.routers) {
      // (SimGrid assumes the first chassis behind that.)
      const int place = target % shape_.routers;
      go_on(router(other, chassis_of(at), place), router(other, 0, place));
    }
    go(router(other, chassis_of(target), target % shape_.routers));
    way.links.push_back(node_[to.number].down);
    limiters_.pass(to.number, way);
    return way;
  }

 private:
  int router(int group, int chassis, int place) const {
    return (group * shape_.chassis + chassis) * shape_.routers + place;
  }
  int group_of(int router) const { return router / (shape_.chassis * shape_.routers); }
  int chassis_of(int router) const { return router / shape_.routers % shape_.chassis; }

  DragonflyShape shape_;
  int nodes_;
  std::vector<Cables::Ends> node_;
  Limiters limiters_;                              ///< of the nodes, then of the routers
  std::map<std::pair<int, int>, uint32_t> links_;  ///< between routers
};

void check(double nodes, double links) {
  constexpr double kMost = 1 << 22;
  if (nodes > kMost || links > kMost) throw InputError("there are more than 4 M links");
}

}  // namespace

std::unique_ptr<Zone> make_torus(Platform* platform, Point* point, const CableKind& cable,
                                 const std::vector<int>& sizes) {
  double nodes = 1;
  for (const int size : sizes) nodes *= size;
  check(nodes, 2 * nodes * static_cast<double>(sizes.size()));
  return std::make_unique<Torus>(platform, point, cable, sizes);
}

std::unique_ptr<Zone> make_fat_tree(Platform* platform, Point* point, const CableKind& cable,
                                    const TreeShape& shape) {
  double nodes = 1, links = 0;
  for (const int down : shape.down) nodes *= down;
  double children = nodes;
  for (size_t i = 0; i < shape.down.size(); ++i) {
    links += 2 * children * shape.up[i] * shape.parallel[i];
    children *= 1.0 * shape.up[i] / shape.down[i];
  }
  check(nodes, links);
  return std::make_unique<FatTree>(platform, point, cable, shape);
}

std::unique_ptr<Zone> make_dragonfly(Platform* platform, Point* point, const CableKind& cable,
                                     const DragonflyShape& shape) {
  const double routers = 1.0 * shape.groups * shape.chassis * shape.routers;
  check(routers * shape.nodes, 2 * routers * shape.nodes +
                                   routers * (shape.chassis + shape.routers) +
                                   1.0 * shape.groups * shape.groups);
  if (shape.groups > shape.routers) {
    throw InputError(
        "a dragonfly of more groups than a chassis has routers: SimGrid reads behind "
        "its arrays there");
  }
  return std::make_unique<Dragonfly>(platform, point, cable, shape);
}

}  // namespace rubato::simgrid
