// Reads SimGrid's platform files (its DTD of version 4.1): zones, clusters, hosts, routers, links
// and routes. Speeds of hosts, disks, properties, settings and actors do not concern a network and
// are ignored; any other unsupported element is refused.

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/topologies/simgrid_quantities.h"
#include "models/topologies/simgrid_zones.h"

namespace rubato::simgrid {
namespace {

constexpr size_t kMostBytes = size_t{1} << 27;
constexpr int kMostDepth = 32;

class File {
 public:
  explicit File(const std::string& path) : path_(path) {}

  std::shared_ptr<const Platform> read();

 private:
  using Node = pugi::xml_node;
  struct Cable {
    uint32_t up, down;
    bool is_split;
  };

  [[noreturn]] void fail(const Node& node, const std::string& message) const;
  /// Runs `what`; errors get the line of the element.
  template <typename What>
  void at(const Node& node, const What& what) const {
    try {
      what();
    } catch (const InputError& error) {
      fail(node, error.what());
    }
  }
  std::string get(const Node& node, const char* name) const;
  std::string get(const Node& node, const char* name, const std::string& usual) const;
  void check_attributes(const Node& node, const std::vector<std::string>& known) const;

  void read_zone(const Node& node, Zone* parent, int depth);
  void read_routed(const Node& node, RoutedZone& zone, int depth);
  void read_star(const Node& node, StarZone& zone);
  void read_cluster(const Node& node, Zone* parent);
  Zone* add_shape(const Node& node, Point* point, const CableKind& cable, double hosts);
  void add_host(const std::string& name, Zone& zone);
  void read_host(const Node& node, Zone& zone);
  void read_link(const Node& node);
  void read_route(const Node& node, RoutedZone& zone);
  std::vector<uint32_t> links_of(const Node& route, bool back) const;
  const Point* inside(const Node& node, const char* name, const Zone& zone) const;
  Cable add_cable(const std::string& name, double bandwidth, double latency,
                  const std::string& policy, const std::string& kind);

  std::string path_, text_;
  std::shared_ptr<Platform> platform_ = std::make_shared<Platform>();
  std::map<std::string, Cable> cables_;
};

void File::fail(const Node& node, const std::string& message) const {
  const auto offset =
      std::min(static_cast<size_t>(std::max<std::ptrdiff_t>(0, node.offset_debug())), text_.size());
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  throw InputError(path_ + ":" + std::to_string(line) + ": <" + node.name() + ">: " + message);
}

std::string File::get(const Node& node, const char* name) const {
  const pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute || !*attribute.value()) fail(node, std::string("'") + name + "' is missing");
  return attribute.value();
}

std::string File::get(const Node& node, const char* name, const std::string& usual) const {
  const std::string value = node.attribute(name).value();
  return value.empty() ? usual : value;
}

void File::check_attributes(const Node& node, const std::vector<std::string>& known) const {
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    if (std::find(known.begin(), known.end(), attribute.name()) != known.end() ||
        !*attribute.value())
      continue;
    fail(node, std::string("'") + attribute.name() + "' is not understood");
  }
}

std::shared_ptr<const Platform> File::read() {
  text_ = text_of_file(path_, "a platform file", kMostBytes);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text_.data(), text_.size());
  if (!parsed) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + parsed.offset, '\n');
    throw InputError(path_ + ":" + std::to_string(line) + ": " + parsed.description());
  }
  const Node root = document.child("platform");
  if (!root) throw InputError(path_ + ": there is no <platform>: this is no file of SimGrid's");
  if (root.attribute("version").as_double() < 4) {
    fail(root, "this reads version 4 and later; simgrid_update_xml makes such a file of it");
  }
  for (const Node& node : root.children()) {
    const std::string name = node.name();
    if (name == "config" || name == "actor" || name == "process") continue;
    if (!platform_->zones.empty()) fail(node, "there is one zone around all others");
    if (name == "zone" || name == "AS") {
      read_zone(node, nullptr, 0);
    } else if (name == "cluster") {
      read_cluster(node, nullptr);
    } else {
      fail(node, "is not understood here");
    }
  }
  if (platform_->hosts.empty()) throw InputError(path_ + ": there are no hosts");
  text_.clear();
  return platform_;
}

// --- Zones ---

