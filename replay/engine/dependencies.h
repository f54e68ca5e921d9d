#pragma once

// Which class answers for an action of a call, and for what the call waits for. The only place that
// names all kinds of dependencies.

#include "replay/engine/collectives.h"
#include "replay/engine/epochs.h"
#include "replay/engine/locks.h"
#include "replay/engine/messages.h"
#include "replay/engine/operations.h"
#include "replay/engine/probes.h"
#include "replay/engine/requests.h"
#include "replay/engine/threads.h"
#include "replay/store/hot.h"

namespace rubato {

/// Calls `ask` with an object of the class that answers for `awaited` (Dependency).
template <class Rules, class Ask>
[[gnu::always_inline]] inline decltype(auto) with_kind(const Awaited& awaited, Ask ask) {
  if (!awaited.posted) return ask(SharedRequests<Rules>());
  switch (awaited.kind) {
    case Awaited::Kind::kSend:
    case Awaited::Kind::kReceive:
      break;
    case Awaited::Kind::kCollective:
      return ask(Collectives<Rules>());
    case Awaited::Kind::kOneSided:
      return ask(Operations<Rules>());
    case Awaited::Kind::kEpoch:
      return ask(Epochs<Rules>());
    case Awaited::Kind::kLock:
      return ask(Locks<Rules>());
    case Awaited::Kind::kMainThread:
      return ask(ThreadBegins<Rules>());
    case Awaited::Kind::kThread:
      return ask(ThreadSteps<Rules>());
    case Awaited::Kind::kProbe:
      return ask(Probes<Rules>());
  }
  return ask(Messages<Rules>());
}

/// Performs an action of the current call of `state`, which may have to wait for others.
template <class Rules>
RUBATO_HOT void perform(ReplayState<Rules>& replay, TimelineState<Rules::kLanes>& state,
                        const Call& call, const Action& action) {
  switch (action.kind) {
    case ActionKind::kNone:
    case ActionKind::kFetch:   // belongs to the action before it
    case ActionKind::kParts:   // likewise
    case ActionKind::kTested:  // see outcomes.h
    case ActionKind::kLost:    // handled by the rules
      return;
    case ActionKind::kSend:
      return Messages<Rules>::send(replay, state, call, action);
    case ActionKind::kPost:
      return Messages<Rules>::post(replay, state, call, action);
    case ActionKind::kWaitSend:
      return Requests<Rules>::await(replay, state, call, Awaited::Kind::kSend, action.request.slot);
    case ActionKind::kWaitReceive:
      return Requests<Rules>::await(replay, state, call, Awaited::Kind::kReceive,
                                    action.request.slot);
    case ActionKind::kProbe:
      return Probes<Rules>::await(replay, state, action);
    case ActionKind::kCollective:
      return Collectives<Rules>::enter(replay, state, call, action);
    case ActionKind::kStartCollective:
      return Collectives<Rules>::start(replay, state, call, action);
    case ActionKind::kWaitCollective:
      return Collectives<Rules>::await(replay, state, action);
    case ActionKind::kOneSided:
      return Operations<Rules>::begin(replay, state, action);
    case ActionKind::kEpoch:
      return Epochs<Rules>::enter(replay, state, call, action);
    case ActionKind::kOneSidedDone:
      return Operations<Rules>::await(state, action);
    case ActionKind::kLock:
      return Locks<Rules>::lock(replay, state, action);
    case ActionKind::kUnlock:
      return Locks<Rules>::unlock(replay, state, call, action);
    case ActionKind::kThreadStep:
      return ThreadSteps<Rules>::reach(replay, state, call, action);
    case ActionKind::kAwaitThread:
      return ThreadSteps<Rules>::await(state, action);
  }
}

/// True when an entry other than a plain message has happened; else it will wake the timeline.
template <class Rules>
RUBATO_RARE bool other_is_ready(ReplayState<Rules>& replay, TimelineState<Rules::kLanes>& state,
                                Awaited& awaited) {
  if (!awaited.posted && !SharedRequests<Rules>::is_ready(replay, state, awaited)) return false;
  return with_kind<Rules>(awaited,
                          [&](auto kind) { return kind.is_ready(replay, state, awaited); });
}

/// The call leaves, which waited for an entry other than a plain message.
template <class Rules>
RUBATO_RARE void complete_other(ReplayState<Rules>& replay,
                                const TimelineState<Rules::kLanes>& state, const Call& call,
                                const Awaited& awaited) {
  with_kind<Rules>(awaited, [&](auto kind) { kind.complete(replay, state, call, awaited); });
}

}  // namespace rubato
