#pragma once

// The part of the engine for threads that wait for each other outside of MPI; engine.h includes it.
// Two dependencies are known: a thread begins after its creation, and a join waits for the end of
// the thread. Both are a step of one timeline that a call of another timeline waits for.
//
//   a begin    leaves at W' + (begin - W), W being the creation
//   a join     leaves at max(enter', W') + (leave - max(enter, W)), W being the end of the thread:
//              the join keeps its own time, except lost cores that the scenario removes
//
// This holds on `measured` and on every model. Where records are out of order and a join ends
// before the thread does, the leave of the join is used as W.

#include <algorithm>

#include "replay/engine/replay.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
RUBATO_RARE void Replay<Rules>::thread_step(TimelineState<K>& state, const Call& call,
                                            const Action& action) {
  state.threads->steps[action.thread.step] = {state.enter, call.enter, state.number};
  const auto waiting = state.threads->waiting.find(action.thread.step);
  if (waiting == state.threads->waiting.end()) return;
  wake(waiting->second);
  state.threads->waiting.erase(waiting);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::await_thread(TimelineState<K>& state, const Action& action) {
  state.awaited.push_back(
      {.kind = Awaited::Kind::kThread, .slot = action.thread.step, .action = &action});
}

template <class Rules>
RUBATO_RARE bool Replay<Rules>::thread_step_is_there(TimelineState<K>& state,
                                                     const Awaited& awaited) {
  const auto step = state.threads->steps.find(awaited.slot);
  if (step == state.threads->steps.end()) {
    state.threads->waiting[awaited.slot] = state.number;
    return false;
  }
  const Call& call = current_call(state.number);
  if (call.role == CallRole::kBegin)
    state.enter = step->second.time + (call.enter - step->second.recorded);
  return true;
}

template <class Rules>
Lanes<Replay<Rules>::K> Replay<Rules>::step_reaches(const typename ThreadedRank<K>::Step& step,
                                                    const Awaited& awaited, const Call& call) {
  // For a begin, the begin itself.
  const double there =
      awaited.action->flags & kBegins ? call.leave : std::min(step.recorded, call.leave);
  return step.time + (there - step.recorded);
}

template <class Rules>
RUBATO_RARE const Lanes<Replay<Rules>::K>& Replay<Rules>::leave_thread(TimelineState<K>& state,
                                                                       const Call& call) {
  if (state.awaited.empty()) {
    const double recorded = call.leave - call.enter;
    state.busy = state.enter + compute(state.number, 0, recorded, false, 0);
    state.busy = (state.busy - dropped_losses(state, call)).max(state.enter);
    return state.busy;
  }
  double last = call.enter;
  state.busy = state.enter;
  for (const Awaited& awaited : state.awaited) {
    const auto& step = state.threads->steps.at(awaited.slot);
    state.busy = state.busy.max(step_reaches(step, awaited, call));
    last = std::max(
        last, awaited.action->flags & kBegins ? call.leave : std::min(step.recorded, call.leave));
  }
  // (A thread that waits for another loses no core.)
  state.busy += (call.leave - last - dropped_losses(state, call)).max(0.0);
  return state.busy;
}

template <class Rules>
RUBATO_RARE Lanes<Replay<Rules>::K> Replay<Rules>::dropped_losses(const TimelineState<K>& state,
                                                                  const Call& call) const {
  if constexpr (requires { rules_->dropped(Lost()); }) {
    if (call.spinning & kLoses) return rules_->dropped(lost_in(state.block.actions_of(call)));
  }
  return Lanes<K>::Zero();
}

}  // namespace rubato
