// Limits of a node: links before and behind those of its topology, which all its traffic passes,
// whichever cable it takes.

#include "models/network/topology.h"

namespace rubato {
namespace {

class NodeLimits : public Topology {
 public:
  NodeLimits(std::shared_ptr<const Topology> inside, std::optional<double> injection,
             std::optional<double> ejection)
      : Topology(inside->nodes()), inside_(std::move(inside)) {
    for (const std::string& kind : inside_->kinds()) add_kind(kind);
    for (const Link& link : inside_->links()) add_link(link.bandwidth, link.kind, link.latency);
    if (injection) injection_ = add_nodes("injection", *injection);
    if (ejection) ejection_ = add_nodes("ejection", *ejection);
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    inside_->route(from, to, route);
    if (injection_) route.push_back({*injection_ + static_cast<uint32_t>(from), 1});
    if (ejection_) route.push_back({*ejection_ + static_cast<uint32_t>(to), 1});
  }
  int hops(int from, int to) const override { return inside_->hops(from, to); }
  int diameter() const override { return inside_->diameter(); }
  double latency(int from, int to) const override { return inside_->latency(from, to); }
  double limit(int from, int to) const override { return inside_->limit(from, to); }
  TopologyDrawing drawing() const override { return inside_->drawing(); }
  std::string link_name(uint32_t link) const override {
    const size_t own = inside_->links().size();
    if (link < own) return inside_->link_name(link);
    return (injection_ && link < *injection_ + static_cast<uint32_t>(nodes())
                ? "injection of node "
                : "ejection at node ") +
           std::to_string((link - own) % static_cast<size_t>(nodes()));
  }

 private:
  uint32_t add_nodes(const char* kind, double bandwidth) {
    const auto first = static_cast<uint32_t>(links().size());
    const int number = add_kind(kind);
    for (int node = 0; node < nodes(); ++node) add_link(bandwidth, number);
    return first;
  }

  std::shared_ptr<const Topology> inside_;
  std::optional<uint32_t> injection_, ejection_;  ///< the first link of each
};

}  // namespace

std::shared_ptr<const Topology> with_node_limits(std::shared_ptr<const Topology> topology,
                                                 const ContentionSetting& setting) {
  const auto injection = setting.number("injection_bandwidth");
  const auto ejection = setting.number("ejection_bandwidth");
  if (!injection && !ejection) return topology;
  return std::make_shared<NodeLimits>(std::move(topology), injection, ejection);
}

}  // namespace rubato
