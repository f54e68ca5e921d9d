#pragma once

// Dependencies among the threads of a rank outside of MPI. Two are known: a thread begins after its
// creation, and a join waits for the end of the thread. Both are a step of one timeline that a call
// of another timeline waits for (ThreadSteps).
//
//   a begin    leaves at W' + (begin - W), W being the creation
//   a join     leaves at max(enter', W') + (leave - max(enter, W)), W being the end of the thread:
//              the join keeps its own time, except lost cores that the scenario removes
//
// This holds on `measured` and on every model. Where records are out of order and a join ends
// before the thread does, the leave of the join is used as W. A thread whose creation was not
// recorded begins with the main thread of its rank (ThreadBegins).

#include <algorithm>
#include <limits>
#include <vector>

#include "replay/engine/dependency.h"
#include "replay/engine/requests.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct ThreadSteps : OfOtherThread<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// The thread creates another one, or ends.
  RUBATO_RARE static void reach(State& replay, TimelineState<K>& state, const Call& call,
                                const Action& action) {
    state.threads->steps[action.thread.step] = {state.enter, call.enter, state.number};
    const auto waiting = state.threads->waiting.find(action.thread.step);
    if (waiting == state.threads->waiting.end()) return;
    replay.wake(waiting->second);
    state.threads->waiting.erase(waiting);
  }

  RUBATO_RARE static void await(TimelineState<K>& state, const Action& action) {
    state.awaited.push_back(
        {.kind = Awaited::Kind::kThread, .slot = action.thread.step, .action = &action});
  }

  /// False when the step has not been replayed; its thread then wakes `state`.
  RUBATO_RARE static bool is_ready(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    const auto step = state.threads->steps.find(awaited.slot);
    if (step == state.threads->steps.end()) {
      state.threads->waiting[awaited.slot] = state.number;
      return false;
    }
    const Call& call = replay.current_call(state.number);
    if (call.role == CallRole::kBegin)
      state.enter = step->second.time + (call.enter - step->second.recorded);
    return true;
  }

  /// When a call of role kThread leaves.
  RUBATO_RARE static const Lanes<K>& leave(State& replay, TimelineState<K>& state,
                                           const Call& call) {
    if (state.awaited.empty()) {
      const double recorded = call.leave - call.enter;
      state.busy = state.enter + replay.compute(state.number, 0, recorded, false, 0);
      state.busy = (state.busy - dropped_losses(replay, state, call)).max(state.enter);
      return state.busy;
    }
    double last = call.enter;
    state.busy = state.enter;
    for (const Awaited& awaited : state.awaited) {
      const auto& step = state.threads->steps.at(awaited.slot);
      state.busy = state.busy.max(reaches(step, awaited, call));
      last = std::max(
          last, awaited.action->flags & kBegins ? call.leave : std::min(step.recorded, call.leave));
    }
    // (A thread that waits for another loses no core.)
    state.busy += (call.leave - last - dropped_losses(replay, state, call)).max(0.0);
    return state.busy;
  }

  static void complete(State&, const TimelineState<K>& state, const Call&, const Awaited& awaited) {
    state.threads->steps.erase(awaited.slot);
  }

  /// For observers: the step of another thread that delayed a begin or a join.
  RUBATO_RARE static void report(State& replay, const TimelineState<K>& state, const Call& call,
                                 const Lanes<K>& leave) {
    Waited waited;
    waited.enter = state.enter[0];
    waited.leave = leave[0];
    double latest =
        call.role == CallRole::kBegin ? -std::numeric_limits<double>::infinity() : waited.enter;
    for (const Awaited& awaited : state.awaited) {
      if (awaited.kind != Awaited::Kind::kThread) continue;
      const auto& step = state.threads->steps.at(awaited.slot);
      const double there = reaches(step, awaited, call)[0];
      if (there <= latest) continue;
      latest = there;
      waited.bound_to = step.timeline;
      waited.bound_at = step.time[0];
    }
    if (waited.bound_to < 0) return;
    for (Observer<K>* observer : replay.observers) observer->waited(state.number, call, waited);
  }

 private:
  /// When `step` releases `call`, which waits for it.
  static Lanes<K> reaches(const typename ThreadedRank<K>::Step& step, const Awaited& awaited,
                          const Call& call) {
    // For a begin, the begin itself.
    const double there =
        awaited.action->flags & kBegins ? call.leave : std::min(step.recorded, call.leave);
    return step.time + (there - step.recorded);
  }

  /// Losses of the call that the scenario removes.
  RUBATO_RARE static Lanes<K> dropped_losses(State& replay, const TimelineState<K>& state,
                                             const Call& call) {
    if constexpr (requires { replay.rules->dropped(Lost()); }) {
      if (call.spinning & kLoses)
        return replay.rules->dropped(lost_in(state.block.actions_of(call)));
    }
    return Lanes<K>::Zero();
  }
};

template <class Rules>
struct ThreadBegins : OfOtherThread<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// A thread whose creation was not recorded waits for its main thread.
  static void await(TimelineState<K>& state) {
    state.threads->unborn.push_back(state.number);
    state.awaited.push_back({.kind = Awaited::Kind::kMainThread});
  }
  /// (begin() clears the entry.)
  static bool is_ready(State&, const TimelineState<K>&, const Awaited&) { return false; }

  /// True for a main thread whose rank has threads that have not begun.
  RUBATO_HOT static bool has_unborn(const TimelineState<K>& state) {
    return state.threads && state.number == state.rank && !state.threads->unborn.empty();
  }

  /// Begins the threads of the rank that began, when recorded, before `call` of the main thread
  /// left. They keep their recorded distance to the main thread.
  RUBATO_RARE static void begin(State& replay, int timeline, const Call& call) {
    const TimelineState<K>& main = replay.timelines[timeline];
    std::erase_if(main.threads->unborn, [&](int thread) {
      TimelineState<K>& born = replay.timelines[thread];
      const double begin = replay.current_call(thread).enter;
      if (begin >= call.leave && call.role != CallRole::kEnd) return false;
      if (call.role == CallRole::kBegin) {
        // Before the main thread: it begins at its recorded time.
      } else if (begin >= call.enter) {
        born.enter = main.enter + (begin - call.enter);
      } else {
        born.enter =
            main.clock + replay.compute(timeline, 0, begin - main.recorded_clock, false, 0);
      }
      born.awaited.clear();
      replay.wake(thread);
      return true;
    });
  }
};

}  // namespace rubato
