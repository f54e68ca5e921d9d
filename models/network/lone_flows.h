#pragma once

#include <memory>
#include <vector>

#include "models/network/network.h"
#include "models/network/topology.h"

namespace rubato {

/// Flows on the links of a topology, each as if it were the only one: at its own rate, or at the
/// rate of the narrowest link of its route. The additional time of flows together is contention.
class LoneFlows : public Network {
 public:
  /// `capacities`: of links, bytes per tick.
  LoneFlows(std::shared_ptr<const Topology> topology, std::vector<double> capacities,
            double ticks_per_second)
      : topology_(std::move(topology)),
        capacities_(std::move(capacities)),
        ticks_per_second_(ticks_per_second) {}

  void start(uint32_t number, const Flow& flow, double now) override;
  bool over(const Timer&) override { return true; }
  /// True if a link is slower than the flow.
  bool held_up(uint32_t number, double now) const override { return now >= slowed_from_[number]; }

 private:
  std::shared_ptr<const Topology> topology_;
  std::vector<double> capacities_;
  double ticks_per_second_;
  std::vector<double> slowed_from_;  ///< by number of the flow
  std::vector<FairShare::Use> route_;
};

}  // namespace rubato
