#pragma once

// Messages that need a process inside MPI (presence.h): a request to send, or the data after its
// answer, proceeds only while the process that has to act is in a call that makes progress.

#include <algorithm>

#include "replay/engine/dependency.h"
#include "replay/engine/exchange.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Handshakes {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// True for calls in which an MPI library makes progress.
  static bool makes_progress(State& replay, const Call& call) {
    if (call.role != CallRole::kMpi)
      return call.role == CallRole::kInit || call.role == CallRole::kFinalize;
    return call.actions > 0 ||
           replay.trace->calls[call.name].without_records == CallClass::kCommunicates;
  }

  /// True where `call`, the current one, is a stay in MPI that some message may need.
  RUBATO_HOT static bool is_asked_for(State& replay, const TimelineState<K>& state,
                                      const Call& call) {
    if constexpr (kMayNeedPresence<Rules>)
      return replay.presence.asks_for(state.number) && makes_progress(replay, call);
    return false;
  }

  /// True for a size at which some messages may need a process inside MPI.
  static bool may_be_needed(State& replay, uint64_t bytes) {
    return kMayNeedPresence<Rules> && static_cast<double>(bytes) >= replay.presence_from;
  }
  /// True for a receive whose own length may differ from that of its message: among neighbours, and
  /// where an archive has two lengths of a message.
  static bool sender_knows_length(State& replay, const Action& action) {
    return replay.in_order || is_among_neighbours(action.message.tag);
  }

  /// The current call of `state`, for which is_asked_for() is true, enters.
  static void enter(State& replay, const TimelineState<K>& state) {
    replay.presence.enter(state.number, state.enter);
    take_arrivals(replay);
  }
  /// The current call of `state`, for which is_asked_for() is true, leaves.
  static void leave(State& replay, const TimelineState<K>& state, const Lanes<K>& leave) {
    replay.presence.leave(state.number, leave);
    take_arrivals(replay);
    if (!replay.presence.has_many_stays(state.number) || replay.goes_back) return;
    replay.presence.forget(state.number, [&](int rank) {
      if (!replay.is_local(rank)) return Lanes<K>::Constant(-Presence<K>::kNever).eval();
      const TimelineState<K>& other = replay.timelines[rank];
      const bool is_over = replay.running[rank] == 0;  // including all its threads
      const bool has_begun = other.calls > 0 && !other.threads;
      return is_over || !has_begun
                 ? Lanes<K>::Constant(is_over ? Presence<K>::kNever : -Presence<K>::kNever)
                 : other.clock;
    });
  }

  /// The current call of `state` sent a message that may need a process inside
  /// MPI.
  static void send(State& replay, TimelineState<K>& state, const Action& action, TransferId id,
                   Transfer<K>& transfer) {
    if constexpr (kMayNeedPresence<Rules>) {
      const Protocol protocol = replay.rules->protocol(transfer.pair, transfer.bytes);
      if (transfer.abandoned || protocol < Protocol::kPull) return;
      replay.presence.send(id, state.number, action.message.peer, state.enter, protocol);
      transfer.handshake_pending = replay.presence.has(id);
    }
  }

  /// The same for a receive.
  static void post(State& replay, TimelineState<K>& state, const Action& action, TransferId id,
                   Transfer<K>& transfer) {
    if constexpr (kMayNeedPresence<Rules>) {
      const PairClass pair = replay.pair_of(action.message.peer, state.rank);
      const Protocol protocol = replay.rules->protocol(pair, transfer.bytes);
      const bool may_change = sender_knows_length(replay, action) && !transfer.has_send;
      if (protocol < Protocol::kPull && !may_change) return;
      replay.presence.post(id, state.number, action.message.peer, state.enter, protocol);
      transfer.handshake_pending = true;
      if constexpr (kDividable<Rules>) {
        if (transfer.has_send && !replay.is_local(action.message.peer))
          replay.presence.send_elsewhere(id, protocol);
      }
    }
  }

  /// The message will not be received.
  static void drop(State& replay, TransferId id) {
    if constexpr (kMayNeedPresence<Rules>) {
      if (!replay.matcher[id].handshake_pending) return;
      replay.presence.drop(id);
      replay.matcher[id].handshake_pending = false;
    }
  }

  /// True when both sides of the message are known but its arrival is not.
  RUBATO_HOT static bool is_held_up(State& replay, TransferId id, const Transfer<K>& transfer) {
    if constexpr (kMayNeedPresence<Rules>) return transfer.handshake_pending;
    if constexpr (kTimeOrdered<Rules>) return replay.rules->order().open(id);
    return false;
  }

  /// Sets the arrivals that have become known, and wakes the timelines that wait for them.
  RUBATO_HOT static void take_arrivals(State& replay) {
    Exchange<Rules>::notify_crossings(replay);
    if (!replay.presence.arrivals().empty()) wake_by_arrivals(replay);
  }

  /// All timelines are blocked: lets messages proceed that wait for a blocked rank.
  static typename Presence<K>::Served serve_earliest(State& replay) {
    if constexpr (!kMayNeedPresence<Rules>) return Presence<K>::Served::kNone;
    const auto served = replay.presence.serve_earliest(first_leave_by_lane(replay));
    take_arrivals(replay);
    return served;
  }

  /// By lane: a lower bound of when a blocked timeline can leave its call, if nothing arrives by
  /// serve_earliest().
  static Lanes<K> first_leave_by_lane(State& replay) {
    using Mask = typename Presence<K>::Mask;
    Lanes<K> first = Lanes<K>::Constant(Presence<K>::kNever);
    // If each message has arrived in all lanes or in none, the lanes agree on which timelines are
    // blocked.
    if (!replay.presence.lanes_differ()) return first;
    for (const int timeline : replay.local_timelines) {
      TimelineState<K>& state = replay.timelines[timeline];
      if (!state.is_blocked()) continue;
      Lanes<K> leave = state.enter;
      Mask can_leave = Presence<K>::kAllLanes;
      for (size_t i = state.next_awaited; i < state.awaited.size() && can_leave != 0; ++i) {
        // Only messages are examined.
        const Awaited awaited = state.awaited[i];
        if (!awaited.posted || awaited.transfer == kNoTransfer ||
            awaited.kind >= Awaited::Kind::kCollective)
          continue;
        const Transfer<K>& transfer = replay.matcher[awaited.transfer];
        if (transfer.handshake_pending) {
          const Mask known = replay.presence.known(awaited.transfer);
          can_leave &= known;
          const Lanes<K>& arrival = replay.presence.arrival(awaited.transfer);
          for (int lane = 0; lane < K; ++lane) {
            if (known >> lane & 1) leave[lane] = std::max(leave[lane], arrival[lane]);
          }
        } else if (!transfer.abandoned && !(transfer.has_send && transfer.has_post)) {
          if (awaited.kind == Awaited::Kind::kReceive || transfer.sender_waits) can_leave = 0;
        }
      }
      for (int lane = 0; lane < K; ++lane) {
        if (can_leave >> lane & 1) first[lane] = std::min(first[lane], leave[lane]);
      }
    }
    return first;
  }

 private:
  static void wake_by_arrivals(State& replay) {
    for (const auto& [id, time, by] : replay.presence.arrivals()) {
      if constexpr (kKnowsOrigins<Rules>) replay.rules->note_arrival(id, by);
      Transfer<K>& transfer = replay.matcher[id];
      transfer.arrival() = time;
      transfer.handshake_pending = false;
      replay.wake(transfer.waiting_sender);
      replay.wake(transfer.waiting_receiver);
      Exchange<Rules>::arrived(replay, id);
    }
    replay.presence.arrivals().clear();
  }
};

}  // namespace rubato
