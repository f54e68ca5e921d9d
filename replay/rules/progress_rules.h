#pragma once

#include <algorithm>

#include "replay/rules/model_rules.h"
#include "replay/rules/presence.h"

namespace rubato {

/// Rules of a scenario whose messages may need somebody inside MPI (presence.h). One lane: who goes
/// on first is up to the clocks.
class ProgressRules : public ModelRules<1> {
 public:
  static constexpr bool kNeedsPresence = true;

  using ModelRules<1>::ModelRules;

  Protocol protocol(Level level, uint64_t bytes) { return message_cost(level, bytes).protocol; }

  /// Both ends of a message are known, which goes by pull or push.
  Presence::HandshakeTimes handshake_times(const Transfer<1>& transfer) {
    const LaneMessageCost<1>& cost = message_cost(transfer.level, transfer.bytes);
    const double latency = cost.latency[0];
    const double after_request = cost.transfer[0] - latency;
    const double answer = cost.protocol == Protocol::kPush ? cost.answer[0] : latency;
    Presence::HandshakeTimes handshake;
    handshake.ready = std::max(transfer.sent[0] + latency, transfer.posted[0]);
    handshake.answer = std::min(answer, after_request);
    handshake.data = after_request - std::min(latency, after_request);
    handshake.head_start = handshake.data - (after_request - handshake.answer);
    return handshake;
  }
};

/// True for rules that ask who is inside MPI.
template <class Rules>
inline constexpr bool kNeedsPresence = requires {
  requires Rules::kNeedsPresence;
};

}  // namespace rubato
