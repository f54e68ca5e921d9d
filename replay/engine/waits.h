#pragma once

// The part of the engine that finds what calls wait for; engine.h includes it. wait_states.h
// defines what counts as a wait.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/rules/origin_rules.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
RUBATO_RARE void Replay<Rules>::note_wait(const TimelineState<K>& state, const Call& call,
                                          const Lanes<K>& leave) {
  if (call.role != CallRole::kMpi) {
    waits_->other_call(state.number, call.role);
    if constexpr (K == 1) {
      if (state.threads && !observers_.empty()) note_thread_wait(state, call, leave);
    }
    return;
  }
  if (call.spinning & kSpinning) {
    if ((leave > state.enter).any())
      loops_[state.number].add(call.name, state.enter, leave, held_losses(state, call));
    return;
  }
  if (state.awaited.empty()) {
    // Local calls may occur between a poll and the call that it leads to.
    if (!loops_.empty() && !call.is_kept()) loops_.erase(state.number);
    return;
  }
  typename WaitStates<K>::Causes causes;
  for (const Awaited& awaited : state.awaited) add_cause(state, call, awaited, causes);
  Lanes<K> kept = Lanes<K>::Ones();
  if (call.spinning & kLoses) {
    kept -= held_losses(state, call) / (leave - state.enter).max(1.0);
    kept = kept.max(0.0);
  }
  waits_->call(state.number, state.enter, leave, causes, kept);
  std::optional<PollingLoop<K>> loop;
  if (!loops_.empty()) {
    if (auto found = loops_.extract(state.number)) loop = std::move(found.mapped());
  }
  Waited waited;
  if constexpr (K == 1) {
    waited = causes.waited(state.enter[0], leave[0]);
    waited.kept = kept[0];
    if (wants_messages_) report_messages(state);
  }
  if (loop) end_loop(state, *loop, causes, waited);
  if constexpr (K == 1) {
    if (observers_.empty()) return;
    bind(state, loop ? loop->begin()[0] : waited.enter, waited);
    for (Observer<K>* observer : observers_) observer->waited(state.number, call, waited);
  }
}

