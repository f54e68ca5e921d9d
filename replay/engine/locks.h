#pragma once

// The dependency on a lock of a window that others hold. lock_order.h gives the order of holders,
// which is that of the recording.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "replay/engine/dependency.h"
#include "replay/engine/operations.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Locks : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  static void lock(State& replay, TimelineState<K>& state, const Action& action) {
    Awaited awaited;
    awaited.kind = Awaited::Kind::kLock;
    awaited.action = &action;
    Operations<Rules>::end_accesses(replay, action.comm, state.rank);
    if (replay.locks && action.one_sided.target != kNoRoot) {
      auto& count = replay.windows.lock_counts(action, state.number);
      count.held = true;
      const LockOrder::Hold hold =
          replay.locks->hold(state.number, action.comm, action.one_sided.target, count.taken++);
      if (hold.turn != LockOrder::kFree && hold.turn > 0) {
        if (hold.waited || !Rules::kFollowsRecording) {
          awaited.instance = hold.turn;  // also the number of the previous turn, counted from 1
        } else {
          replay.windows.pass(*replay.locks, action, hold.turn - 1);
        }
      }
    }
    if (awaited.instance > 0 || !Rules::kFollowsRecording) state.awaited.push_back(awaited);
  }

  static void unlock(State& replay, TimelineState<K>& state, const Call& call,
                     const Action& action) {
    const int32_t target = action.one_sided.target;
    Operations<Rules>::await(state, action);
    Operations<Rules>::end_accesses(replay, action.comm, state.rank);
    if constexpr (!Rules::kFollowsRecording)
      replay.windows.end_lock(action.comm, state.rank, target);
    if (!replay.locks || target == kNoRoot) return;
    // As in LockOrder: releases the last lock taken, or none where records are missing.
    auto& count = replay.windows.lock_counts(action, state.number);
    if (!std::exchange(count.held, false)) return;
    const LockOrder::Hold hold =
        replay.locks->hold(state.number, action.comm, target, count.taken - 1);
    if (hold.turn == LockOrder::kFree) return;
    Dated<K> released{state.enter, {state.number, state.enter[0]}};
    if constexpr (!Rules::kFollowsRecording) {
      const Stream<K>& stream = replay.windows.pair(action.comm, state.rank, target).stream;
      released.time = replay.rules->reaches(state.rank, target, state.busy);
      released.raise(stream.landed);
    }
    LockTurn<K>& turn = replay.windows.turn(*replay.locks, action, hold.turn);
    turn.recorded_release = std::max(turn.recorded_release, call.enter);
    if constexpr (kTimeOrdered<Rules>) {
      Landing* landing = replay.windows.pair(action.comm, state.rank, target).stream.flows.get();
      if (landing && landing->under_way > 0) {
        landing->releases.push_back({action, hold.turn, state.number, released.time[0]});
        return;
      }
      if (landing) released.time = released.time.max(landing->last);
    }
    end_turn(replay, state.number, action, hold.turn, released);
  }

  /// Releases, at the target, the lock that `timeline` holds in that turn.
  static void end_turn(State& replay, int timeline, const Action& action, uint32_t number,
                       const Dated<K>& released) {
    LockTurn<K>& turn = replay.windows.turn(*replay.locks, action, number);
    const double latest = turn.released.time[0];
    const bool ties = released.time[0] == latest && timeline < turn.releaser;  // as Arrivals::add()
    if (ties) turn.released.origin = released.origin;
    if (ties || released.time[0] > latest) turn.releaser = timeline;
    turn.released.raise(released);
    const auto holder = std::find(turn.holders.begin(), turn.holders.end(), timeline);
    if (holder != turn.holders.end()) turn.holders.erase(holder);
    if (!turn.holders.empty()) return;
    replay.wake_all(turn.waiting);
    replay.windows.forget_turn(*replay.locks, action, number);
  }

  // --- A call that waits for the holders before it ---

  static bool is_ready(State& replay, const TimelineState<K>& state, const Awaited& awaited) {
    if (awaited.instance == 0) return true;
    LockTurn<K>& turn = turn_before(replay, awaited);
    if (turn.holders.empty()) return true;
    turn.waiting.push_back(state.number);
    return false;
  }

  RUBATO_RARE static void add_cause(State& replay, const TimelineState<K>& state, const Call&,
                                    const Awaited& awaited,
                                    typename WaitStates<K>::Causes& causes) {
    if (awaited.instance == 0) return;
    const Action& action = *awaited.action;
    const LockTurn<K>& turn =
        replay.windows.turn(action, static_cast<uint32_t>(awaited.instance - 1));
    if (!std::isfinite(turn.recorded_release)) return;  // never released; it blocks no timeline
    Lanes<K> cause = turn.released.time;
    // Measured at the target, where the request arrives later by that much.
    if constexpr (!Rules::kFollowsRecording)
      cause -=
          replay.rules->reaches(state.rank, action.one_sided.target, state.enter) - state.enter;
    causes.add(WaitKind::kOneSided, cause, WaitPattern::kLock, turn.releaser, action.comm);
  }

  static void complete(State& replay, const TimelineState<K>&, const Call&,
                       const Awaited& awaited) {
    if (awaited.instance > 0)
      replay.windows.pass(*replay.locks, *awaited.action,
                          static_cast<uint32_t>(awaited.instance - 1));
  }

  static int partner(State& replay, const TimelineState<K>&, const Awaited& awaited) {
    return replay.trace->rank_of(turn_before(replay, awaited).holders.front());
  }

  static void release(State& replay, TimelineState<K>&, const Awaited& awaited) {
    LockTurn<K>& turn = turn_before(replay, awaited);
    turn.holders.clear();
    replay.wake_all(turn.waiting);
  }

  static std::string describe(State& replay, const Awaited& awaited, int other) {
    return " waits for a lock that rank " + std::to_string(other) + " holds on window '" +
           replay.trace->comms[awaited.action->comm].name + "'";
  }

 private:
  static LockTurn<K>& turn_before(State& replay, const Awaited& awaited) {
    return replay.windows.turn(*replay.locks, *awaited.action,
                               static_cast<uint32_t>(awaited.instance - 1));
  }
};

}  // namespace rubato
