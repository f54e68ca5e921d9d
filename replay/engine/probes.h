#pragma once

// The dependency of a probe on the send of the message that it found: the one that the next receive
// on the channel takes, whatever other calls come in between. A probe takes nothing: receiving the
// message is the receive's.

#include <string>

#include "replay/engine/dependency.h"
#include "replay/engine/handshakes.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Probes : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// The current call is a probe. (By arrival, only the receive knows what it takes, and waits.)
  RUBATO_RARE static void await(State& replay, TimelineState<K>& state, const Action& action) {
    if (replay.matches_by_arrival()) return;
    KnownChannel& channel = state.channel_of(action);
    if (!replay.matcher.is_up_to_date(channel, state.rank))
      replay.matcher.look_up(action.message.peer, state.rank, action, channel);
    state.awaited.push_back({.kind = Awaited::Kind::kProbe,
                             .transfer = replay.matcher.probe(action, channel.id),
                             .action = &action});
  }

  static bool is_ready(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    if (awaited.transfer == kNoTransfer) return true;
    Transfer<K>& message = replay.matcher[awaited.transfer];
    if (message.abandoned) return true;
    // Of a rendezvous it finds the request to send.
    if (message.has_send &&
        (message.handshake || !Handshakes<Rules>::is_held_up(replay, awaited.transfer, message)))
      return true;
    message.waiting_receiver = state.number;
    return false;
  }

  static void add_cause(State& replay, const TimelineState<K>&, const Call& call,
                        const Awaited& awaited, typename WaitStates<K>::Causes& causes) {
    if (!replay.context.found_by(awaited, call)) return;
    const auto& sides = replay.waits->sides_of(awaited.transfer);
    causes.add(WaitKind::kLateSender, sides.send, WaitPattern::kLateSender, sides.sender,
               sides.comm);
  }

  static void raise_origin(State& replay, const TimelineState<K>& state, const Call& call,
                           const Awaited& awaited, const Waited&, Dated<K>& latest) {
    if (!replay.context.found_by(awaited, call)) return;
    const auto& sides = replay.waits->sides_of(awaited.transfer);
    latest.raise({replay.rules->probe_leave(state, call, awaited, replay.context),
                  {sides.sender, sides.send[0]}});
  }

  static int partner(State& replay, const TimelineState<K>&, const Awaited& awaited) {
    return awaited.transfer == kNoTransfer ? -1 : replay.matcher.route(awaited.transfer).source;
  }

  static void release(State& replay, TimelineState<K>& state, const Awaited&) {
    const AwaitedList::Entry& entry = state.awaited.entries()[state.next_awaited];
    state.awaited.other(entry).transfer = kNoTransfer;
    replay.wake(state.number);
  }

  static std::string describe(State&, const Awaited&, int other) {
    return " probes for a message from rank " + std::to_string(other);
  }
};

}  // namespace rubato
