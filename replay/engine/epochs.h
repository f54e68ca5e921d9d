#pragma once

// The dependency on the other side of an epoch of one-sided communication: MPI_Win_post, start,
// complete and wait. windows.h explains which call waits for which.

#include <limits>
#include <string>
#include <utility>

#include "replay/engine/dependency.h"
#include "replay/matching/causes.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Epochs : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// A call on one side of an epoch.
  static void enter(State& replay, TimelineState<K>& state, const Call& call,
                    const Action& action) {
    Awaited awaited;
    awaited.kind = Awaited::Kind::kEpoch;
    awaited.action = &action;
    awaited.instance = replay.windows.arrive(action, state.rank);
    Epoch<K>& epoch = replay.windows.epoch(action, state.rank, awaited.instance);
    switch (action.epoch.step) {
      case EpochStep::kPost:
        epoch.has_post = true;
        epoch.poster = state.number;
        epoch.recorded_post = call.enter;
        epoch.post_enter = state.enter[0];
        epoch.posted = replay.rules->notify(state, replay.pair_of(state.rank, action.epoch.peer));
        replay.wake_all(epoch.waiting_origin);
        if constexpr (kTimeOrdered<Rules>) OperationFlows<Rules>::begin_unready(replay, epoch);
        return;
      case EpochStep::kStart:
        if constexpr (!Rules::kFollowsRecording) {
          replay.windows.start(action, state.rank, awaited.instance);
          return;  // the complete will wait
        }
        break;
      case EpochStep::kComplete: {
        epoch.has_complete = true;
        epoch.completer = state.number;
        epoch.recorded_complete = call.enter;
        epoch.complete_enter = state.enter[0];
        epoch.completed =
            replay.rules->notify(state, replay.pair_of(state.rank, action.epoch.peer));
        if constexpr (!Rules::kFollowsRecording) {
          typename Windows<K>::Pair& pair = replay.windows.pair_of(action, state.rank);
          epoch.stream = std::exchange(pair.stream, {});
          pair.completes = true;
          pair.accesses = false;
          pair.completing = awaited.instance;
        }
        replay.wake(epoch.waiting_target);
        break;
      }
      case EpochStep::kWait:
        break;
    }
    state.awaited.push_back(awaited);
  }

  static bool is_ready(State& replay, const TimelineState<K>& state, const Awaited& awaited) {
    Epoch<K>& epoch = replay.windows.epoch(*awaited.action, state.rank, awaited.instance);
    const bool is_origin = replay.windows.is_origin(*awaited.action);
    if (epoch.abandoned || (is_origin ? epoch.has_post : epoch.has_complete)) {
      if constexpr (kTimeOrdered<Rules>)
        return epoch.abandoned ||
               OperationFlows<Rules>::has_flowed(replay, state.number, awaited, epoch);
      return true;
    }
    if (is_origin) {
      epoch.waiting_origin.push_back(state.number);
    } else {
      epoch.waiting_target = state.number;
    }
    return false;
  }

  RUBATO_RARE static void add_cause(State& replay, const TimelineState<K>& state, const Call& call,
                                    const Awaited& awaited,
                                    typename WaitStates<K>::Causes& causes) {
    const Epoch<K>& epoch = replay.windows.epoch(*awaited.action, state.rank, awaited.instance);
    double recorded = 0;
    Lanes<K> cause;
    // A model also waits for posts that came too late to be waited for when recorded.
    const double leave =
        Rules::kFollowsRecording ? call.leave : std::numeric_limits<double>::infinity();
    if (!epoch_cause(epoch, *awaited.action, leave, recorded, cause)) return;
    const bool is_origin = replay.windows.is_origin(*awaited.action);
    causes.add(WaitKind::kOneSided, cause,
               is_origin ? WaitPattern::kLatePost : WaitPattern::kEarlyWait,
               is_origin ? epoch.poster : epoch.completer, awaited.action->comm);
  }

  static void complete(State& replay, const TimelineState<K>& state, const Call& call,
                       const Awaited& awaited) {
    const Action& action = *awaited.action;
    const Epoch<K>& epoch = replay.windows.epoch(action, state.rank, awaited.instance);
    const bool is_origin = replay.windows.is_origin(action);
    // (An origin may leave before its target.)
    if (!is_origin && !epoch.abandoned && call.leave < epoch.recorded_complete)
      replay.count_violation(state.number, call, awaited.kind);
    if (epoch.abandoned) ++replay.outcome.abandoned_epochs;
    if (action.epoch.step == EpochStep::kStart) return;
    if constexpr (!Rules::kFollowsRecording) {
      if (is_origin) {
        const PairClass pair = replay.pair_of(state.rank, action.epoch.peer);
        replay.windows.end_epoch(replay.windows.pair_of(action, state.rank), state.rank,
                                 replay.rules->ready(epoch, pair));
      }
    }
    replay.windows.depart(action, state.rank, awaited.instance);
  }

  static int partner(State&, const TimelineState<K>&, const Awaited& awaited) {
    return awaited.action->epoch.peer;
  }

  static void release(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    Epoch<K>& epoch = replay.windows.epoch(*awaited.action, state.rank, awaited.instance);
    epoch.abandoned = true;
    if constexpr (kTimeOrdered<Rules>) OperationFlows<Rules>::begin_unready(replay, epoch);
    replay.wake(state.number);
  }

  static std::string describe(State& replay, const Awaited& awaited, int other) {
    return (replay.windows.is_origin(*awaited.action) ? " waits for the post of rank "
                                                      : " waits for the complete of rank ") +
           std::to_string(other) + " on window '" + replay.trace->comms[awaited.action->comm].name +
           "'";
  }
};

}  // namespace rubato