void File::read_zone(const Node& node, Zone* parent, int depth) {
  check_attributes(node, {"id", "routing"});
  if (depth == kMostDepth) fail(node, "zones are more than 32 deep");
  static const std::map<std::string, RoutedZone::Kind> kinds = {
      {"Full", RoutedZone::Kind::kFull},
      {"Floyd", RoutedZone::Kind::kFloyd},
      {"Dijkstra", RoutedZone::Kind::kDijkstra},
      {"DijkstraCache", RoutedZone::Kind::kDijkstra},
      {"None", RoutedZone::Kind::kNone}};
  const std::string routing = get(node, "routing");
  Point* point = nullptr;
  at(node, [&] { point = platform_->add_point(get(node, "id"), parent); });
  const auto kind = kinds.find(routing);
  if (kind != kinds.end()) {
    auto zone = std::make_unique<RoutedZone>(platform_.get(), point, kind->second);
    RoutedZone& added = *zone;
    point->inside = &added;
    platform_->zones.push_back(std::move(zone));
    read_routed(node, added, depth);
    at(node, [&] { added.close(); });
  } else if (routing == "Cluster") {
    auto zone = std::make_unique<StarZone>(platform_.get(), point);
    StarZone& added = *zone;
    point->inside = &added;
    platform_->zones.push_back(std::move(zone));
    read_star(node, added);
  } else {
    fail(node,
         "routing \"" + routing +
             "\" is not understood; Full, Floyd, Dijkstra, DijkstraCache, Cluster and None are" +
             (routing == "Vivaldi" ? "; coordinates give latencies, but no links to share: write "
                                     "the latency into a platform file of Rubato, or <route>s with "
                                     "<link>s into a Full zone"
                                   : ""));
  }
}

void File::read_routed(const Node& node, RoutedZone& zone, int depth) {
  for (const Node& child : node.children()) {
    const std::string name = child.name();
    if (name == "zone" || name == "AS") {
      read_zone(child, &zone, depth + 1);
    } else if (name == "cluster") {
      read_cluster(child, &zone);
    } else if (name == "host") {
      read_host(child, zone);
    } else if (name == "router") {
      at(child, [&] { platform_->add_point(get(child, "id"), &zone); });
    } else if (name == "link") {
      read_link(child);
    } else if (name == "route" || name == "zoneRoute" || name == "ASroute") {
      read_route(child, zone);
    } else if (name != "prop") {
      fail(child, "is not understood here");
    }
  }
}

/// Hosts with <host_link>s, <cabinet>s of such hosts, and a <backbone>.
void File::read_star(const Node& node, StarZone& zone) {
  std::optional<uint32_t> backbone;
  std::vector<std::pair<const Point*, Cable>> ends;
  const auto cable = [&](const Node& child, const char* which) {
    const auto known = cables_.find(get(child, which));
    if (known == cables_.end()) fail(child, "there is no link '" + get(child, which) + "'");
    return known->second.up;
  };
  for (const Node& child : node.children()) {
    const std::string name = child.name();
    if (name == "host") {
      read_host(child, zone);
    } else if (name == "router") {
      at(child, [&] { platform_->add_point(get(child, "id"), &zone); });
    } else if (name == "link") {
      read_link(child);
    } else if (name == "cabinet") {
      check_attributes(child, {"id", "prefix", "suffix", "radical", "speed", "bw", "lat"});
      at(child, [&] {
        for (const std::string& number : radicals(get(child, "radical"))) {
          const std::string host = get(child, "prefix", "") + number + get(child, "suffix", "");
          add_host(host, zone);
          ends.push_back(
              {zone.points.back(), add_cable("link_" + host, bandwidth(get(child, "bw")),
                                             seconds(get(child, "lat")), "SPLITDUPLEX", "node")});
        }
      });
    } else if (name == "host_link") {
      check_attributes(child, {"id", "up", "down"});
      ends.push_back({inside(child, "id", zone), {cable(child, "up"), cable(child, "down"), true}});
    } else if (name == "backbone") {
      check_attributes(child, {"id", "bandwidth", "latency"});
      at(child, [&] {
        backbone = add_cable(get(child, "id"), bandwidth(get(child, "bandwidth")),
                             seconds(get(child, "latency")), "SHARED", "backbone")
                       .up;
      });
    } else if (name != "prop") {
      fail(child, "is not understood here");
    }
  }
  for (const auto& [point, links] : ends) {
    std::vector<uint32_t> up = {links.up}, down = {links.down};
    if (backbone) up.push_back(*backbone), down.push_back(*backbone);
    zone.set(*point, up, down);
  }
}

