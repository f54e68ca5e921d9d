#pragma once

// The dependency on the members of a collective, blocking or nonblocking. collective_instances.h
// explains which calls form one collective, causes.h which members a member waits for.

#include <string>

#include "models/base/error.h"
#include "replay/engine/dependency.h"
#include "replay/engine/exchange.h"
#include "replay/engine/operations.h"
#include "replay/engine/requests.h"
#include "replay/matching/causes.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Collectives : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  // --- Members enter ---

  /// A blocking collective.
  [[gnu::noinline]] static void enter(State& replay, TimelineState<K>& state, const Call& call,
                                      const Action& action) {
    ++replay.outcome.collectives;
    const Communicator& comm = replay.trace->comms[action.comm];
    Awaited awaited;
    awaited.kind = Awaited::Kind::kCollective;
    awaited.action = &action;
    if (comm.size() > 1) {
      awaited.local = comm.local_rank(state.rank);
      awaited.waits_for = synchronisation_of(replay, action, awaited.local);
      const auto [number, instance] = arrive(replay, state, call, action, awaited.local);
      awaited.instance = number;
      if (action.flags & kNoPart) return depart(replay, action.comm, number, instance);
      if constexpr (kKnowsLostThere<Rules>) {
        if (call.spinning & kLoses && replay.rules->drops_losses()) [[unlikely]] {
          Exchange<Rules>::refuse_losses_on(replay, action.comm);
          const Lost lost = lost_in(state.block.actions_of(call));
          instance.losses.push_back({awaited.local, call.enter, call.leave, lost});
        }
      }
    }
    state.awaited.push_back(awaited);
  }

  /// A nonblocking one.
  [[gnu::noinline]] static void start(State& replay, TimelineState<K>& state, const Call& call,
                                      const Action& action) {
    ++replay.outcome.collectives;
    const Communicator& comm = replay.trace->comms[action.comm];
    if (comm.size() <= 1)
      return Requests<Rules>::put(replay, state, action.start.slot, kNoTransfer);
    StartedCollective<K> started;
    started.local = comm.local_rank(state.rank);
    const auto [number, instance] = arrive(replay, state, call, action, started.local);
    started.instance = number;
    started.enter = state.enter;
    if (action.flags & kNoPart) {
      depart(replay, action.comm, number, instance);
      return Requests<Rules>::put(replay, state, action.start.slot, kNoTransfer);
    }
    auto id = static_cast<TransferId>(replay.started.size());
    if (replay.free_started.empty()) {
      replay.started.push_back(started);
    } else {
      id = replay.free_started.back();
      replay.free_started.pop_back();
      replay.started[id] = started;
    }
    Requests<Rules>::put(replay, state, action.start.slot, id);
  }

  /// A member waits for the collective that it started.
  [[gnu::noinline]] static void await(State& replay, TimelineState<K>& state,
                                      const Action& action) {
    Awaited awaited;
    awaited.kind = Awaited::Kind::kCollective;
    awaited.action = &action;
    if (state.threads) {
      awaited.posted = false;
      awaited.slot = action.collective.slot;
    } else {
      awaited.transfer = Requests<Rules>::take(state, action.collective.slot);
      if (awaited.transfer == kNoTransfer) return;  // a collective of one member
      find_instance(replay, awaited);
    }
    state.awaited.push_back(awaited);
  }

  /// Copies the instance of a started collective to `awaited`.
  static void find_instance(State& replay, Awaited& awaited) {
    if (awaited.transfer == kNoTransfer) return;
    awaited.local = replay.started[awaited.transfer].local;
    awaited.instance = replay.started[awaited.transfer].instance;
    awaited.waits_for = synchronisation_of(replay, *awaited.action, awaited.local);
  }

  /// Member `local` has entered a collective whose messages may be played; members that are done
  /// are woken.
  static void play(State& replay, CollectiveInstance<K>& instance, const Action& action, int local,
                   int timeline, const Lanes<K>& enter, const PortTimes<K>& ports) {
    if constexpr (!Rules::kFollowsRecording) {
      replay.rules->enter_collective(instance, action, local, timeline, enter, ports,
                                     replay.collectives.local_members(action.comm), *replay.trace);
      if constexpr (kTimeOrdered<Rules>) OrderedMessages<Rules>::start_flows(replay, instance.play);
      replay.rules->plays().wake([&](int waiting) { replay.wake(waiting); });
    }
  }

  // --- A member that waits ---

  static bool is_ready(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    const uint32_t number = awaited.action->comm;
    const Communicator& comm = replay.trace->comms[number];
    if (comm.size() <= 1) return true;
    CollectiveInstance<K>& instance = replay.collectives.get(number, awaited.instance);
    if (replay.collectives.ready(instance, comm, awaited.local, awaited.waits_for)) {
      if (!instance.abandoned &&
          !messages_are_there(replay, state.number, instance, awaited.local)) {
        instance.waiting.push_back(state.number);  // to be woken if the instance is abandoned
        return false;
      }
      if constexpr (kTimeOrdered<Rules>)
        return OperationFlows<Rules>::has_landed(state.number, instance, awaited.local);
      return true;
    }
    instance.waiting.push_back(state.number);
    return false;
  }

  RUBATO_RARE static void add_cause(State& replay, const TimelineState<K>&, const Call& call,
                                    const Awaited& awaited,
                                    typename WaitStates<K>::Causes& causes) {
    const Communicator& comm = replay.trace->comms[awaited.action->comm];
    if (comm.size() <= 1) return;
    const auto& instance = replay.collectives.get(awaited.action->comm, awaited.instance);
    if (instance.abandoned || (Rules::kFollowsRecording && instance.held_nobody())) return;
    double recorded = 0;
    Lanes<K> cause;
    if (!collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause))
      return;
    const bool left_before = awaited.action->flags & kTakesNothing && call.leave < recorded;
    if (Rules::kFollowsRecording && left_before) return;
    causes.add(WaitKind::kCollective, cause, pattern_of(instance, awaited.waits_for),
               latest_member(instance, awaited.waits_for, awaited.local, comm),
               awaited.action->comm);
  }

  static void raise_origin(State& replay, const TimelineState<K>& state, const Call& call,
                           const Awaited& awaited, const Waited&, Dated<K>& latest) {
    const Communicator& comm = replay.trace->comms[awaited.action->comm];
    if (comm.size() <= 1) return;
    const auto& instance = replay.collectives.get(awaited.action->comm, awaited.instance);
    if (instance.abandoned) return;
    const auto completed = [&] {
      return replay.rules->completion(state, call, awaited, replay.context);
    };
    if (const auto by = replay.rules->play_origin(awaited, replay.context))
      return latest.raise({completed(), *by});
    double recorded = 0;
    Lanes<K> cause;
    if (!collective_cause(instance, awaited.waits_for, awaited.local, comm, recorded, cause) ||
        !replay.rules->follows_from_others(state, awaited, replay.context))
      return;
    latest.raise(
        {completed(), {latest_member(instance, awaited.waits_for, awaited.local, comm), cause[0]}});
  }

  RUBATO_RARE static void complete(State& replay, const TimelineState<K>& state, const Call& call,
                                   const Awaited& awaited) {
    const uint32_t number = awaited.action->comm;
    const Communicator& comm = replay.trace->comms[number];
    if (comm.size() <= 1) return;
    CollectiveInstance<K>& instance = replay.collectives.get(number, awaited.instance);
    double cause = 0;
    Lanes<K> unused;
    if (instance.abandoned) {
      ++replay.outcome.abandoned_collectives;
    } else if (collective_cause(instance, *awaited.action, awaited.local, comm, call.leave, cause,
                                unused) &&
               call.leave < cause) {
      replay.count_violation(state.number, call, awaited.kind);
    }
    depart(replay, number, awaited.instance, instance);
    if (awaited.transfer != kNoTransfer) replay.free_started.push_back(awaited.transfer);
  }

  /// A member that has not entered; preferably one whose streams have ended.
  static int partner(State& replay, const TimelineState<K>&, const Awaited& awaited) {
    const Communicator& comm = replay.trace->comms[awaited.action->comm];
    const CollectiveInstance<K>& instance =
        replay.collectives.get(awaited.action->comm, awaited.instance);
    if constexpr (!Rules::kFollowsRecording) {
      if (instance.play >= 0 &&
          replay.collectives.ready(instance, comm, awaited.local, awaited.waits_for)) {
        const int local = replay.rules->plays().missing(instance.play, awaited.local);
        return local < 0 ? -1 : comm.members[local];
      }
    }
    int first = 0;
    int last = comm.size();
    if (awaited.waits_for == Synchronisation::kOneToAll ||
        instance.waits_for_root_alone(awaited.local, comm)) {
      first = instance.root;
      last = first + 1;
    } else if (awaited.waits_for == Synchronisation::kPrefix) {
      last = awaited.local;
    } else if (instance.op != CollectiveOp::kCreateHandle && comm.first_group > 0) {
      // Only the other group.
      if (awaited.local < comm.first_group) {
        first = comm.first_group;
      } else {
        last = comm.first_group;
      }
    }
    int missing = -1;
    for (int local = first; local < last; ++local) {
      if (instance.here[local]) continue;
      if (replay.running[comm.members[local]] == 0) return comm.members[local];
      if (missing < 0) missing = comm.members[local];
    }
    return missing;
  }

  /// (On a machine, members may wait for others where the operation does not require it.)
  static bool may_lack_records(State& replay, const Awaited& awaited) {
    if (Rules::kFollowsRecording) return true;
    const uint32_t comm = awaited.action->comm;
    return awaited.waits_for == synchronisation(awaited.action->op) &&
           !replay.collectives.ready(replay.collectives.get(comm, awaited.instance),
                                     replay.trace->comms[comm], awaited.local, awaited.waits_for);
  }

  static void release(State& replay, TimelineState<K>&, const Awaited& awaited) {
    CollectiveInstance<K>& instance =
        replay.collectives.get(awaited.action->comm, awaited.instance);
    instance.abandoned = true;
    replay.wake_all(instance.waiting);
  }

  static std::string describe(State& replay, const Awaited& awaited, int other) {
    const Communicator& comm = replay.trace->comms[awaited.action->comm];
    return " waits for rank " + std::to_string(other) + " on " +
           (comm.window ? "window" : "communicator") + " '" + comm.name + "'";
  }

 private:
  /// Which members member `local` waits for in a collective.
  static Synchronisation synchronisation_of(State& replay, const Action& action, int local) {
    if constexpr (Rules::kFollowsRecording) {
      return synchronisation(action.op);
    } else {
      return replay.rules->synchronisation(action, local, *replay.trace);
    }
  }

  /// Enters a collective of several members.
  static typename CollectiveInstances<K>::Arrived arrive(State& replay, TimelineState<K>& state,
                                                         const Call& call, const Action& action,
                                                         int local) {
    const auto arrived =
        replay.collectives.arrive(action, local, state.rank, state.number, call, state.enter);
    CollectiveInstance<K>& instance = arrived.instance;
    if (replay.collectives.take_mismatch()) {
      throw InputError(replay.trace->path + ": " + replay.place(state.number, call) +
                       ": a collective on communicator '" + replay.trace->comms[action.comm].name +
                       "' differs in operation or root from the one of rank " +
                       std::to_string(instance.first_rank) + "; records are missing or damaged");
    }
    if (instance.window) Operations<Rules>::end_streams(replay, action.comm, state.rank, instance);
    Exchange<Rules>::entered(replay, state, call, action, local, arrived);
    if (replay.collectives.may_release(instance, replay.trace->comms[action.comm], local))
      replay.wake_all(instance.waiting);
    play(replay, instance, action, local, state.number, state.enter, state.ports());
    return arrived;
  }

  /// False while messages of a collective that `timeline` waits for are outstanding; it is woken
  /// when they arrive.
  static bool messages_are_there(State& replay, int timeline, const CollectiveInstance<K>& instance,
                                 int local) {
    if constexpr (!Rules::kFollowsRecording) {
      if (instance.play < 0 || replay.rules->plays().is_done(instance.play, local)) return true;
      replay.rules->plays().wait(instance.play, local, timeline);
      return false;
    }
    return true;
  }

  /// A local member leaves a collective for good.
  static void depart(State& replay, uint32_t comm, uint64_t number,
                     CollectiveInstance<K>& instance) {
    if constexpr (!Rules::kFollowsRecording) {
      if (instance.play >= 0 && replay.rules->plays().left(instance.play))
        instance.play = replay.rules->plays().kOver;
    }
    replay.collectives.depart(comm, number, instance);
  }

  static WaitPattern pattern_of(const CollectiveInstance<K>& instance, Synchronisation how) {
    if (instance.window) return WaitPattern::kFence;
    if (instance.op == CollectiveOp::kBarrier) return WaitPattern::kBarrier;
    switch (how) {
      case Synchronisation::kAllToAll:
        return WaitPattern::kAllToAll;
      case Synchronisation::kAllToOne:
        return WaitPattern::kEarlyReduce;
      case Synchronisation::kOneToAll:
        return WaitPattern::kLateBroadcast;
      case Synchronisation::kPrefix:
        return WaitPattern::kEarlyScan;
    }
    return WaitPattern::kAllToAll;
  }
};

}  // namespace rubato
