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

/// Nodes are numbered from 0, as in a Placement. Routes are pure: a pair always has the same route.
class Topology {
 public:
  struct Link {
    double bandwidth = 0;  ///< bytes per second
    int kind = 0;          ///< index into kinds()
    double latency = 0;    ///< seconds, in topologies with latencies by link
  };

  virtual ~Topology() = default;

  int nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }
  /// Names of the kinds of links in reports: "node", "level 2", "dimension 1".
  const std::vector<std::string>& kinds() const { return kinds_; }

  /// Replaces `route` by the links between two different nodes, each once, with its share of the
  /// traffic.
  virtual void route(int from, int to, std::vector<FairShare::Use>& route) const = 0;
  /// Number of links between two nodes. (If traffic is split, all its parts pass as many.)
  virtual int hops(int from, int to) const;
  /// The largest number of hops.
  virtual int diameter() const = 0;
  /// A link's name in reports; "": reports use its number.
  virtual std::string link_name(uint32_t link) const { return static_cast<void>(link), ""; }
  /// All links that lie between two ends; empty of a topology that has no shape of its own.
  virtual TopologyDrawing drawing() const { return {}; }
  /// Sum of the latencies of the links between two nodes, seconds: for sum_latencies().
  virtual double latency(int from, int to) const;
  /// Maximum rate of a flow between two nodes, bytes per second, due to links that are not shared.
  virtual double limit(int from, int to) const;

 protected:
  explicit Topology(int nodes) : nodes_(nodes) {}
  int add_kind(const std::string& name);
  /// Returns the link's number.
  uint32_t add_link(double bandwidth, int kind, double latency = 0);
  /// A pseudorandom number below `count` that depends on the pair alone.
  static int draw(int from, int to, int count);
  /// Merges several uses of the same link.
  static void merge(std::vector<FairShare::Use>& route);

 private:
  int nodes_;
  std::vector<Link> links_;
  std::vector<std::string> kinds_;
};

/// Flows that share the links of a topology fairly (fair_share.h): a flow waits for its latency,
/// then moves at the rate that its links allow, at most its rate alone. `setting` has the keys of
/// with_link_keys().
std::unique_ptr<Network> share_links(std::shared_ptr<const Topology> topology,
                                     const ContentionSetting& setting, double ticks_per_second);
/// The topology with one more link at each end of a route at which the setting limits the injection
/// or ejection of nodes; `topology` itself without limits.
std::shared_ptr<const Topology> with_node_limits(std::shared_ptr<const Topology> topology,
                                                 const ContentionSetting& setting);
/// The constant share of links that other jobs take, 0 to below 1, by kind: from `loads` if it
/// names the kind, else `load`. Errors: InputError for a kind that the topology does not have.
std::vector<double> constant_loads(const Topology& topology, const ContentionSetting& setting);
/// Latency that grows with the number of links: `link_latency` seconds each.
std::unique_ptr<Distances> count_links(std::shared_ptr<const Topology> topology,
                                       const Placement& placement, double link_latency);
/// Latencies from the links of a topology. If there are more than the maximum number of distances,
/// similar ones are merged into their mean. nullptr if all are 0.
std::unique_ptr<Distances> sum_latencies(const Topology& topology, const Placement& placement);

/// Keys that all topologies have: those of with_sharing_keys(), link_bandwidth (none: no limit,
/// flows share nothing) and link_latency.
std::vector<NetworkKey> with_link_keys(std::vector<NetworkKey> keys);
/// Those of share_links(): sharing, weight_s, injection_bandwidth, ejection_bandwidth, load and
/// loads.
std::vector<NetworkKey> with_sharing_keys(std::vector<NetworkKey> keys);
/// For links without a bandwidth. Errors: InputError if the setting has a load.
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
/// The key link_bandwidth; 1 if the setting has none (only the shape is needed).
double link_bandwidth(const ContentionSetting& setting);
/// Errors: InputError if a run has more nodes than the network, or the network has too many links.
void check_nodes(const char* model, const Placement& placement, double nodes);
void check_links(const char* model, double links);

}  // namespace rubato
