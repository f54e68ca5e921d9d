#pragma once

#include <cstdint>
#include <vector>

#include "models/base/lanes.h"
#include "replay/rules/cost_table.h"
#include "replay/rules/lane_machines.h"

namespace rubato {

/// Costs of one message in every lane, in ticks.
template <int K>
struct LaneMessageCost {
  Lanes<K> send_overhead, receive_overhead, unexpected_overhead, transfer, gap, latency;
  Lanes<K> answer;                ///< A
  Lanes<K> burst_delay;           ///< g_b - g
  Lanes<K> crossing_delay;        ///< x
  Lanes<K> synchronous_overhead;  ///< y
  /// o_s + 2 T + o_r: an arrival later than this after the receiver's own send started crosses
  /// nothing.
  Lanes<K> crossing_window;
  Lanes<K> second_burst_delay;  ///< g_2 - g
  /// o_s (of a nonblocking, of a blocking send), o_r and that of an unexpected message, right
  /// behind another message.
  Lanes<K> following_send, streamed_send, following_receive, following_unexpected;
  Interconnect::Wire wire;  ///< of the first lane; the order of time has only one
  Protocol protocol = Protocol::kEager;
  /// g is above 0 in no lane, in some, or in all of them.
  enum class Occupies : uint8_t { kNothing, kSomewhere, kEverywhere } occupies = Occupies::kNothing;
  bool tells_unexpected = false;  ///< the overhead of an unexpected message differs in some lane
  bool tells_eager = false;       ///< o_r of an eager message depends on more than its length
  bool tells_following = false;  ///< the overhead right behind another message differs in some lane
  bool crosses = false;          ///< x is above 0 in some lane
  bool slows_bursts = false;     ///< g_b or g_2 exceeds g in some lane
};

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
      const double ticks = machines_->ticks_per_second;
      const auto size = static_cast<double>(bytes);
      for (int lane = 0; lane < K; ++lane) {
        machines_->require(lane, pair.level());
        const MessageCost seconds = machines_->interconnects[lane].message(pair, size);
        cost.send_overhead[lane] = seconds.send_overhead * ticks;
        cost.receive_overhead[lane] = seconds.receive_overhead * ticks;
        cost.unexpected_overhead[lane] = seconds.unexpected_overhead * ticks;
        cost.transfer[lane] = seconds.transfer * ticks;
        cost.gap[lane] = seconds.gap * ticks;
        cost.latency[lane] = seconds.latency * ticks;
        cost.answer[lane] = seconds.answer * ticks;
        cost.burst_delay[lane] = (seconds.burst_gap - seconds.gap) * ticks;
        cost.second_burst_delay[lane] = (seconds.second_burst_gap - seconds.gap) * ticks;
        cost.crossing_delay[lane] = seconds.crossing_delay * ticks;
        cost.synchronous_overhead[lane] = seconds.synchronous_overhead * ticks;
        cost.following_send[lane] = seconds.following_send * ticks;
        cost.streamed_send[lane] = seconds.streamed_send * ticks;
        cost.following_receive[lane] = seconds.following_receive * ticks;
        cost.following_unexpected[lane] = seconds.following_unexpected * ticks;
      }
      cost.crossing_window = cost.send_overhead + 2 * cost.transfer + cost.receive_overhead;
      cost.crosses = (cost.crossing_delay > 0).any();
      cost.slows_bursts = (cost.burst_delay > 0 || cost.second_burst_delay > 0).any();
      using Occupies = typename LaneMessageCost<K>::Occupies;
      if ((cost.gap > 0).any())
        cost.occupies = (cost.gap > 0).all() ? Occupies::kEverywhere : Occupies::kSomewhere;
      cost.wire = machines_->wire(pair.level(), size);
      cost.protocol = machines_->interconnects[0].protocol(pair.level(), size);
      cost.tells_unexpected = (cost.unexpected_overhead != cost.receive_overhead).any();
      cost.tells_following =
          (cost.following_send != cost.send_overhead || cost.streamed_send != cost.send_overhead ||
           cost.following_receive != cost.receive_overhead ||
           cost.following_unexpected != cost.unexpected_overhead)
              .any();
      cost.tells_eager =
          cost.tells_unexpected || cost.tells_following || (cost.synchronous_overhead > 0).any();
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