void File::read_cluster(const Node& node, Zone* parent) {
  check_attributes(
      node, {"id", "prefix", "suffix", "radical", "speed", "core", "bw", "lat", "sharing_policy",
             "topology", "topo_parameters", "bb_bw", "bb_lat", "bb_sharing_policy", "router_id",
             "limiter_link", "loopback_bw", "loopback_lat"});
  for (const Node& child : node.children()) {
    if (std::string(child.name()) != "prop") fail(child, "is not understood here");
  }
  at(node, [&] {
    const std::string id = get(node, "id"), policy = get(node, "sharing_policy", "SPLITDUPLEX");
    const std::string prefix = node.attribute("prefix").value();
    const std::string suffix = node.attribute("suffix").value();
    const std::vector<std::string> numbers = radicals(get(node, "radical"));
    Point* const point = platform_->add_point(id, parent);
    const std::string limiter = node.attribute("limiter_link").value();
    const CableKind cable = {bandwidth(get(node, "bw")), seconds(get(node, "lat")),
                             policy != "FATPIPE", policy == "SPLITDUPLEX" || policy == "FULLDUPLEX",
                             limiter.empty() ? 0 : bandwidth(limiter)};
    if (!cable.is_split && policy != "FATPIPE" && policy != "SHARED")
      throw InputError("sharing_policy \"" + policy + "\" is not understood");
    const bool is_flat = get(node, "topology", "FLAT") == "FLAT";
    Zone* zone = nullptr;
    StarZone* star = nullptr;
    if (is_flat) {
      auto added = std::make_unique<StarZone>(platform_.get(), point);
      zone = star = added.get();
      platform_->zones.push_back(std::move(added));
    } else {
      zone = add_shape(node, point, cable, static_cast<double>(numbers.size()));
    }
    point->inside = zone;
    std::optional<uint32_t> backbone;
    if (is_flat && *node.attribute("bb_bw").value()) {
      backbone = add_cable(id + "_backbone", bandwidth(get(node, "bb_bw")),
                           seconds(get(node, "bb_lat", "0")),
                           get(node, "bb_sharing_policy", "SHARED"), "backbone")
                     .up;
    }
    for (const std::string& number : numbers) {
      add_host(prefix + number + suffix, *zone);
      if (!is_flat) continue;
      const std::string name = id + "_link_" + number;
      const Cable link = add_cable(name, cable.bandwidth, cable.latency, policy, "node");
      std::vector<uint32_t> up = {link.up}, down = {link.down};
      if (cable.limiter > 0) {
        const uint32_t both =
            add_cable(name + "_limiter", cable.limiter, 0, "SHARED", "limiter").up;
        up.push_back(both), down.push_back(both);
      }
      if (backbone) up.push_back(*backbone), down.push_back(*backbone);
      star->set(*zone->points.back(), up, down);
    }
    platform_->add_point(get(node, "router_id", prefix + id + "_router" + suffix), zone);
  });
}

Zone* File::add_shape(const Node& node, Point* point, const CableKind& cable, double hosts) {
  const std::string topology = get(node, "topology");
  if (*node.attribute("bb_bw").value())
    throw InputError("'bb_bw' is understood in clusters that are FLAT");
  std::vector<std::vector<int>> parts;
  std::istringstream parameters(get(node, "topo_parameters"));
  for (std::string part; std::getline(parameters, part, ';');) parts.push_back(counts(part));
  const auto check = [&](bool fits) {
    if (!fits) throw InputError("topo_parameters do not fit a " + topology);
  };
  std::unique_ptr<Zone> zone;
  double nodes = 1;
  if (topology == "TORUS") {
    check(parts.size() == 1);
    for (const int size : parts[0]) nodes *= size;
    if (nodes == hosts) zone = make_torus(platform_.get(), point, cable, parts[0]);
  } else if (topology == "FAT_TREE") {
    check(parts.size() == 4 && parts[0].size() == 1);
    for (size_t i = 1; i < 4; ++i) check(parts[i].size() == static_cast<size_t>(parts[0][0]));
    for (const int down : parts[1]) nodes *= down;
    if (nodes == hosts)
      zone = make_fat_tree(platform_.get(), point, cable, {parts[1], parts[2], parts[3]});
  } else if (topology == "DRAGONFLY") {
    check(parts.size() == 4 && parts[3].size() == 1);
    for (size_t i = 0; i < 3; ++i) check(parts[i].size() == 2);
    nodes = 1.0 * parts[0][0] * parts[1][0] * parts[2][0] * parts[3][0];
    if (nodes == hosts) {
      zone = make_dragonfly(platform_.get(), point, cable,
                            {parts[0][0], parts[0][1], parts[1][0], parts[1][1], parts[2][0],
                             parts[2][1], parts[3][0]});
    }
  } else {
    throw InputError("topology \"" + topology +
                     "\" is not understood; FLAT, TORUS, FAT_TREE and DRAGONFLY are");
  }
  if (!zone) throw InputError("the radical and topo_parameters mean different numbers of hosts");
  platform_->zones.push_back(std::move(zone));
  return platform_->zones.back().get();
}

// --- What is in them ---

void File::add_host(const std::string& name, Zone& zone) {
  Point* const point = platform_->add_point(name, &zone);
  point->is_host = true;
  platform_->hosts.push_back(point);
}

void File::read_host(const Node& node, Zone& zone) {
  check_attributes(node, {"id", "speed", "core", "speed_file", "availability_file", "state_file",
                          "coordinates", "pstate"});
  at(node, [&] { add_host(get(node, "id"), zone); });
}

