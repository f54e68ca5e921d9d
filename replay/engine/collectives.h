#pragma once

// The part of the engine for collectives, blocking and nonblocking; engine.h includes it.
// collective_instances.h explains which calls form one collective.

#include <string>

#include "models/base/error.h"
#include "replay/engine/replay.h"

namespace rubato {

template <class Rules>
[[gnu::noinline]] void Replay<Rules>::collective(int timeline, const Call& call,
                                                 const Action& action) {
  ++outcome_.collectives;
  const Communicator& comm = trace_->comms[action.comm];
  Awaited awaited;
  awaited.kind = Awaited::Kind::kCollective;
  awaited.action = &action;
  if (comm.size() > 1) {
    awaited.local = comm.local_rank(timelines_[timeline].rank);
    awaited.waits_for = synchronisation_of(action, awaited.local);
    const auto [number, instance] = arrive(timeline, call, action, awaited.local);
    awaited.instance = number;
    if (action.flags & kNoPart) return depart(action.comm, number, instance);
    if constexpr (kKnowsLostThere<Rules>) {
      if (call.spinning & kLoses && rules_->drops_losses()) [[unlikely]] {
        if constexpr (kDividable<Rules>) {
          if (boundary_ && boundary_->remote_members()[action.comm] > 0) refuse_losses();
        }
        const Lost lost = lost_in(timelines_[timeline].block.actions_of(call));
        instance.losses.push_back({awaited.local, call.enter, call.leave, lost});
      }
    }
  }
  timelines_[timeline].awaited.push_back(awaited);
}

template <class Rules>
[[gnu::noinline]] void Replay<Rules>::start_collective(int timeline, const Call& call,
                                                       const Action& action) {
  ++outcome_.collectives;
  const Communicator& comm = trace_->comms[action.comm];
  if (comm.size() <= 1) return put_slot(timelines_[timeline], action.start.slot, kNoTransfer);
  StartedCollective<K> started;
  started.local = comm.local_rank(timelines_[timeline].rank);
  const auto [number, instance] = arrive(timeline, call, action, started.local);
  started.instance = number;
  started.enter = timelines_[timeline].enter;
  if (action.flags & kNoPart) {
    depart(action.comm, number, instance);
    return put_slot(timelines_[timeline], action.start.slot, kNoTransfer);
  }
  auto id = static_cast<TransferId>(started_.size());
  if (free_started_.empty()) {
    started_.push_back(started);
  } else {
    id = free_started_.back();
    free_started_.pop_back();
    started_[id] = started;
  }
  put_slot(timelines_[timeline], action.start.slot, id);
}

template <class Rules>
Synchronisation Replay<Rules>::synchronisation_of(const Action& action, int local) const {
  if constexpr (Rules::kFollowsRecording) {
    return synchronisation(action.op);
  } else {
    return rules_->synchronisation(action, local, *trace_);
  }
}

template <class Rules>
auto Replay<Rules>::arrive(int timeline, const Call& call, const Action& action, int local) ->
    typename CollectiveInstances<K>::Arrived {
  TimelineState<K>& state = timelines_[timeline];
  const auto arrived = collectives_.arrive(action, local, state.rank, timeline, call, state.enter);
  CollectiveInstance<K>& instance = arrived.instance;
  if (collectives_.take_mismatch()) {
    throw InputError(trace_->path + ": " + place(timeline, call) +
                     ": a collective on communicator '" + trace_->comms[action.comm].name +
                     "' differs in operation or root from the one of rank " +
                     std::to_string(instance.first_rank) + "; records are missing or damaged");
  }
  if (instance.window) end_streams(action.comm, state.rank, instance);
  if constexpr (kDividable<Rules>) {
    if (boundary_) notify_members(timeline, call, action, local, arrived);
  }
  if (collectives_.may_release(instance, trace_->comms[action.comm], local)) {
    for (const int32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
  }
  play(instance, action, local, timeline, state.enter);
  return arrived;
}

template <class Rules>
void Replay<Rules>::play(CollectiveInstance<K>& instance, const Action& action, int local,
                         int timeline, const Lanes<K>& enter) {
  if constexpr (!Rules::kFollowsRecording) {
    rules_->enter_collective(instance, action, local, timeline, enter,
                             collectives_.local_members(action.comm), *trace_);
    if constexpr (kTimeOrdered<Rules>) start_flows(instance.play);
    rules_->plays().wake([this](int waiting) { wake(waiting); });
  }
}

template <class Rules>
bool Replay<Rules>::messages_are_there(int timeline, const CollectiveInstance<K>& instance,
                                       int local) {
  if constexpr (!Rules::kFollowsRecording) {
    if (instance.play < 0 || rules_->plays().is_done(instance.play, local)) return true;
    rules_->plays().wait(instance.play, local, timeline);
    return false;
  }
  return true;
}

template <class Rules>
void Replay<Rules>::depart(uint32_t comm, uint64_t number, CollectiveInstance<K>& instance) {
  if constexpr (!Rules::kFollowsRecording) {
    if (instance.play >= 0 && rules_->plays().left(instance.play))
      instance.play = rules_->plays().kOver;
  }
  collectives_.depart(comm, number, instance);
}

template <class Rules>
[[gnu::noinline]] void Replay<Rules>::await_collective(int timeline, const Action& action) {
  TimelineState<K>& state = timelines_[timeline];
  Awaited awaited;
  awaited.kind = Awaited::Kind::kCollective;
  awaited.action = &action;
  if (state.threads) {
    awaited.posted = false;
    awaited.slot = action.collective.slot;
  } else {
    awaited.transfer = take_slot(state, action.collective.slot);
    if (awaited.transfer == kNoTransfer) return;  // a collective of one member
    find_instance(awaited);
  }
  state.awaited.push_back(awaited);
}

template <class Rules>
void Replay<Rules>::find_instance(Awaited& awaited) const {
  if (awaited.transfer == kNoTransfer) return;
  awaited.local = started_[awaited.transfer].local;
  awaited.instance = started_[awaited.transfer].instance;
  awaited.waits_for = synchronisation_of(*awaited.action, awaited.local);
}

}  // namespace rubato