template <class Rules>
RUBATO_RARE Lanes<Replay<Rules>::K> Replay<Rules>::held_losses(const TimelineState<K>& state,
                                                               const Call& call) const {
  if constexpr (requires { rules_->held(Lost()); }) {
    if (call.spinning & kLoses) return rules_->held(lost_in(state.block.actions_of(call)));
  }
  return Lanes<K>::Zero();
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::end_loop(const TimelineState<K>& state, const PollingLoop<K>& loop,
                                         const typename WaitStates<K>::Causes& causes,
                                         Waited waited) {
  Lanes<K> all = Lanes<K>::Zero();
  std::vector<PolledWait> polls;
  loop.for_each_wait(causes.last(), [&](uint16_t name, const Lanes<K>& ticks) {
    all += ticks;
    if (K > 1 || observers_.empty() || !(ticks[0] > 0)) return;
    const auto same = std::find_if(polls.begin(), polls.end(),
                                   [&](const PolledWait& each) { return each.call == name; });
    if (same == polls.end()) {
      polls.push_back({name, ticks[0]});
    } else {
      same->ticks += ticks[0];
    }
  });
  waits_->add(state.number, causes, all);
  if (polls.empty()) return;
  for (Observer<K>* observer : observers_)
    observer->polled(state.number, polls, loop.begin()[0], waited);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::report_messages(const TimelineState<K>& state) {
  for (const Awaited& awaited : state.awaited) {
    if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
    const Transfer<K>& transfer = matcher_[awaited.transfer];
    if (transfer.abandoned || !transfer.has_send) continue;
    const auto& sides = waits_->sides_of(awaited.transfer);
    const Delivery delivery{sides.sender, sides.send[0], state.number, transfer.bytes};
    for (Observer<K>* observer : observers_) observer->message(delivery);
  }
}

// The event that determines the end of a call. The recording does not contain arrival times of
// messages, so there a call follows from its cause if the cause came later than the call.
template <class Rules>
RUBATO_RARE void Replay<Rules>::bind(const TimelineState<K>& state, double since, Waited& waited) {
  Origin origin{state.number, waited.enter};
  if constexpr (Rules::kFollowsRecording) {
    if (std::min(waited.cause, waited.leave) > since) origin = {waited.timeline, waited.cause};
  } else if constexpr (kKnowsOrigins<Rules>) {
    origin = rules_->last_origin().origin;
  } else if constexpr (kTimeOrdered<Rules>) {
    origin = latest_origin(state, waited);
  }
  Origin before;  // the event that determines its enter, if on another timeline
  if (state.threads) before = std::exchange(state.threads->held_by[state.number], {});
  const bool is_own = origin.timeline == state.number && origin.at >= waited.enter;
  if (is_own) origin = before;
  if (origin.timeline < 0) return;
  waited.bound_to = origin.timeline;
  waited.bound_at = origin.at;
}

// The origin of a flow on a shared network is the call that started it.
template <class Rules>
RUBATO_RARE Origin Replay<Rules>::latest_origin(const TimelineState<K>& state,
                                                const Waited& waited) requires kTimeOrdered<Rules> {
  const Call& call = current_call(state.number);
  Dated latest{waited.enter + rules_->overheads(state, call, context_)[0],
               {state.number, waited.enter}};
  for (const Awaited& awaited : state.awaited) {
    if (awaited.kind == Awaited::Kind::kSend || awaited.kind == Awaited::Kind::kReceive) {
      if (awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = matcher_[awaited.transfer];
      const bool receives = awaited.kind == Awaited::Kind::kReceive;
      if (transfer.abandoned || (!receives && !transfer.sender_waits)) continue;
      const auto& sides = waits_->sides_of(awaited.transfer);
      // With a handshake, and where the sender is notified of the receive: the side that was ready
      // last.
      const double there = transfer.handshake
                               ? rules_->request_comes(transfer, Lanes<K>(sides.send))[0]
                               : transfer.arrival()[0];
      const bool by_receiver = (transfer.handshake || !receives) && transfer.posted[0] > there;
      latest.raise(receives ? rules_->received(transfer)[0] : rules_->completion(transfer)[0],
                   by_receiver ? Origin{sides.receiver, transfer.posted[0]}
                               : Origin{sides.sender, sides.send[0]});
    } else if (awaited.kind == Awaited::Kind::kCollective) {
      const Communicator& comm = trace_->comms[awaited.action->comm];
      if (comm.size() <= 1) continue;
      const auto& instance = collectives_.get(awaited.action->comm, awaited.instance);
      double recorded = 0;
      Lanes<K> cause;
      if (instance.abandoned) continue;
      if (const auto by = rules_->play_origin(awaited, context_)) {
        latest.raise(rules_->completion(state, call, awaited, context_)[0], *by);
        continue;
      }
      if (!collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause) ||
          !rules_->follows_from_others(state, awaited, context_))
        continue;
      latest.raise(rules_->completion(state, call, awaited, context_)[0],
                   {latest_member(instance, awaited.waits_for, awaited.local, comm), cause[0]});
    } else if (waited.wait > 0) {
      latest.raise(waited.cause, {waited.timeline, waited.cause});
    }
  }
  return latest.origin;
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::note_thread_wait(const TimelineState<K>& state, const Call& call,
                                                 const Lanes<K>& leave) {
  Waited waited;
  waited.enter = state.enter[0];
  waited.leave = leave[0];
  double latest =
      call.role == CallRole::kBegin ? -std::numeric_limits<double>::infinity() : waited.enter;
  for (const Awaited& awaited : state.awaited) {
    if (awaited.kind != Awaited::Kind::kThread) continue;
    const auto& step = state.threads->steps.at(awaited.slot);
    const double there = step_reaches(step, awaited, call)[0];
    if (there <= latest) continue;
    latest = there;
    waited.bound_to = step.timeline;
    waited.bound_at = step.time[0];
  }
  if (waited.bound_to < 0) return;
  for (Observer<K>* observer : observers_) observer->waited(state.number, call, waited);
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
             latest_member(instance, awaited.waits_for, awaited.local, comm), awaited.action->comm);
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
RUBATO_RARE void Replay<Rules>::add_post_cause(const TimelineState<K>& state,
                                               const Awaited& awaited,
                                               typename WaitStates<K>::Causes& causes) {
  const Action& action = *awaited.action;
  if (action.kind != ActionKind::kOneSidedDone) return;
  const OneSided<K>* operation = windows_.find(state.rank, action.one_sided.slot);
  if (!operation) return;
  auto& pair = windows_.pair(action.comm, state.rank, operation->target);
  const Epoch<K>* epoch = windows_.accessed(pair);
  // (The complete of an epoch adds this cause itself.)
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
  // A model also waits for posts that came too late to be waited for when recorded.
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
  if (!std::isfinite(turn.recorded_release)) return;  // never released; it blocks no timeline
  Lanes<K> cause = turn.released;
  // Measured at the target, where the request arrives later by that much.
  if constexpr (!Rules::kFollowsRecording)
    cause -= rules_->reaches(state.rank, action.one_sided.target, state.enter) - state.enter;
  causes.add(WaitKind::kOneSided, cause, WaitPattern::kLock, turn.releaser, action.comm);
}

}  // namespace rubato
