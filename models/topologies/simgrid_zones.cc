#include "models/topologies/simgrid_zones.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

#include "models/base/error.h"

namespace rubato::simgrid {
namespace {

constexpr size_t kMostPoints = size_t{1} << 20;
constexpr size_t kMostLinks = size_t{1} << 22;
/// Limit for a Floyd zone, whose memory grows with the square and time with the cube of its points.
constexpr size_t kMostInTables = 1500;

/// The zones from the outermost to the one of the point.
std::vector<Zone*> zones_above(const Point& point) {
  std::vector<Zone*> zones;
  for (Zone* zone = point.zone; zone; zone = zone->parent()) zones.push_back(zone);
  std::reverse(zones.begin(), zones.end());
  return zones;
}

class ZonedTopology : public Topology {
 public:
  explicit ZonedTopology(std::shared_ptr<const Platform> platform)
      : Topology(static_cast<int>(platform->hosts.size())), platform_(std::move(platform)) {
    for (const std::string& kind : platform_->kinds()) add_kind(kind);
    for (const simgrid::Link& link : platform_->links())
      add_link(link.bandwidth, link.kind, link.latency);
    has_unshared_ = std::any_of(platform_->links().begin(), platform_->links().end(),
                                [](const simgrid::Link& link) { return !link.is_shared; });
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route.clear();
    for (const uint32_t link : way(from, to)) {
      if (platform_->links()[link].is_shared) route.push_back({link, 1});
    }
    merge(route);
  }
  int hops(int from, int to) const override { return static_cast<int>(way(from, to).size()); }
  int diameter() const override { return static_cast<int>(links().size()); }
  double latency(int from, int to) const override {
    double sum = 0;
    for (const uint32_t link : way(from, to)) sum += links()[link].latency;
    return sum;
  }
  double limit(int from, int to) const override {
    double least = std::numeric_limits<double>::infinity();
    if (!has_unshared_) return least;
    for (const uint32_t link : way(from, to)) {
      if (!platform_->links()[link].is_shared) least = std::min(least, links()[link].bandwidth);
    }
    return least;
  }
  std::string link_name(uint32_t link) const override { return platform_->links()[link].name; }

 private:
  std::vector<uint32_t> way(int from, int to) const {
    std::vector<uint32_t> links;
    platform_->route(*platform_->hosts[from], *platform_->hosts[to], links);
    return links;
  }

