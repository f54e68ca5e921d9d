#include "replay/store/call_stacks.h"

namespace rubato {

uint32_t CallStacks::of_path(int timeline, uint32_t path) {
  std::vector<uint32_t>& nodes = by_path_[timeline];
  if (nodes.empty()) {
    for (const CallTree::Node& each : source_->call_places()->paths(timeline).nodes())
      nodes.push_back(nodes.empty() ? CallTree::kRoot
                                    : tree_.call(nodes[each.parent], each.function));
  }
  return path < nodes.size() ? nodes[path] : CallTree::kRoot;
}

uint32_t CallStacks::of_site(uint32_t site) {
  if (sites_.empty()) {
    sites_ = source_->call_sites();
    by_site_.assign(sites_.size(), kNoPlace);
  }
  if (site >= sites_.size()) return CallTree::kRoot;
  if (by_site_[site] == kNoPlace) {
    const uint32_t above = of_site(sites_[site].caller);
    by_site_[site] =
        sites_[site].function == kNoPlace ? above : tree_.call(above, sites_[site].function);
  }
  return by_site_[site];
}

uint32_t CallStacks::of_call(int timeline, const CallPlace& place) {
  uint32_t node = of_site(place.site);
  if (node == CallTree::kRoot) node = of_path(timeline, place.path);
  return node != CallTree::kRoot || place.function == kNoPlace
             ? node
             : tree_.call(CallTree::kRoot, place.function);
}

}  // namespace rubato
