#pragma once

// The part of the engine for calls that take the receives that complete first (taken_runs.h);
// engine/time_ordered.h includes it. Such a call considers all remaining receives of its run, and
// waits until enough of them are complete. The receives that it takes are swapped with the recorded
// ones, so that later calls find their requests in the recorded slots.

#include <algorithm>
#include <limits>
#include <utility>

#include "replay/engine/replay.h"

namespace rubato {

template <class Rules>
bool Replay<Rules>::begins_to_choose(TimelineState<K>& state,
                                     const Call& call) requires kTimeOrdered<Rules> {
  if (!matches_by_arrival() || call.role != CallRole::kMpi || !trace_->calls[call.name].takes_some)
    return false;
  const std::span<const Action> actions = state.block.actions_of(call);
  const auto receives =
      static_cast<size_t>(std::count_if(actions.begin(), actions.end(), [](const Action& action) {
        return action.kind == ActionKind::kWaitReceive;
      }));
  if (receives == 0) return false;
  Chooser& chooser = choosers_[state.number];
  const std::vector<TakenRun>* const runs = runs_ ? &runs_->of(state.number) : nullptr;
  while (runs && chooser.run < runs->size() && (*runs)[chooser.run].last < call.event)
    chooser = {.run = chooser.run + 1};
  if (!runs || chooser.run == runs->size() || call.event < (*runs)[chooser.run].first) {
    ++outcome_.took_recorded;
    return false;
  }
  if (state.has_moved) {  // the call also completes moved sends: as recorded
    ++outcome_.took_recorded;
    chooser.taken += receives;
    return false;
  }
  ++outcome_.took_first;
  chooser.wants = receives;
  for (const Action& action : actions) {
    if (action.kind != ActionKind::kWaitReceive) perform(state, call, action);
  }
  return true;
}

template <class Rules>
bool Replay<Rules>::has_chosen(TimelineState<K>& state) requires kTimeOrdered<Rules> {
  Chooser& chooser = choosers_[state.number];
  if (chooser.wants == 0) return true;
  if (chooser.blocked) state.awaited.remove(state.awaited.size() - 1);
  state.next_awaited = 0;
  const std::vector<uint32_t>& slots = runs_->of(state.number)[chooser.run].slots;
  state.slots.resize(
      std::max(state.slots.size(), *std::max_element(slots.begin(), slots.end()) + size_t{1}),
      kNoTransfer);
  // Completion time of each receive; a slot without a message is complete.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  for (size_t i = chooser.taken; i < slots.size(); ++i) {
    const TransferId id = state.slots[slots[i]];
    double time = -kNever;
    if (id != kNoTransfer) {
      const bool is_there = message_is_there(state.number, Awaited::Kind::kReceive, id);
      time = !is_there ? kNever : matcher_[id].abandoned ? -kNever : matcher_[id].arrival()[0];
    }
    times.push_back(time);
  }
  const auto there = std::count_if(times.begin(), times.end(), [](double t) { return t < kNever; });
  chooser.blocked = static_cast<size_t>(there) < chooser.wants;
  if (chooser.blocked) {
    // One missing receive, for functions that examine what a blocked timeline waits for.
    const auto missing = std::find(times.begin(), times.end(), kNever) - times.begin();
    state.awaited.push_message(Awaited::Kind::kReceive,
                               state.slots[slots[chooser.taken + static_cast<size_t>(missing)]]);
    state.next_awaited = state.awaited.size() - 1;
    return false;
  }
  for (size_t i = 0; i < chooser.wants; ++i) {
    const auto first =
        std::min_element(times.begin() + static_cast<std::ptrdiff_t>(i), times.end());
    const auto at = static_cast<size_t>(first - times.begin());
    std::swap(times[i], times[at]);
    std::swap(state.slots[slots[chooser.taken + i]], state.slots[slots[chooser.taken + at]]);
  }
  chooser.taken += chooser.wants;
  chooser.wants = 0;
  const Call& call = current_call(state.number);
  for (const Action& action : state.block.actions_of(call)) {
    if (action.kind == ActionKind::kWaitReceive) perform(state, call, action);
  }
  return true;
}

}  // namespace rubato