File::Cable File::add_cable(const std::string& name, double bandwidth, double latency,
                            const std::string& policy, const std::string& kind) {
  const bool is_split = policy == "SPLITDUPLEX" || policy == "FULLDUPLEX";
  if (!is_split && policy != "SHARED" && policy != "FATPIPE")
    throw InputError("sharing_policy \"" + policy + "\" is not understood");
  Link link{name, bandwidth, latency, policy != "FATPIPE", platform_->kind(kind)};
  const auto add = [&](const std::string& full, const Cable& cable) {
    if (!cables_.try_emplace(full, cable).second)
      throw InputError("there are two links '" + full + "'");
  };
  if (!is_split) {
    const uint32_t both = platform_->add_link(link);
    add(name, {both, both, false});
    return {both, both, false};
  }
  link.name = name + "_UP";
  const uint32_t up = platform_->add_link(link);
  link.name = name + "_DOWN";
  const uint32_t down = platform_->add_link(link);
  add(name, {up, down, true});
  add(name + "_UP", {up, up, false});
  add(name + "_DOWN", {down, down, false});
  return {up, down, true};
}

void File::read_link(const Node& node) {
  check_attributes(node, {"id", "bandwidth", "latency", "sharing_policy"});
  at(node, [&] {
    add_cable(get(node, "id"), bandwidth(get(node, "bandwidth")),
              seconds(get(node, "latency", "0")), get(node, "sharing_policy", "SHARED"), "link");
  });
}

/// A point of that name that is in `zone` or below.
const Point* File::inside(const Node& node, const char* name, const Zone& zone) const {
  const std::string wanted = get(node, name);
  const Point* const point = platform_->point(wanted);
  if (!point) fail(node, std::string(name) + " '" + wanted + "': there is no such thing");
  const Zone* above = point->zone;
  while (above && above != &zone) above = above->parent();
  if (!above)
    fail(node, std::string(name) + " '" + wanted + "' is not in '" + zone.point().name + "'");
  return point;
}

std::vector<uint32_t> File::links_of(const Node& route, bool back) const {
  std::vector<uint32_t> links;
  for (const Node& node : route.children()) {
    if (std::string(node.name()) != "link_ctn") fail(node, "is not understood here");
    check_attributes(node, {"id", "direction"});
    const auto known = cables_.find(get(node, "id"));
    if (known == cables_.end()) fail(node, "there is no link '" + get(node, "id") + "'");
    const Cable& cable = known->second;
    const std::string direction = get(node, "direction", "NONE");
    if (cable.is_split && direction != "UP" && direction != "DOWN")
      fail(node, "a SPLITDUPLEX link needs direction=\"UP\" or \"DOWN\"");
    links.push_back((direction == "DOWN") != back ? cable.down : cable.up);
  }
  if (back) std::reverse(links.begin(), links.end());
  return links;
}

void File::read_route(const Node& node, RoutedZone& zone) {
  const bool between_zones = std::string(node.name()) != "route";
  if (between_zones)
    check_attributes(node, {"src", "dst", "gw_src", "gw_dst", "symmetrical"});
  else
    check_attributes(node, {"src", "dst", "symmetrical"});
  const auto end = [&](const char* name) {
    const Point* const point = inside(node, name, zone);
    if (point->zone != &zone || (point->inside != nullptr) != between_zones) {
      fail(node, std::string(name) + " '" + point->name + "' should be a " +
                     (between_zones ? "zone" : "host or router") + " in '" + zone.point().name +
                     "' itself");
    }
    return point;
  };
  const Point* const from = end("src");
  const Point* const to = end("dst");
  const std::string symmetrical = get(node, "symmetrical", "YES");
  if (symmetrical != "YES" && symmetrical != "yes" && symmetrical != "NO" && symmetrical != "no")
    fail(node, "symmetrical should be \"YES\" or \"NO\"");
  Way there{links_of(node, false)}, back{links_of(node, true)};
  if (between_zones) {
    const auto gate = [&](const char* name, const Point& of) {
      const Point* const point = inside(node, name, *of.inside);
      if (point->inside) fail(node, std::string(name) + " should be a host or router");
      return point;
    };
    there.leaves = back.enters = gate("gw_src", *from);
    there.enters = back.leaves = gate("gw_dst", *to);
  }
  if (!zone.add(*from, *to, there))
    fail(node, "there is a route from '" + from->name + "' to '" + to->name + "' before");
  if (from == to || (symmetrical != "YES" && symmetrical != "yes")) return;
  if (!zone.add(*to, *from, back)) {
    fail(node, "there is a route from '" + to->name + "' to '" + from->name +
                   "' before; this one is for both directions");
  }
}

}  // namespace

std::shared_ptr<const Platform> read_platform(const std::string& path) {
  return File(path).read();
}

}  // namespace rubato::simgrid
