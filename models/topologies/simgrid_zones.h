#pragma once

// A SimGrid platform: nested zones with hosts, routers and links. Within a zone routes are given,
// or follow from its topology; between two zones, the enclosing zone defines where to leave one and
// enter the other (gateways). As in SimGrid 3.32.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/network/topology.h"

namespace rubato::simgrid {

class Zone;

/// A host, a router, or a zone as its parent sees it.
struct Point {
  std::string name;
  Zone* zone = nullptr;  ///< enclosing zone; nullptr: it is the outermost
  int number = 0;        ///< in there
  Zone* inside = nullptr;
  bool is_host = false;
};

/// Links, and for routes between zones the points where zones are left and entered.
struct Way {
  std::vector<uint32_t> links;
  const Point* leaves = nullptr;
  const Point* enters = nullptr;
};

struct Link {
  std::string name;
  double bandwidth = 0;
  double latency = 0;
  bool is_shared = true;
  int kind = 0;
};

class Platform;

/// One <zone> or <cluster>. Errors of route(): InputError.
class Zone {
 public:
  Zone(Platform* platform, Point* point) : platform_(platform), point_(point) {}
  virtual ~Zone() = default;

  const Point& point() const { return *point_; }
  Zone* parent() const { return point_->zone; }
  /// The route between two different points of the zone.
  virtual Way route(const Point& from, const Point& to) const = 0;
  /// Called when all routes are known.
  virtual void close() {}

  std::vector<Point*> points;

 protected:
  [[noreturn]] void no_route(const Point& from, const Point& to) const;
  Platform* platform_;

 private:
  Point* point_;
};

/// The contents of a file.
class Platform {
 public:
  /// Points and links are found by name. Errors: InputError for too many.
  Point* add_point(const std::string& name, Zone* zone);
  Point* point(const std::string& name) const;  ///< nullptr: there is none
  uint32_t add_link(const Link& link);
  const std::vector<Link>& links() const { return links_; }
  /// Its number among the kinds of links.
  int kind(const std::string& name);
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// The route between two hosts or routers; appends its links.
  void route(const Point& from, const Point& to, std::vector<uint32_t>& links) const;

  std::vector<std::unique_ptr<Zone>> zones;
  std::vector<const Point*> hosts;  ///< in the order of the file

 private:
  std::deque<Point> points_;
  std::map<std::string, Point*> by_name_;
  std::vector<Link> links_;
  std::vector<std::string> kinds_;
};

/// Full, Floyd, Dijkstra, None: routes between pairs of points.
class RoutedZone : public Zone {
 public:
  enum class Kind { kFull, kFloyd, kDijkstra, kNone };
  RoutedZone(Platform* platform, Point* point, Kind kind) : Zone(platform, point), kind_(kind) {}

  /// False if a route exists already.
  bool add(const Point& from, const Point& to, Way way);
  Way route(const Point& from, const Point& to) const override;
  void close() override;

 private:
  const Way* edge(int from, int to) const;
  void floyd();
  void dijkstra();

  Kind kind_;
  std::map<std::pair<int, int>, Way> edges_;
  std::vector<int> before_;  ///< by pair, the point before the last; -1: none
};

/// Cluster: links up from each point, and down to it.
class StarZone : public Zone {
 public:
  using Zone::Zone;
  void set(const Point& point, std::vector<uint32_t> up, std::vector<uint32_t> down);
  Way route(const Point& from, const Point& to) const override;

 private:
  struct Ends {
    std::vector<uint32_t> up, down;
  };
  std::map<int, Ends> ends_;
};

/// The attributes of a <cluster> for the links of a torus, fat tree or dragonfly.
struct CableKind {
  double bandwidth = 0;
  double latency = 0;
  bool is_shared = true;
  bool is_split = true;  ///< a link in each direction
  double limiter = 0;    ///< bandwidth of all that passes a host or switch; 0: no limit
};

/// Hosts are the first points. Errors: InputError if the numbers do not fit them.
std::unique_ptr<Zone> make_torus(Platform* platform, Point* point, const CableKind& cable,
                                 const std::vector<int>& sizes);
struct TreeShape {
  std::vector<int> down, up, parallel;
};
std::unique_ptr<Zone> make_fat_tree(Platform* platform, Point* point, const CableKind& cable,
                                    const TreeShape& shape);
struct DragonflyShape {
  int groups, blue, chassis, black, routers, green, nodes;
};
std::unique_ptr<Zone> make_dragonfly(Platform* platform, Point* point, const CableKind& cable,
                                     const DragonflyShape& shape);

/// Nodes are its hosts in the order of the file.
std::shared_ptr<const Topology> topology_of(std::shared_ptr<const Platform> platform);
/// Reads a file. Errors: InputError with its line.
std::shared_ptr<const Platform> read_platform(const std::string& path);

}  // namespace rubato::simgrid
