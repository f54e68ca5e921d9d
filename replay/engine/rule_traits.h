#pragma once

// What sets of rules have in common, and what only some of them have. Rules compute durations
// (recorded_minima.h, measured_rules.h, model_rules.h); dependencies are the same under all rules.

#include "replay/engine/run_queue.h"
#include "replay/matching/timeline_state.h"

namespace rubato {

/// True for rules that need events in the order of time (time_order.h).
template <class Rules>
inline constexpr bool kTimeOrdered = requires {
  Rules::kTimeOrdered;
};

/// True for rules under which messages may need a process inside MPI (presence.h).
template <class Rules>
inline constexpr bool kMayNeedPresence = requires(const Rules& rules) {
  rules.needs_presence_from();
  requires !kTimeOrdered<Rules>;  // which track presence themselves
};

/// True for rules whose replays may be divided among processes. Whether a replay is divided is
/// known at run time: ReplayState::boundary.
template <class Rules>
inline constexpr bool kDividable = requires {
  requires Rules::kMayBeDivided;
};

/// True for rules that track origins.
template <class Rules>
inline constexpr bool kKnowsOrigins = requires {
  requires Rules::kTracksOrigins;
};

/// True for rules that need the time a call lost while others may have waited for it.
template <class Rules>
inline constexpr bool kKnowsLostThere = requires {
  &Rules::note_side;
};

/// True for rules that need the completion of sends that do not wait for their receivers.
template <class Rules>
inline constexpr bool kWatchesSends = requires {
  &Rules::watches;
};

/// True for rules under which a call that waits for nothing leaves as soon as its own work is done.
template <class Rules>
inline constexpr bool kLeavesAtOnce = requires(const Rules& rules,
                                               const TimelineState<Rules::kLanes>& state) {
  rules.leave_at_once(state);
  requires !kTimeOrdered<Rules>;
};

/// The queue that selects the next timeline: RunQueue, unless the rules define another. (A test has
/// one with a random order.)
template <class Rules>
struct QueueOf {
  using Type = RunQueue;
};
template <class Rules>
requires requires {
  typename Rules::Queue;
}
struct QueueOf<Rules> {
  using Type = typename Rules::Queue;
};

}  // namespace rubato
