#pragma once

// The sends of an archive that have a receive, and the receives that have a send.
//
// A send without a recorded receive (voided, filtered, or made by a call that the tracer does not
// know) is eager and dropped. On a machine where messages of its size wait for the receiver, the
// replay has to distinguish it from a send whose receiver comes late, or never because of a
// deadlock, which is a result. The distinction does not depend on the machine: matching is in post
// order. So when all timelines are blocked and a rank waits to send, or when a rank waits to
// receive before a deadlock is reported, the archive is read once with sends that do not wait, and
// the pass is repeated with the result.

#include <bit>
#include <cstdint>
#include <vector>

#include "replay/matching/timeline_state.h"

namespace rubato {

/// The sends and receives that matched, by timeline and their number in it, from 0.
class ReceivedSends {
 public:
  /// All sends and receives are matched.
  ReceivedSends() = default;
  /// None is matched yet.
  explicit ReceivedSends(int timelines) : sends_(timelines), receives_(timelines) {}

  bool has_send(int timeline, size_t number) const { return has(sends_, timeline, number); }
  bool has_receive(int timeline, size_t number) const { return has(receives_, timeline, number); }
  void add_send(int timeline, size_t number) { add(sends_[timeline], number); }
  void add_receive(int timeline, size_t number) { add(receives_[timeline], number); }

 private:
  using Side = std::vector<std::vector<bool>>;

  static bool has(const Side& side, int timeline, size_t number) {
    return side.empty() || (number < side[timeline].size() && side[timeline][number]);
  }
  static void add(std::vector<bool>& of_timeline, size_t number) {
    if (number >= of_timeline.size()) of_timeline.resize(number + 1);
    of_timeline[number] = true;
  }

  Side sends_;
  Side receives_;
};

/// Fills a ReceivedSends. Times are as recorded, and no send waits.
class ReceiverRules {
 public:
  static constexpr bool kMayBeDivided = false;
  static constexpr int kLanes = 1;
  static constexpr bool kFollowsRecording = true;
  static constexpr bool kFindsReceivers = true;

  ReceiverRules(ReceivedSends& received, const Placement& placement)
      : received_(&received), placement_(&placement) {}

  Lanes<1> compute(double recorded, bool, uint32_t) { return Lanes<1>(recorded); }
  void begin_call(TimelineState<1>&) {}
  Lanes<1> notify(TimelineState<1>& timeline, PairClass) { return timeline.enter; }
  void send(TimelineState<1>&, const Call&, const Action&, Transfer<1>&) {}
  void post(TimelineState<1>&, const Action&, Transfer<1>&) {}
  Lanes<1> leave(TimelineState<1>&, const Call& call, const RuleContext<1>&) {
    return Lanes<1>(call.leave);
  }
  Level level(int a, int b) const { return placement_->level(a, b); }

  // The times of a transfer are unused here, so they store the numbers of its sides.
  void number_send(int timeline, size_t number, Transfer<1>& transfer) {
    transfer.sent[0] = packed(timeline, number);
  }
  void number_receive(int timeline, size_t number, Transfer<1>& transfer) {
    transfer.posted[0] = packed(timeline, number);
  }
  void matched(Transfer<1>& transfer) {
    const auto send = std::bit_cast<uint64_t>(transfer.sent[0]);
    const auto receive = std::bit_cast<uint64_t>(transfer.posted[0]);
    received_->add_send(static_cast<int>(send >> 32), static_cast<uint32_t>(send));
    received_->add_receive(static_cast<int>(receive >> 32), static_cast<uint32_t>(receive));
  }

 private:
  static double packed(int timeline, size_t number) {
    return std::bit_cast<double>(static_cast<uint64_t>(timeline) << 32 | number);
  }

  ReceivedSends* received_;
  const Placement* placement_;
};

/// True for rules that need the number of each send.
template <class Rules>
inline constexpr bool kFindsReceivers = requires {
  Rules::kFindsReceivers;
};

}  // namespace rubato
