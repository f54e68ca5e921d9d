#pragma once

// Calls that take the receives that complete first (taken_runs.h), in the order of time. Such a
// call considers all remaining receives of its run, and waits until enough of them are complete.
// The receives that it takes are swapped with the recorded ones, so that later calls find their
// requests in the recorded slots.

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "replay/engine/dependencies.h"

namespace rubato {

template <class Rules>
struct FirstTaken {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// True for a call that takes the receives that complete first; it has still to choose them.
  static bool begins_to_choose(State& replay, TimelineState<K>& state, const Call& call) {
    if (!replay.matches_by_arrival() || call.role != CallRole::kMpi ||
        !replay.trace->calls[call.name].takes_some)
      return false;
    const std::span<const Action> actions = state.block.actions_of(call);
    const auto receives =
        static_cast<size_t>(std::count_if(actions.begin(), actions.end(), [](const Action& action) {
          return action.kind == ActionKind::kWaitReceive;
        }));
    if (receives == 0) return false;
    if (!replay.runs) {
      ++replay.outcome.took_recorded;
      return false;
    }
    const std::vector<TakenRun>& runs = replay.runs->of(state.number);
    typename State::Chooser& chooser = replay.choosers[state.number];
    while (chooser.run < runs.size() && runs[chooser.run].last < call.event)
      chooser = {.run = chooser.run + 1};
    if (chooser.run == runs.size() || call.event < runs[chooser.run].first) {
      ++replay.outcome.took_recorded;
      return false;
    }
    if (state.has_moved) {  // the call also completes moved sends: as recorded
      ++replay.outcome.took_recorded;
      chooser.taken += receives;
      return false;
    }
    ++replay.outcome.took_first;
    chooser.wants = receives;
    for (const Action& action : actions) {
      if (action.kind != ActionKind::kWaitReceive) perform(replay, state, call, action);
    }
    return true;
  }

  /// False while the current call has to choose and too few receives are complete.
  static bool has_chosen(State& replay, TimelineState<K>& state) {
    typename State::Chooser& chooser = replay.choosers[state.number];
    if (chooser.wants == 0) return true;
    if (chooser.blocked) state.awaited.remove(state.awaited.size() - 1);
    state.next_awaited = 0;
    const std::vector<uint32_t>& slots = replay.runs->of(state.number)[chooser.run].slots;
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
        const bool is_there =
            Messages<Rules>::is_ready(replay, state.number, Awaited::Kind::kReceive, id);
        time = !is_there                      ? kNever
               : replay.matcher[id].abandoned ? -kNever
                                              : replay.matcher[id].arrival()[0];
      }
      times.push_back(time);
    }
    const auto there =
        std::count_if(times.begin(), times.end(), [](double t) { return t < kNever; });
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
    const Call& call = replay.current_call(state.number);
    for (const Action& action : state.block.actions_of(call)) {
      if (action.kind == ActionKind::kWaitReceive) perform(replay, state, call, action);
    }
    return true;
  }
};

}  // namespace rubato
