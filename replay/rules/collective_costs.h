#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "models/base/lanes.h"
#include "replay/rules/collective_uses.h"
#include "replay/rules/cost_table.h"
#include "replay/rules/lane_machines.h"

namespace rubato {

/// Costs of one collective for a member in every lane, in ticks.
template <int K>
struct LaneCollectiveCost {
  Lanes<K> total;      ///< for a member that waits
  Lanes<K> departure;  ///< for a member that does not wait
};

/// The parameters that determine the cost of a collective.
struct CollectiveKey {
  double bytes;
  int members;
  CollectiveOp op;
  PairClass widest;  ///< of the most distant members
  bool is_root;
  bool operator==(const CollectiveKey&) const = default;
};
struct CollectiveHash {
  size_t operator()(const CollectiveKey& key) const {
    const size_t small = static_cast<size_t>(key.members) << 8 | static_cast<size_t>(key.op) << 3 |
                         static_cast<size_t>(key.widest.number()) << 1 | (key.is_root ? 1 : 0);
    return std::hash<double>()(key.bytes) * 0x9E3779B97F4A7C15u ^ small * 0xC2B2AE3D27D4EB4Fu;
  }
};

/// The costs of collectives on the machines of a pass, each computed once, and the algorithms used.
template <int K>
class CollectiveCosts {
 public:
  explicit CollectiveCosts(const LaneMachines& machines) : machines_(&machines) {}

  /// Errors: as LaneMachines::require().
  const LaneCollectiveCost<K>& of(const CollectiveKey& key) {
    const auto [found, is_new] = table_.find(key);
    LaneCollectiveCost<K>& cost = *found;
    if (is_new) {
      const double ticks = machines_->ticks_per_second;
      for (int lane = 0; lane < K; ++lane) {
        machines_->require(lane, key.widest.level());
        const Interconnect& net = machines_->interconnects[lane];
        cost.total[lane] = net.collective(key.op, key.members, key.bytes, key.widest) * ticks;
        cost.departure[lane] =
            net.collective_departure(key.op, key.members, key.bytes, key.widest, key.is_root) *
            ticks;
        uses_[lane].add(key.op, key.members, key.bytes, net.collectives());
      }
    }
    return cost;
  }

  /// The algorithms used for the collectives of one lane.
  const CollectiveUses& uses(int lane) const { return uses_[lane]; }

 private:
  const LaneMachines* machines_;
  CostTable<CollectiveKey, LaneCollectiveCost<K>, CollectiveHash> table_;
  std::array<CollectiveUses, K> uses_;
};

}  // namespace rubato
