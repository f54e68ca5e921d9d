#include "models/network/lone_flows.h"

#include <algorithm>
#include <limits>

namespace rubato {

void LoneFlows::start(uint32_t number, const Flow& flow, double now) {
  if (number >= slowed_from_.size()) slowed_from_.resize(number + 1);
  slowed_from_[number] = std::numeric_limits<double>::infinity();
  if (!(flow.data > 0) || !(flow.bytes > 0) || flow.from == flow.to)
    return ask(flow.alone, number, 0);
  double rate = topology_->limit(flow.from, flow.to) / ticks_per_second_;
  topology_->route(flow.from, flow.to, route_);
  for (const FairShare::Use& use : route_)
    rate = std::min(rate, capacities_[use.link] / use.weight);
  if (rate >= flow.bytes / flow.data) return ask(flow.alone, number, 0);
  const double joins = now + std::max(0.0, flow.length - flow.data);
  slowed_from_[number] = joins;
  ask(joins + flow.bytes / rate, number, 0);
}

}  // namespace rubato
