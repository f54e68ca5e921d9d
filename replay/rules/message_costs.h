#pragma once

#include <cstdint>
#include <vector>

#include "models/platform/message_cost.h"
#include "replay/rules/cost_table.h"
#include "replay/rules/lane_machines.h"

namespace rubato {

/// Message costs on the machines of a pass, each computed once.
template <int K>
class MessageCosts {
 public:
  explicit MessageCosts(const LaneMachines& machines)
      : machines_(&machines), by_class_(machines.pairs.classes()) {}

  /// The cost of a message in a pair class. Errors: as LaneMachines::require().
  [[gnu::always_inline]] const LaneMessageCost<K>& of(PairClass pair, uint64_t bytes) {
    if (last_cost_ && last_pair_ == pair && last_bytes_ == bytes) return *last_cost_;
    return look_up(pair, bytes);
  }

 private:
  const LaneMessageCost<K>& look_up(PairClass pair, uint64_t bytes) {
    const auto [found, is_new] = by_class_[pair.number()].find(bytes);
    LaneMessageCost<K>& cost = *found;
    if (is_new) {
      const auto size = static_cast<double>(bytes);
      for (int lane = 0; lane < K; ++lane) {
        machines_->require(lane, pair.level());
        cost.set(lane, machines_->interconnects[lane].message(pair, size),
                 machines_->ticks_per_second);
      }
      cost.wire = machines_->wire(pair, size);
      cost.derive();
    }
    last_pair_ = pair;
    last_bytes_ = bytes;
    last_cost_ = &cost;
    return cost;
  }

  const LaneMachines* machines_;
  std::vector<CostTable<uint64_t, LaneMessageCost<K>>> by_class_;  ///< by PairClass
  PairClass last_pair_;
  uint64_t last_bytes_ = 0;
  const LaneMessageCost<K>* last_cost_ = nullptr;
};

}  // namespace rubato