  std::shared_ptr<const Platform> platform_;
  bool has_unshared_ = false;
};

}  // namespace

void Zone::no_route(const Point& from, const Point& to) const {
  throw InputError("zone '" + point_->name + "' has no route from '" + from.name + "' to '" +
                   to.name + "'");
}

Point* Platform::add_point(const std::string& name, Zone* zone) {
  if (points_.size() == kMostPoints) throw InputError("there are more than 1 M hosts and routers");
  const auto [entry, is_new] = by_name_.try_emplace(name, nullptr);
  if (!is_new) throw InputError("there are two of the name '" + name + "'");
  Point& point = points_.emplace_back();
  point.name = name;
  point.zone = zone;
  if (zone) {
    point.number = static_cast<int>(zone->points.size());
    zone->points.push_back(&point);
  }
  return entry->second = &point;
}

Point* Platform::point(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

uint32_t Platform::add_link(const Link& link) {
  if (links_.size() == kMostLinks) throw InputError("there are more than 4 M links");
  links_.push_back(link);
  return static_cast<uint32_t>(links_.size() - 1);
}

int Platform::kind(const std::string& name) {
  const auto found = std::find(kinds_.begin(), kinds_.end(), name);
  if (found != kinds_.end()) return static_cast<int>(found - kinds_.begin());
  kinds_.push_back(name);
  return static_cast<int>(kinds_.size()) - 1;
}

void Platform::route(const Point& from, const Point& to, std::vector<uint32_t>& links) const {
  if (&from == &to) return;
  const std::vector<Zone*> above_from = zones_above(from), above_to = zones_above(to);
  size_t common = 0;
  while (common < above_from.size() && common < above_to.size() &&
         above_from[common] == above_to[common])
    ++common;
  const bool is_here = common == above_from.size(), is_there = common == above_to.size();
  if (is_here != is_there) {
    throw InputError(
        "SimGrid has no routes between a zone and what is inside another one in it: '" + from.name +
        "', '" + to.name + "'");
  }
  const Point& first = is_here ? from : above_from[common]->point();
  const Point& last = is_there ? to : above_to[common]->point();
  const Way way = above_from[common - 1]->route(first, last);
  if (!is_here) {
    if (!way.leaves || !way.enters) {
      throw InputError("the route from zone '" + first.name + "' to '" + last.name +
                       "' has no gateways");
    }
    route(from, *way.leaves, links);
  }
  links.insert(links.end(), way.links.begin(), way.links.end());
  if (!is_here) route(*way.enters, to, links);
}

// --- Routes that are given ---

bool RoutedZone::add(const Point& from, const Point& to, Way way) {
  return edges_.try_emplace({from.number, to.number}, std::move(way)).second;
}

const Way* RoutedZone::edge(int from, int to) const {
  const auto found = edges_.find({from, to});
  return found == edges_.end() ? nullptr : &found->second;
}

void RoutedZone::close() {
  if (kind_ != Kind::kFloyd && kind_ != Kind::kDijkstra) return;
  if (points.size() > kMostInTables) {
    throw InputError("zone '" + point().name +
                     "' has more than 1500 hosts and routers; that is too "
                     "much for its routing");
  }
  before_.assign(points.size() * points.size(), -1);
  kind_ == Kind::kFloyd ? floyd() : dijkstra();
}

/// In SimGrid's order, so that it chooses the same of several paths.
void RoutedZone::floyd() {
  constexpr uint32_t kFar = UINT32_MAX;
  const size_t n = points.size();
  std::vector<uint32_t> costs(n * n, kFar);
  for (const auto& [ends, way] : edges_) {
    const size_t pair = static_cast<size_t>(ends.first) * n + static_cast<size_t>(ends.second);
    costs[pair] = static_cast<uint32_t>(way.links.size());
    before_[pair] = ends.first;
  }
  for (size_t i = 0; i < n; ++i) {  // loopbacks
    if (costs[i * n + i] != kFar) continue;
    costs[i * n + i] = 1;
    before_[i * n + i] = static_cast<int>(i);
  }
  for (size_t c = 0; c < n; ++c) {
    for (size_t a = 0; a < n; ++a) {
      if (costs[a * n + c] == kFar) continue;
      for (size_t b = 0; b < n; ++b) {
        if (costs[c * n + b] == kFar || costs[a * n + c] + costs[c * n + b] >= costs[a * n + b])
          continue;
        costs[a * n + b] = costs[a * n + c] + costs[c * n + b];
        before_[a * n + b] = before_[c * n + b];
      }
    }
  }
}

/// Of several paths, chooses the one whose next-to-last points were reached first, by number.
void RoutedZone::dijkstra() {
  const size_t n = points.size();
  std::vector<std::vector<std::pair<int, uint32_t>>> next(n);
  for (const auto& [ends, way] : edges_)
    next[ends.first].push_back({ends.second, static_cast<uint32_t>(way.links.size())});
  for (size_t from = 0; from < n; ++from) {
    std::vector<uint64_t> costs(n, UINT64_MAX);
    using Entry = std::pair<uint64_t, size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    costs[from] = 0;
    queue.push({0, from});
    while (!queue.empty()) {
      const auto [cost, at] = queue.top();
      queue.pop();
      if (cost > costs[at]) continue;
      for (const auto& [to, links] : next[at]) {
        if (cost + links >= costs[to]) continue;
        costs[to] = cost + links;
        before_[from * n + to] = static_cast<int>(at);
        queue.push({costs[to], static_cast<size_t>(to)});
      }
    }
  }
}

Way RoutedZone::route(const Point& from, const Point& to) const {
  if (before_.empty()) {
    const Way* way = edge(from.number, to.number);
    if (!way) no_route(from, to);
    return *way;
  }
  std::vector<const Way*> steps;
  for (int at = to.number; at != from.number;) {
    const int before = before_[static_cast<size_t>(from.number) * points.size() + at];
    if (before < 0 || steps.size() > points.size()) no_route(from, to);
    steps.push_back(edge(before, at));
    at = before;
  }
  Way all;
  all.leaves = steps.back()->leaves;
  all.enters = steps.front()->enters;
  const Point* entered = nullptr;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    // Through a zone on the way.
    if (entered && (*step)->leaves) platform_->route(*entered, *(*step)->leaves, all.links);
    all.links.insert(all.links.end(), (*step)->links.begin(), (*step)->links.end());
    entered = (*step)->enters;
  }
  return all;
}

// --- Links up and down ---

void StarZone::set(const Point& point, std::vector<uint32_t> up, std::vector<uint32_t> down) {
  ends_[point.number] = {std::move(up), std::move(down)};
}

/// Each link once. (Routers have none.)
Way StarZone::route(const Point& from, const Point& to) const {
  Way way;
  const auto add = [&](const std::vector<uint32_t>& links) {
    for (const uint32_t link : links) {
      if (std::find(way.links.begin(), way.links.end(), link) == way.links.end())
        way.links.push_back(link);
    }
  };
  const auto up = ends_.find(from.number), down = ends_.find(to.number);
  if (up != ends_.end()) add(up->second.up);
  if (down != ends_.end()) add(down->second.down);
  return way;
}

std::shared_ptr<const Topology> topology_of(std::shared_ptr<const Platform> platform) {
  return std::make_shared<ZonedTopology>(std::move(platform));
}

}  // namespace rubato::simgrid
