#pragma once

// The part of the engine for one-sided communication; engine.h includes it. windows.h explains
// which call waits for which.

#include <algorithm>
#include <utility>

#include "replay/engine/replay.h"

namespace rubato {

template <class Rules>
void Replay<Rules>::begin_one_sided(int timeline, const Action& action) {
  TimelineState<K>& state = timelines_[timeline];
  const PairClass pair = pair_of(state.rank, action.one_sided.target);
  const Action* result = action.flags & kFetches ? &action + 1 : nullptr;
  ++pair_traffic_[pair.number()].messages;
  pair_traffic_[pair.number()].bytes +=
      action.one_sided.bytes + (result ? result->one_sided.bytes : 0);
  if constexpr (!Rules::kFollowsRecording) {
    OneSided<K>& operation = windows_.operation(state.rank, action.one_sided.slot);
    operation.target = action.one_sided.target;
    operation.pair = pair;
    windows_.begin(action.comm, state.rank, action.one_sided.target, action.one_sided.slot);
    if constexpr (kTimeOrdered<Rules>) {
      begin_operation(state, action, result, operation);
    } else {
      rules_->begin_one_sided(state, action, result, operation,
                              windows_.stream(action.comm, state.rank, action.one_sided.target));
    }
  }
}

template <class Rules>
void Replay<Rules>::finish_one_sided(int timeline, const Action& action) {
  if constexpr (!Rules::kFollowsRecording) {
    Awaited awaited;
    awaited.kind = Awaited::Kind::kOneSided;
    awaited.action = &action;
    timelines_[timeline].awaited.push_back(awaited);
  }
}

template <class Rules>
void Replay<Rules>::lock(int timeline, const Action& action) {
  Awaited awaited;
  awaited.kind = Awaited::Kind::kLock;
  awaited.action = &action;
  end_accesses(action.comm, timelines_[timeline].rank);
  if (locks_ && action.one_sided.target != kNoRoot) {
    auto& count = windows_.lock_counts(action, timeline);
    count.held = true;
    const LockOrder::Hold hold =
        locks_->hold(timeline, action.comm, action.one_sided.target, count.taken++);
    if (hold.turn != LockOrder::kFree && hold.turn > 0) {
      if (hold.waited || !Rules::kFollowsRecording) {
        awaited.instance = hold.turn;  // also the number of the previous turn, counted from 1
      } else {
        windows_.pass(*locks_, action, hold.turn - 1);
      }
    }
  }
  if (awaited.instance > 0 || !Rules::kFollowsRecording)
    timelines_[timeline].awaited.push_back(awaited);
}

template <class Rules>
void Replay<Rules>::unlock(int timeline, const Call& call, const Action& action) {
  const int32_t target = action.one_sided.target;
  finish_one_sided(timeline, action);
  end_accesses(action.comm, timelines_[timeline].rank);
  if constexpr (!Rules::kFollowsRecording)
    windows_.end_lock(action.comm, timelines_[timeline].rank, target);
  if (!locks_ || target == kNoRoot) return;
  // As in LockOrder: releases the last lock taken, or none where records are missing.
  auto& count = windows_.lock_counts(action, timeline);
  if (!std::exchange(count.held, false)) return;
  const LockOrder::Hold hold = locks_->hold(timeline, action.comm, target, count.taken - 1);
  if (hold.turn == LockOrder::kFree) return;
  TimelineState<K>& state = timelines_[timeline];
  Lanes<K> released = state.enter;
  Origin from{timeline, state.enter[0]};
  if constexpr (!Rules::kFollowsRecording) {
    const Stream<K>& stream = windows_.pair(action.comm, state.rank, target).stream;
    released = rules_->reaches(state.rank, target, state.busy);
    if (stream.landed[0] > released[0]) from = stream.landed_from;
    released = released.max(stream.landed);
  }
  LockTurn<K>& turn = windows_.turn(*locks_, action, hold.turn);
  turn.recorded_release = std::max(turn.recorded_release, call.enter);
  if constexpr (kTimeOrdered<Rules>) {
    Landing* landing = windows_.pair(action.comm, state.rank, target).stream.flows.get();
    if (landing && landing->under_way > 0) {
      landing->releases.push_back({action, hold.turn, timeline, released[0]});
      return;
    }
    if (landing) released = released.max(landing->last);
  }
  release_lock(timeline, action, hold.turn, released, from);
}

template <class Rules>
void Replay<Rules>::release_lock(int timeline, const Action& action, uint32_t number,
                                 const Lanes<K>& released, const Origin& from) {
  LockTurn<K>& turn = windows_.turn(*locks_, action, number);
  const bool ties = released[0] == turn.released[0];  // as in Arrivals::add()
  if (released[0] > turn.released[0] || (ties && timeline < turn.releaser)) {
    turn.releaser = timeline;
    turn.released_from = from;
  }
  turn.released = turn.released.max(released);
  const auto holder = std::find(turn.holders.begin(), turn.holders.end(), timeline);
  if (holder != turn.holders.end()) turn.holders.erase(holder);
  if (!turn.holders.empty()) return;
  for (const int32_t waiting : std::exchange(turn.waiting, {})) wake(waiting);
  windows_.forget_turn(*locks_, action, number);
}

template <class Rules>
void Replay<Rules>::end_streams(uint32_t window, int rank, CollectiveInstance<K>& instance) {
  const Communicator& comm = trace_->comms[window];
  end_accesses(window, rank);
  if constexpr (kTimeOrdered<Rules>) end_flows(window, rank, instance);
  windows_.end_streams(window, rank, [&](int32_t target, const Stream<K>& stream) {
    if (instance.arrivals.empty()) {
      instance.arrivals.resize(comm.size(), Stream<K>::never());
      instance.arrivals_from.resize(comm.size());
    }
    const int local = comm.local_rank(target);
    Lanes<K>& arrival = instance.arrivals[local];
    if (stream.landed[0] > arrival[0]) instance.arrivals_from[local] = stream.landed_from;
    arrival = arrival.max(stream.landed);
  });
}

template <class Rules>
void Replay<Rules>::end_accesses(uint32_t window, int rank) {
  if constexpr (Rules::kFollowsRecording) return;
  windows_.end_accesses(window, rank, [&]([[maybe_unused]] Epoch<K>& epoch) {
    if constexpr (kTimeOrdered<Rules>) begin_unready(epoch);
  });
}

template <class Rules>
void Replay<Rules>::enter_epoch(int timeline, const Call& call, const Action& action) {
  TimelineState<K>& state = timelines_[timeline];
  Awaited awaited;
  awaited.kind = Awaited::Kind::kEpoch;
  awaited.action = &action;
  awaited.instance = windows_.arrive(action, state.rank);
  Epoch<K>& epoch = windows_.epoch(action, state.rank, awaited.instance);
  switch (action.epoch.step) {
    case EpochStep::kPost:
      epoch.has_post = true;
      epoch.poster = timeline;
      epoch.recorded_post = call.enter;
      epoch.post_enter = state.enter[0];
      epoch.posted = rules_->notify(state, pair_of(state.rank, action.epoch.peer));
      for (const int32_t waiting : std::exchange(epoch.waiting_origin, {})) wake(waiting);
      if constexpr (kTimeOrdered<Rules>) begin_unready(epoch);
      return;
    case EpochStep::kStart:
      if constexpr (!Rules::kFollowsRecording) {
        windows_.start(action, state.rank, awaited.instance);
        return;  // the complete will wait
      }
      break;
    case EpochStep::kComplete: {
      epoch.has_complete = true;
      epoch.completer = timeline;
      epoch.recorded_complete = call.enter;
      epoch.complete_enter = state.enter[0];
      epoch.completed = rules_->notify(state, pair_of(state.rank, action.epoch.peer));
      if constexpr (!Rules::kFollowsRecording) {
        typename Windows<K>::Pair& pair = windows_.pair_of(action, state.rank);
        epoch.stream = std::exchange(pair.stream, {});
        pair.completes = true;
        pair.accesses = false;
        pair.completing = awaited.instance;
      }
      wake(epoch.waiting_target);
      break;
    }
    case EpochStep::kWait:
      break;
  }
  state.awaited.push_back(awaited);
}

template <class Rules>
bool Replay<Rules>::other_side_is_there(int timeline, const Awaited& awaited) {
  const int rank = timelines_[timeline].rank;
  Epoch<K>& epoch = windows_.epoch(*awaited.action, rank, awaited.instance);
  const bool is_origin = windows_.is_origin(*awaited.action);
  if (epoch.abandoned || (is_origin ? epoch.has_post : epoch.has_complete)) {
    if constexpr (kTimeOrdered<Rules>)
      return epoch.abandoned || has_flowed(timeline, awaited, epoch);
    return true;
  }
  if (is_origin) {
    epoch.waiting_origin.push_back(timeline);
  } else {
    epoch.waiting_target = timeline;
  }
  return false;
}

template <class Rules>
bool Replay<Rules>::target_is_ready(int timeline, const Awaited& awaited) {
  const Action& action = *awaited.action;
  if (action.kind != ActionKind::kOneSidedDone) return true;
  const int rank = timelines_[timeline].rank;
  const OneSided<K>* operation = windows_.find(rank, action.one_sided.slot);
  if (!operation || operation->abandoned) return true;
  typename Windows<K>::Pair& pair = windows_.pair(action.comm, rank, operation->target);
  Epoch<K>* const epoch = windows_.accessed(pair);
  // (A complete waits in other_side_is_there().)
  if (!epoch || pair.completes || epoch->abandoned || epoch->has_post) return true;
  epoch->waiting_origin.push_back(timeline);
  return false;
}

template <class Rules>
auto Replay<Rules>::turn_before(const Awaited& awaited) -> LockTurn<K>& {
  return windows_.turn(*locks_, *awaited.action, static_cast<uint32_t>(awaited.instance - 1));
}

template <class Rules>
void Replay<Rules>::complete_one_sided(int timeline, const Awaited& awaited) {
  const Action& action = *awaited.action;
  const int rank = timelines_[timeline].rank;
  if (awaited.kind == Awaited::Kind::kLock) {
    if (awaited.instance > 0)
      windows_.pass(*locks_, action, static_cast<uint32_t>(awaited.instance - 1));
  } else if (awaited.kind == Awaited::Kind::kEpoch) {
    if (windows_.epoch(action, rank, awaited.instance).abandoned) ++outcome_.abandoned_epochs;
    if (action.epoch.step == EpochStep::kStart) return;
    if constexpr (!Rules::kFollowsRecording) {
      if (windows_.is_origin(action)) {
        const Epoch<K>& epoch = windows_.epoch(action, rank, awaited.instance);
        const PairClass pair = pair_of(rank, action.epoch.peer);
        windows_.end_epoch(windows_.pair_of(action, rank), rank, rules_->ready(epoch, pair),
                           {epoch.poster, epoch.post_enter});
      }
    }
    windows_.depart(action, rank, awaited.instance);
  } else if (action.kind == ActionKind::kOneSidedDone && action.flags & kRemote) {
    windows_.forget(rank, action.one_sided.slot);
  }
}

}  // namespace rubato
