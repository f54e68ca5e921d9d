#pragma once

// The part of the engine that tells what calls wait for; engine.h includes it. What counts as a
// wait is told in wait_states.h.

#include <cmath>

#include "replay/engine/replay.h"
#include "replay/rules/recorded_minima.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
RUBATO_RARE void Replay<Rules>::note_wait(const TimelineState<K>& state, const Call& call,
                                          const Lanes<K>& leave) {
  if (call.role != CallRole::kMpi) return waits_->other_call(state.number, call.role);
  if (state.awaited.empty()) return;
  typename WaitStates<K>::Causes causes;
  for (const Awaited& awaited : state.awaited) add_cause(state, call, awaited, causes);
  waits_->call(state.number, state.enter, leave, causes);
  if constexpr (K == 1) {
    if (observers_.empty()) return;
    if (wants_messages_) tell_messages(state);
    Waited waited = causes.waited(state.enter[0], leave[0]);
    bind(state, call, waited);
    for (Observer<K>* observer : observers_) observer->waited(state.number, call, waited);
  }
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::tell_messages(const TimelineState<K>& state) {
  for (const Awaited& awaited : state.awaited) {
    if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
    const Transfer<K>& transfer = matcher_[awaited.transfer];
    if (transfer.abandoned || !transfer.has_send) continue;
    const auto& sides = waits_->sides_of(awaited.transfer);
    const Delivery delivery{sides.sender, sides.send[0], state.number, transfer.bytes};
    for (Observer<K>* observer : observers_) observer->message(delivery);
  }
}

// What the end of a call follows from. By the recording nobody knows when a message was there, so
// there a call follows from its cause if that came later than the call.
template <class Rules>
RUBATO_RARE void Replay<Rules>::bind(const TimelineState<K>& state,
                                     [[maybe_unused]] const Call& call, Waited& waited) {
  if constexpr (Rules::kFollowsRecording) {
    if (waited.wait > 0 && waited.timeline != state.number) {
      waited.bound_to = waited.timeline;
      waited.bound_at = waited.cause;
    }
  } else {
    double latest = waited.enter;
    const auto bind_to = [&](double ready, int timeline, double at) {
      if (ready <= latest || timeline < 0 || (timeline == state.number && at >= waited.enter))
        return;
      latest = ready;
      waited.bound_to = timeline;
      waited.bound_at = at;
    };
    for (const Awaited& awaited : state.awaited) {
      if (awaited.kind == Awaited::Kind::kSend || awaited.kind == Awaited::Kind::kReceive) {
        if (awaited.transfer == kNoTransfer) continue;
        const Transfer<K>& transfer = matcher_[awaited.transfer];
        const bool receives = awaited.kind == Awaited::Kind::kReceive;
        if (transfer.abandoned || (!receives && !transfer.sender_waits)) continue;
        const auto& sides = waits_->sides_of(awaited.transfer);
        const int from = trace_->rank_of(sides.sender), to = trace_->rank_of(sides.receiver);
        // Behind a handshake, from whoever was ready last.
        const bool meets = transfer.handshake || transfer.synchronous;
        const bool by_receiver = meets && (!receives || transfer.handshake) &&
                                 transfer.posted[0] > rules_->reaches(from, to, sides.send)[0];
        const double ready = receives ? transfer.arrival()[0] : rules_->completion(transfer)[0];
        if (by_receiver) {
          bind_to(ready, sides.receiver, transfer.posted[0]);
        } else {
          bind_to(ready, sides.sender, sides.send[0]);
        }
      } else if (awaited.kind == Awaited::Kind::kCollective) {
        const Communicator& comm = trace_->comms[awaited.action->comm];
        if (comm.size() <= 1) continue;
        const auto& instance = collectives_.get(awaited.action->comm, awaited.instance);
        double recorded = 0;
        Lanes<K> cause;
        if (instance.abandoned ||
            !collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause) ||
            !rules_->follows_from_others(state, awaited, context_))
          continue;
        bind_to(rules_->completion(state, call, awaited, context_)[0],
                latest_member(instance, awaited, comm), cause[0]);
      } else if (waited.wait > 0) {
        bind_to(waited.cause, waited.timeline, waited.cause);
      }
    }
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::add_cause(const TimelineState<K>& state, const Call& call,
                                         const Awaited& awaited,
                                         typename WaitStates<K>::Causes& causes) {
  switch (awaited.kind) {
    case Awaited::Kind::kSend:
    case Awaited::Kind::kReceive: {
      if (awaited.transfer == kNoTransfer) return;
      const Transfer<K>& transfer = matcher_[awaited.transfer];
      if (transfer.abandoned) return;
      const auto& sides = waits_->sides_of(awaited.transfer);
      if (awaited.kind == Awaited::Kind::kReceive) {
        causes.add(WaitKind::kLateSender, sides.send, WaitPattern::kLateSender, sides.sender,
                   sides.comm);
      } else if (transfer.sender_waits) {
        causes.add(WaitKind::kLateReceiver, transfer.posted, WaitPattern::kLateReceiver,
                   sides.receiver, sides.comm);
      }
      return;
    }
    case Awaited::Kind::kCollective:
      return add_collective_cause(call, awaited, causes);
    case Awaited::Kind::kEpoch:
      return add_epoch_cause(state, call, awaited, causes);
    case Awaited::Kind::kLock:
      return add_lock_cause(state, awaited, causes);
    case Awaited::Kind::kOneSided:
      return add_post_cause(state, awaited, causes);
    case Awaited::Kind::kMainThread:
    case Awaited::Kind::kThread:
      return;
  }
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_collective_cause(const Call& call, const Awaited& awaited,
                                                     typename WaitStates<K>::Causes& causes) {
  const Communicator& comm = trace_->comms[awaited.action->comm];
  if (comm.size() <= 1) return;
  const auto& instance = collectives_.get(awaited.action->comm, awaited.instance);
  if (instance.abandoned || (Rules::kFollowsRecording && instance.held_nobody())) return;
  double recorded = 0;
  Lanes<K> cause;
  if (!collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause)) return;
  const bool left_before = awaited.action->flags & kTakesNothing && call.leave < recorded;
  if (Rules::kFollowsRecording && left_before) return;
  causes.add(WaitKind::kCollective, cause, pattern_of(instance, awaited.waits_for),
             latest_member(instance, awaited, comm), awaited.action->comm);
}

template <class Rules>
WaitPattern Replay<Rules>::pattern_of(const CollectiveInstance<K>& instance, Synchronisation how) {
  if (instance.window) return WaitPattern::kFence;
  if (instance.op == CollectiveOp::kBarrier) return WaitPattern::kBarrier;
  switch (how) {
    case Synchronisation::kAllToAll:
      return WaitPattern::kAllToAll;
    case Synchronisation::kAllToOne:
      return WaitPattern::kEarlyReduce;
    case Synchronisation::kOneToAll:
      return WaitPattern::kLateBroadcast;
    case Synchronisation::kPrefix:
      return WaitPattern::kEarlyScan;
  }
  return WaitPattern::kAllToAll;
}

template <class Rules>
int Replay<Rules>::latest_member(const CollectiveInstance<K>& instance, const Awaited& awaited,
                                 const Communicator& comm) {
  if (awaited.waits_for == Synchronisation::kOneToAll) return instance.root_timeline;
  if (awaited.waits_for == Synchronisation::kPrefix) return instance.latest_of[awaited.local];
  const Arrivals<K>& all = instance.awaited_by(awaited.local, comm);
  if (instance.parts.empty()) return all.latest;
  const auto [time, sender] = instance.parts.latest_in_first_lane(awaited.local);
  if (time == all.last[0] && sender >= 0 && all.latest >= 0) return std::min(sender, all.latest);
  return time > all.last[0] ? sender : all.latest;
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_post_cause(const TimelineState<K>& state,
                                               const Awaited& awaited,
                                               typename WaitStates<K>::Causes& causes) {
  const Action& action = *awaited.action;
  if (action.kind != ActionKind::kOneSidedDone) return;
  const OneSided<K>* operation = windows_.find(state.rank, action.one_sided.slot);
  if (!operation) return;
  auto& pair = windows_.pair(action.comm, state.rank, operation->target);
  const Epoch<K>* epoch = windows_.accessed(pair);
  // (The complete of an epoch has that cause anyway.)
  if (!epoch || pair.completes || epoch->abandoned || operation->abandoned) return;
  causes.add(WaitKind::kOneSided, epoch->posted, WaitPattern::kLatePost, epoch->poster,
             action.comm);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_epoch_cause(const TimelineState<K>& state, const Call& call,
                                                const Awaited& awaited,
                                                typename WaitStates<K>::Causes& causes) {
  const Epoch<K>& epoch = windows_.epoch(*awaited.action, state.rank, awaited.instance);
  double recorded = 0;
  Lanes<K> cause;
  // A model waits for posts that came too late to have been waited for when recorded.
  const double leave =
      Rules::kFollowsRecording ? call.leave : std::numeric_limits<double>::infinity();
  if (!epoch_cause(epoch, *awaited.action, leave, recorded, cause)) return;
  const bool is_origin = windows_.is_origin(*awaited.action);
  causes.add(WaitKind::kOneSided, cause,
             is_origin ? WaitPattern::kLatePost : WaitPattern::kEarlyWait,
             is_origin ? epoch.poster : epoch.completer, awaited.action->comm);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_lock_cause(const TimelineState<K>& state,
                                               const Awaited& awaited,
                                               typename WaitStates<K>::Causes& causes) {
  if (awaited.instance == 0) return;
  const Action& action = *awaited.action;
  const LockTurn<K>& turn = windows_.turn(action, static_cast<uint32_t>(awaited.instance - 1));
  if (!std::isfinite(turn.recorded_release)) return;  // it will never be over, and holds up nobody
  Lanes<K> cause = turn.released;
  // At the target, where the request comes as much later.
  if constexpr (!Rules::kFollowsRecording)
    cause -= rules_->reaches(state.rank, action.one_sided.target, state.enter) - state.enter;
  causes.add(WaitKind::kOneSided, cause, WaitPattern::kLock, turn.releaser, action.comm);
}

}  // namespace rubato
