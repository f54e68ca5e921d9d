#pragma once

// One-sided operations: the dependency of their completion on a target that has not posted.
// windows.h explains which call waits for which.

#include <string>

#include "replay/engine/dependency.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Operations : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  static void begin(State& replay, TimelineState<K>& state, const Action& action) {
    const PairClass pair = replay.pair_of(state.rank, action.one_sided.target);
    const Action* result = action.flags & kFetches ? &action + 1 : nullptr;
    replay.count_traffic(pair, action.one_sided.bytes + (result ? result->one_sided.bytes : 0));
    if constexpr (!Rules::kFollowsRecording) {
      OneSided<K>& operation = replay.windows.operation(state.rank, action.one_sided.slot);
      operation.target = action.one_sided.target;
      operation.pair = pair;
      replay.windows.begin(action.comm, state.rank, action.one_sided.target, action.one_sided.slot);
      if constexpr (kTimeOrdered<Rules>) {
        OperationFlows<Rules>::begin(replay, state, action, result, operation);
      } else {
        replay.rules->begin_one_sided(
            state, action, result, operation,
            replay.windows.stream(action.comm, state.rank, action.one_sided.target));
      }
    }
  }

  /// The call ends a part of an operation, at the time given by the model.
  static void await(TimelineState<K>& state, const Action& action) {
    if constexpr (!Rules::kFollowsRecording) {
      Awaited awaited;
      awaited.kind = Awaited::Kind::kOneSided;
      awaited.action = &action;
      state.awaited.push_back(awaited);
    }
  }

  /// Assigns to the fence `instance` the operations of `rank` since the previous fence.
  static void end_streams(State& replay, uint32_t window, int rank,
                          CollectiveInstance<K>& instance) {
    const Communicator& comm = replay.trace->comms[window];
    end_accesses(replay, window, rank);
    if constexpr (kTimeOrdered<Rules>)
      OperationFlows<Rules>::end_flows(replay, window, rank, instance);
    replay.windows.end_streams(window, rank, [&](int32_t target, const Stream<K>& stream) {
      if (instance.arrivals.empty()) instance.arrivals.resize(comm.size());
      instance.arrivals[comm.local_rank(target)].raise(stream.landed);
    });
  }

  /// `rank` locks, unlocks or fences a window: its operations wait for no post any more.
  static void end_accesses(State& replay, uint32_t window, int rank) {
    if constexpr (Rules::kFollowsRecording) return;
    replay.windows.end_accesses(window, rank, [&]([[maybe_unused]] Epoch<K>& epoch) {
      if constexpr (kTimeOrdered<Rules>) OperationFlows<Rules>::begin_unready(replay, epoch);
    });
  }

  // --- A call that completes operations ---

  static bool is_ready(State& replay, const TimelineState<K>& state, const Awaited& awaited) {
    if (!target_is_ready(replay, state, awaited)) return false;
    if constexpr (kTimeOrdered<Rules>)
      return OperationFlows<Rules>::is_done(replay, state.number, awaited);
    return true;
  }

  RUBATO_RARE static void add_cause(State& replay, const TimelineState<K>& state, const Call&,
                                    const Awaited& awaited,
                                    typename WaitStates<K>::Causes& causes) {
    const Action& action = *awaited.action;
    if (action.kind != ActionKind::kOneSidedDone) return;
    const OneSided<K>* operation = replay.windows.find(state.rank, action.one_sided.slot);
    if (!operation) return;
    auto& pair = replay.windows.pair(action.comm, state.rank, operation->target);
    const Epoch<K>* epoch = replay.windows.accessed(pair);
    // (The complete of an epoch adds this cause itself.)
    if (!epoch || pair.completes || epoch->abandoned || operation->abandoned) return;
    causes.add(WaitKind::kOneSided, epoch->posted, WaitPattern::kLatePost, epoch->poster,
               action.comm);
  }

  static void complete(State& replay, const TimelineState<K>& state, const Call&,
                       const Awaited& awaited) {
    const Action& action = *awaited.action;
    if (action.kind == ActionKind::kOneSidedDone && action.flags & kRemote)
      replay.windows.forget(action.comm, state.rank, action.one_sided.slot);
  }

  static int partner(State& replay, const TimelineState<K>& state, const Awaited& awaited) {
    return replay.windows.find(state.rank, awaited.action->one_sided.slot)->target;
  }

  static void release(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    replay.windows.find(state.rank, awaited.action->one_sided.slot)->abandoned = true;
    replay.wake(state.number);
  }

  static std::string describe(State& replay, const Awaited& awaited, int other) {
    return " waits for the post of rank " + std::to_string(other) + " on window '" +
           replay.trace->comms[awaited.action->comm].name + "'";
  }

 private:
  /// True unless `awaited` completes an operation whose target has not posted; the post then
  /// wakes the timeline.
  static bool target_is_ready(State& replay, const TimelineState<K>& state,
                              const Awaited& awaited) {
    const Action& action = *awaited.action;
    if (action.kind != ActionKind::kOneSidedDone) return true;
    const OneSided<K>* operation = replay.windows.find(state.rank, action.one_sided.slot);
    if (!operation || operation->abandoned) return true;
    typename Windows<K>::Pair& pair =
        replay.windows.pair(action.comm, state.rank, operation->target);
    Epoch<K>* const epoch = replay.windows.accessed(pair);
    // (A complete waits in Epochs::is_ready().)
    if (!epoch || pair.completes || epoch->abandoned || epoch->has_post) return true;
    epoch->waiting_origin.push_back(state.number);
    return false;
  }
};

}  // namespace rubato
