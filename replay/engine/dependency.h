#pragma once

// A dependency is what a call can wait for: the other side of a message, the members of a
// collective, an epoch or lock of a window, a step of another thread. Each kind is a class of
// static functions in a file of its own: it performs the actions that others may wait for, or that
// wait themselves, and answers the same questions about an entry of TimelineState::awaited.
// dependencies.h selects the class of an entry. When a call may leave, given what it waited for, is
// a question to the rules.

#include <cassert>
#include <string>

#include "replay/engine/replay_state.h"
#include "replay/matching/timeline_state.h"
#include "replay/observe/wait_states.h"
#include "replay/rules/model_rules.h"

namespace rubato {

// The kinds, and what they use.
template <class Rules>
struct Messages;  // messages.h
template <class Rules>
struct Collectives;  // collectives.h
template <class Rules>
struct Operations;  // operations.h
template <class Rules>
struct Epochs;  // epochs.h
template <class Rules>
struct Locks;  // locks.h
template <class Rules>
struct ThreadSteps;  // threads.h
template <class Rules>
struct ThreadBegins;  // threads.h
template <class Rules>
struct Probes;  // probes.h
template <class Rules>
struct Requests;  // requests.h
template <class Rules>
struct Handshakes;  // handshakes.h
template <class Rules>
struct Exchange;  // exchange.h
template <class Rules>
struct OrderedMessages;  // time_ordered.h
template <class Rules>
struct OperationFlows;  // one_sided_flows.h

/// The questions, with the answers of a kind that has no answer of its own. `state`: of the waiting
/// timeline, in its current call.
template <class Rules>
struct Dependency {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;
  using Causes = typename WaitStates<K>::Causes;

  /// Has it happened? If not, the event wakes the timeline.
  static bool is_ready(State& replay, TimelineState<K>& state, Awaited& awaited);

  /// What caused the wait: adds the timeline and the time of the event to `causes`.
  static void add_cause(State&, const TimelineState<K>&, const Call&, const Awaited&, Causes&) {}

  /// In the order of time: raises `latest` to the event that determines when the call may leave.
  /// `waited`: what add_cause() found for the whole call.
  static void raise_origin(State&, const TimelineState<K>&, const Call&, const Awaited&,
                           const Waited& waited, Dated<K>& latest) {
    if (waited.wait > 0)
      latest.raise({Lanes<K>::Constant(waited.cause), {waited.timeline, waited.cause}});
  }

  /// The call leaves: drops what was kept for it.
  static void complete(State&, const TimelineState<K>&, const Call&, const Awaited&) {}

  // --- All timelines are blocked ---

  /// The rank that the timeline waits for; -1: none.
  static int partner(State& replay, const TimelineState<K>& state, const Awaited& awaited);

  /// False where no missing record can be the reason: the recorded run need not have waited here,
  /// or waited for another thread of the rank, which is blocked itself.
  static bool may_lack_records(State&, const Awaited&) { return true; }

  /// Stops waiting: the call keeps its recorded time.
  static void release(State&, TimelineState<K>&, const Awaited&) { assert(!"is never released"); }

  /// What it waits for, as in " waits for rank 3 on communicator 'world'". `other`: the partner.
  static std::string describe(State& replay, const Awaited& awaited, int other);
};

}  // namespace rubato
