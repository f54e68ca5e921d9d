#pragma once

// The shape of a network: links between switches and nodes, and the way from node to node. A link
// has one direction; a cable is two of them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/network/fair_share.h"
#include "models/network/network_model.h"
#include "models/network/topology_drawing.h"
#include "models/placement/distances.h"

namespace rubato {

/// Nodes are numbered from 0, as in a Placement. Routes are pure: the same pair always has the
/// same.
class Topology {
 public:
  struct Link {
    double bandwidth = 0;  ///< bytes per second
    int kind = 0;          ///< index into kinds()
    double latency = 0;    ///< seconds, in topologies that tell it by link
  };

  virtual ~Topology() = default;

  int nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }
  /// What links of a kind connect, as reports call it: "node", "level 2", "dimension 1".
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// Replaces `route` by the links between two nodes, which differ, each once, with the part of
  /// the traffic that goes over it.
  virtual void route(int from, int to, std::vector<FairShare::Use>& route) const = 0;
  /// How many links data between two nodes passes. (All parts of one that is split pass as many.)
  virtual int hops(int from, int to) const;
  /// The most that there are.
  virtual int diameter() const = 0;
  /// A link's name in reports; "" where its number has to do.
  virtual std::string link_name(uint32_t link) const { return static_cast<void>(link), ""; }
  /// All links that lie between two ends; empty of a topology that has no shape of its own.
  virtual TopologyDrawing drawing() const { return {}; }
  /// What the links between two nodes take together, seconds: sum_latencies().
  virtual double latency(int from, int to) const;
  /// What a flow between two nodes has at most, bytes per second: by links that nobody shares.
  virtual double limit(int from, int to) const;

 protected:
  explicit Topology(int nodes) : nodes_(nodes) {}
  int add_kind(const std::string& name);
  /// Its number.
  uint32_t add_link(double bandwidth, int kind, double latency = 0);
  /// A number below `count` that looks random and depends on the pair alone.
  static int draw(int from, int to, int count);
  /// Makes one use of several of the same link.
  static void merge(std::vector<FairShare::Use>& route);

 private:
  int nodes_;
  std::vector<Link> links_;
  std::vector<std::string> kinds_;
};

/// Flows that share the links of a topology fairly (fair_share.h): a flow waits for its latency,
/// and then moves at the rate that its links leave, at most at that which it has alone. `setting`
/// has the keys of with_link_keys().
std::unique_ptr<Network> share_links(std::shared_ptr<const Topology> topology,
                                     const ContentionSetting& setting, double ticks_per_second);
/// The same with a link more at each end of a route where the setting limits what a node injects or
/// takes out; `topology` itself where it does not.
std::shared_ptr<const Topology> with_node_limits(std::shared_ptr<const Topology> topology,
                                                 const ContentionSetting& setting);
/// The part of links that others take all the time, 0 to below 1, by kind: `load`, and where
/// `loads` names the kind, what that says. Errors: InputError for a kind that the topology does not
/// have.
std::vector<double> constant_loads(const Topology& topology, const ContentionSetting& setting);
/// Latency that grows with the number of links: `link_latency` seconds each.
std::unique_ptr<Distances> count_links(std::shared_ptr<const Topology> topology,
                                       const Placement& placement, double link_latency);
/// Latencies that topologies tell by link. Of more than there may be distances, near ones are
/// taken as one, the mean. nullptr where all are 0.
std::unique_ptr<Distances> sum_latencies(const Topology& topology, const Placement& placement);

/// Keys that all topologies have: those of with_sharing_keys(), link_bandwidth (none: no limit,
/// flows share nothing) and link_latency.
std::vector<NetworkKey> with_link_keys(std::vector<NetworkKey> keys);
/// Those of share_links(): sharing, weight_s, injection_bandwidth, ejection_bandwidth, load and
/// loads.
std::vector<NetworkKey> with_sharing_keys(std::vector<NetworkKey> keys);
/// Of links without a bandwidth. Errors: InputError where the setting has one.
void refuse_loads(const ContentionSetting& setting);
/// NetworkModel::make and NetworkModel::distances of a topology.
template <auto make_topology>
std::unique_ptr<Network> make_links(const ContentionSetting& setting, const Placement& placement,
                                    double ticks_per_second) {
  if (!setting.number("link_bandwidth")) return refuse_loads(setting), nullptr;
  return share_links(make_topology(setting, placement), setting, ticks_per_second);
}
template <auto make_topology>
std::unique_ptr<Distances> make_hops(const ContentionSetting& setting, const Placement& placement) {
  const double latency = *setting.number("link_latency");
  return latency > 0 ? count_links(make_topology(setting, placement), placement, latency) : nullptr;
}
/// The same of a topology whose links have bandwidths and latencies of their own.
template <auto make_topology>
std::unique_ptr<Network> make_own_links(const ContentionSetting& setting,
                                        const Placement& placement, double ticks_per_second) {
  return share_links(make_topology(setting, placement), setting, ticks_per_second);
}
template <auto make_topology>
std::unique_ptr<Distances> make_latencies(const ContentionSetting& setting,
                                          const Placement& placement) {
  return sum_latencies(*make_topology(setting, placement), placement);
}
/// NetworkModel::nodes likewise.
template <auto make_topology>
int count_nodes(const ContentionSetting& setting) {
  return make_topology(setting, Placement())->nodes();
}
/// Of a topology that is asked for its shape alone 1.
double link_bandwidth(const ContentionSetting& setting);
/// Errors: InputError where a run has more nodes than the network, or that has too many links.
void check_nodes(const char* model, const Placement& placement, double nodes);
void check_links(const char* model, double links);

}  // namespace rubato
