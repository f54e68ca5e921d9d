#pragma once

// The part of the engine that tells what calls wait for; engine.h includes it. What counts as a
// wait is told in wait_states.h.

#include <cmath>

#include "replay/engine/replay.h"
#include "replay/rules/recorded_minima.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
RUBATO_RARE void Replay<Rules>::note_wait(const TimelineState<K>& state, const Call& call,
                                          const Lanes<K>& leave) {
  if (call.role != CallRole::kMpi) return waits_->other_call(state.number, call.role);
  if (state.awaited.empty()) return;
  typename WaitStates<K>::Causes causes;
  for (const Awaited& awaited : state.awaited) add_cause(state, call, awaited, causes);
  waits_->call(state.number, state.enter, leave, causes);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::add_cause(const TimelineState<K>& state, const Call& call,
                                         const Awaited& awaited,
                                         typename WaitStates<K>::Causes& causes) {
  switch (awaited.kind) {
    case Awaited::Kind::kSend:
    case Awaited::Kind::kReceive: {
      if (awaited.transfer == kNoTransfer) return;
      const Transfer<K>& transfer = matcher_[awaited.transfer];
      if (transfer.abandoned) return;
      if (awaited.kind == Awaited::Kind::kReceive) {
        causes.add(WaitKind::kLateSender, waits_->send_of(awaited.transfer));
      } else if (transfer.sender_waits) {
        causes.add(WaitKind::kLateReceiver, transfer.posted);
      }
      return;
    }
    case Awaited::Kind::kCollective:
      return add_collective_cause(call, awaited, causes);
    case Awaited::Kind::kEpoch:
      return add_epoch_cause(state, call, awaited, causes);
    case Awaited::Kind::kLock:
      return add_lock_cause(state, awaited, causes);
    case Awaited::Kind::kOneSided:  // its own data
    case Awaited::Kind::kMainThread:
    case Awaited::Kind::kThread:
      return;
  }
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_collective_cause(const Call& call, const Awaited& awaited,
                                                     typename WaitStates<K>::Causes& causes) {
  const Communicator& comm = trace_->comms[awaited.action->comm];
  if (comm.size() <= 1) return;
  const auto& instance = collectives_.get(awaited.action->comm, awaited.instance);
  if (instance.abandoned || (Rules::kFollowsRecording && instance.held_nobody())) return;
  double recorded = 0;
  Lanes<K> cause;
  if (!collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause)) return;
  const bool left_before = awaited.action->flags & kTakesNothing && call.leave < recorded;
  if (!(Rules::kFollowsRecording && left_before)) causes.add(WaitKind::kCollective, cause);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_epoch_cause(const TimelineState<K>& state, const Call& call,
                                                const Awaited& awaited,
                                                typename WaitStates<K>::Causes& causes) {
  const Epoch<K>& epoch = windows_.epoch(*awaited.action, state.rank, awaited.instance);
  double recorded = 0;
  Lanes<K> cause;
  // A model waits for posts that came too late to have been waited for when recorded.
  const double leave =
      Rules::kFollowsRecording ? call.leave : std::numeric_limits<double>::infinity();
  if (epoch_cause(epoch, *awaited.action, leave, recorded, cause))
    causes.add(WaitKind::kOneSided, cause);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::add_lock_cause(const TimelineState<K>& state,
                                               const Awaited& awaited,
                                               typename WaitStates<K>::Causes& causes) {
  if (awaited.instance == 0) return;
  const Action& action = *awaited.action;
  const LockTurn<K>& turn = windows_.turn(action, static_cast<uint32_t>(awaited.instance - 1));
  if (!std::isfinite(turn.recorded_release)) return;  // it will never be over, and holds up nobody
  Lanes<K> cause = turn.released;
  // At the target, where the request comes as much later.
  if constexpr (!Rules::kFollowsRecording)
    cause -= rules_->reaches(state.rank, action.one_sided.target, state.enter) - state.enter;
  causes.add(WaitKind::kOneSided, cause);
}

}  // namespace rubato
