// Nodes on one switch: a link from each node to it and back, and optionally a backbone that all
// share.
//
//   n0 ══╗   ╔══ n2
//        ╠═══╣        out of its node · (backbone) · into the other node
//   n1 ══╝   ╚══ n3

#include "models/network/topology.h"

namespace rubato {
namespace {

class Crossbar : public Topology {
 public:
  Crossbar(int nodes, double bandwidth, std::optional<double> backbone)
      : Topology(nodes), has_backbone_(backbone) {
    const int kind = add_kind("node");
    for (int i = 0; i < 2 * nodes; ++i) add_link(bandwidth, kind);
    if (backbone) add_link(*backbone, add_kind("backbone"));
  }

  void route(int from, int to, std::vector<FairShare::Use>& route) const override {
    route = {{static_cast<uint32_t>(2 * from), 1}, {static_cast<uint32_t>(2 * to + 1), 1}};
    if (has_backbone_) route.push_back({static_cast<uint32_t>(links().size() - 1), 1});
  }
  std::string link_name(uint32_t link) const override {
    if (link >= 2 * static_cast<uint32_t>(nodes())) return "backbone";
    return "node " + std::to_string(link / 2) + (link % 2 == 0 ? " out" : " in");
  }
  TopologyDrawing drawing() const override {
    TopologyDrawing drawing;
    drawing.is_round = true;
    for (int node = 0; node < nodes(); ++node)
      drawing.add_on_circle(0.5, 0.5, 0.48, node, nodes(), "node " + std::to_string(node), true);
    const uint32_t centre = drawing.add(0.5, 0.5, "switch");
    for (uint32_t node = 0; node < centre; ++node)
      drawing.cables.push_back({node, centre, {2 * node}, {2 * node + 1}});
    if (!has_backbone_) return drawing;
    const uint32_t backbone = drawing.add(0.5, 0.62, "backbone");
    drawing.cables.push_back({centre, backbone, {2 * centre}, {2 * centre}});
    return drawing;
  }
  int diameter() const override { return has_backbone_ ? 3 : 2; }

 private:
  bool has_backbone_;
};

std::shared_ptr<const Topology> make_crossbar(const ContentionSetting& setting,
                                              const Placement& placement) {
  return std::make_shared<Crossbar>(placement.network_nodes(), link_bandwidth(setting),
                                    setting.number("backbone_bandwidth"));
}

}  // namespace

extern const NetworkModel crossbar_model;
const NetworkModel crossbar_model = {
    "crossbar",
    "all nodes on one switch, whose links are shared fairly",
    with_link_keys({{"backbone_bandwidth",
                     NetworkKey::Kind::kBandwidth,
                     "of one link that all messages pass; none: there is none",
                     {}}}),
    make_links<make_crossbar>,
    make_hops<make_crossbar>,
};

}  // namespace rubato
