#pragma once

// What calls waited for. wait_states.h defines what counts as a wait; each kind of dependency gives
// the cause of its own (Dependency::add_cause).

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "replay/engine/dependencies.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Waits {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// `call` is about to leave.
  RUBATO_RARE static void note(State& replay, const TimelineState<K>& state, const Call& call,
                               const Lanes<K>& leave) {
    if (call.role != CallRole::kMpi) {
      replay.waits->other_call(state.number, call.role);
      if (state.threads && !replay.observers.empty())
        ThreadSteps<Rules>::report(replay, state, call, leave);
      return;
    }
    if (call.spinning & kSpinning) {
      if ((leave > state.enter).any())
        replay.loops[state.number].add(call.name, state.enter, leave,
                                       held_losses(replay, state, call));
      return;
    }
    if (state.awaited.empty()) {
      // Local calls may occur between a poll and the call that it leads to.
      if (!replay.loops.empty() && !call.is_kept()) replay.loops.erase(state.number);
      return;
    }
    typename WaitStates<K>::Causes causes;
    for (const Awaited& awaited : state.awaited) {
      with_kind<Rules>(awaited,
                       [&](auto kind) { kind.add_cause(replay, state, call, awaited, causes); });
    }
    Lanes<K> kept = Lanes<K>::Ones();
    if (call.spinning & kLoses) {
      kept -= held_losses(replay, state, call) / (leave - state.enter).max(1.0);
      kept = kept.max(0.0);
    }
    replay.waits->call(state.number, state.enter, leave, causes, kept);
    std::optional<PollingLoop<K>> loop;
    if (!replay.loops.empty()) {
      if (auto found = replay.loops.extract(state.number)) loop = std::move(found.mapped());
    }
    Waited waited;
    if (!replay.observers.empty()) {
      waited = causes.waited(state.enter[0], leave[0]);
      waited.kept = kept[0];
      if (replay.wants_messages) report_messages(replay, state);
    }
    if (loop) end_loop(replay, state, *loop, causes, waited);
    if (replay.observers.empty()) return;
    if constexpr (K == 1) {
      if (replay.wants_bounds) bind(replay, state, loop ? loop->begin()[0] : waited.enter, waited);
    }
    for (Observer<K>* observer : replay.observers) observer->waited(state.number, call, waited);
  }

 private:
  /// Flushes and lost cores within the call in this scenario.
  RUBATO_RARE static Lanes<K> held_losses(State& replay, const TimelineState<K>& state,
                                          const Call& call) {
    if constexpr (requires { replay.rules->held(Lost()); }) {
      if (call.spinning & kLoses) return replay.rules->held(lost_in(state.block.actions_of(call)));
    }
    return Lanes<K>::Zero();
  }

  /// Adds the waiting time of the polling loop that the current call ends, due to `causes`.
  RUBATO_RARE static void end_loop(State& replay, const TimelineState<K>& state,
                                   const PollingLoop<K>& loop,
                                   const typename WaitStates<K>::Causes& causes, Waited waited) {
    Lanes<K> all = Lanes<K>::Zero();
    std::vector<PolledWait> polls;
    loop.for_each_wait(causes.last(), [&](uint16_t name, const Lanes<K>& ticks) {
      all += ticks;
      if (replay.observers.empty() || !(ticks[0] > 0)) return;
      const auto same = std::find_if(polls.begin(), polls.end(),
                                     [&](const PolledWait& each) { return each.call == name; });
      if (same == polls.end()) {
        polls.push_back({name, ticks[0]});
      } else {
        same->ticks += ticks[0];
      }
    });
    replay.waits->add(state.number, causes, all);
    if (polls.empty()) return;
    for (Observer<K>* observer : replay.observers)
      observer->polled(state.number, polls, loop.begin()[0], waited);
  }

  /// Reports the messages that the call received to the observers.
  RUBATO_RARE static void report_messages(State& replay, const TimelineState<K>& state) {
    for (const Awaited& awaited : state.awaited) {
      if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = replay.matcher[awaited.transfer];
      if (transfer.abandoned || !transfer.has_send) continue;
      const auto& sides = replay.waits->sides_of(awaited.transfer);
      const Delivery delivery{sides.sender, sides.send[0], state.number, transfer.bytes};
      for (Observer<K>* observer : replay.observers) observer->message(delivery);
    }
  }

  /// The event that determines the end of a call. The recording does not contain arrival times of
  /// messages, so there a call follows from its cause if the cause came later than the call.
  RUBATO_RARE static void bind(State& replay, const TimelineState<K>& state, double since,
                               Waited& waited) {
    Origin origin{state.number, waited.enter};
    if constexpr (Rules::kFollowsRecording) {
      if (std::min(waited.cause, waited.leave) > since) origin = {waited.timeline, waited.cause};
    } else if constexpr (kKnowsOrigins<Rules>) {
      origin = replay.rules->last_origin();
    } else if constexpr (kTimeOrdered<Rules>) {
      origin = latest_origin(replay, state, waited);
    }
    Origin before;  // the event that determines its enter, if on another timeline
    if (state.threads) before = std::exchange(state.threads->held_by[state.number], {});
    const bool is_own = origin.timeline == state.number && origin.at >= waited.enter;
    if (is_own) origin = before;
    if (origin.timeline < 0) return;
    waited.bound_to = origin.timeline;
    waited.bound_at = origin.at;
  }

  /// The event that determines the end of a call in the order of time. (That of a flow on a shared
  /// network is the call that started it.)
  RUBATO_RARE static Origin latest_origin(State& replay, const TimelineState<K>& state,
                                          const Waited& waited) {
    const Call& call = replay.current_call(state.number);
    Dated<K> latest{waited.enter + replay.rules->overheads(state, call, replay.context),
                    {state.number, waited.enter}};
    for (const Awaited& awaited : state.awaited) {
      with_kind<Rules>(awaited, [&](auto kind) {
        kind.raise_origin(replay, state, call, awaited, waited, latest);
      });
    }
    return latest.origin;
  }
};

}  // namespace rubato
