#pragma once

// One-sided operations on a network with contention, in the order of time; rules/one_sided_flows.h
// gives the order of events.

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "replay/engine/dependency.h"
#include "replay/rules/ordered_rules.h"

namespace rubato {

template <class Rules>
struct OperationFlows {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  static void begin(State& replay, TimelineState<K>& state, const Action& action,
                    const Action* result, OneSided<K>& operation) {
    const int32_t target = action.one_sided.target;
    Stream<K>& aimed = replay.windows.stream(action.comm, state.rank, target);
    if (!operation.flows) operation.flows = std::make_shared<SlotFlows>();
    if (!aimed.flows) aimed.flows = std::make_shared<Landing>();
    OneSidedFlow flow = replay.rules->one_sided_flow(state, action, result, operation, aimed);
    flow.slot = operation.flows;
    flow.aimed = aimed.flows;
    ++flow.aimed->under_way;
    ++flow.slot->under_way;
    ++flow.slot->leaving;
    const uint32_t number = replay.rules->operations().add(std::move(flow));
    double ready = -std::numeric_limits<double>::infinity();
    typename Windows<K>::Pair& pair = replay.windows.pair(action.comm, state.rank, target);
    if (pair.accesses) {
      Epoch<K>& epoch = replay.windows.epoch(pair, pair.accessed);
      if (!epoch.has_post && !epoch.abandoned) {
        epoch.unready.push_back(number);
        return;
      }
      if (epoch.has_post) ready = replay.rules->ready(epoch, operation.pair).time[0];
    }
    begin(replay, number, ready);
  }

  /// Begins the operations that wait for the target of `epoch`, which is ready or will never be.
  static void begin_unready(State& replay, Epoch<K>& epoch) {
    for (const uint32_t number : std::exchange(epoch.unready, {})) {
      const PairClass pair = replay.rules->operations()[number].pair;
      begin(replay, number,
            epoch.has_post ? replay.rules->ready(epoch, pair).time[0]
                           : -std::numeric_limits<double>::infinity());
    }
  }

  // --- Events ---

  static void flow(State& replay, uint32_t number) {
    OneSidedFlow& flow = replay.rules->operations()[number];
    TimeOrder& time = replay.rules->order();
    if (flow.fetches && flow.there.bytes == 0) {
      time.push(flow.arrival, TimedEvent::Kind::kThere, flow.origin, number);
    } else {
      flow.there.alone = flow.arrival;
      time.flow(number, flow.pair.level(), flow.there);
    }
  }

  static void leave(State& replay, uint32_t number) {
    OneSidedFlow& flow = replay.rules->operations()[number];
    const bool is_over = flow.open == 1;
    if (!is_over && !flow.fetches && !replay.rules->order().held_up(number)) {
      flow.has_left = true;
      if (--flow.slot->leaving == 0) replay.wake_all(flow.slot->waiting);
    }
    replay.rules->operations().close(number);
  }

  static void arrive(State& replay, uint32_t number) {
    OneSidedFlow& flow = replay.rules->operations()[number];
    TimeOrder& time = replay.rules->order();
    SlotFlows& slot = *flow.slot;
    const double now = time.now();
    if (!flow.is_back) {
      slot.landed = std::max(slot.landed, now);
      land(replay, *flow.aimed, flow.fetches ? std::max(now, flow.landed) : now);
      if (flow.fetches) {
        flow.is_back = true;
        flow.back.alone = now == flow.arrival ? flow.returned : now + flow.back.length;
        return time.flow(number, flow.pair.level(), flow.back);
      }
      if (!flow.has_left) slot.left = std::max(slot.left, now);
    } else {
      slot.results[flow.result].arrival = now;
    }
    if (!flow.has_left) --slot.leaving;
    --slot.under_way;
    if (slot.leaving == 0) replay.wake_all(slot.waiting);
    replay.rules->operations().close(number);
  }

  // --- What calls wait for ---

  /// Assigns to the fence `instance` the flows of `rank`.
  static void end_flows(State& replay, uint32_t window, int rank, CollectiveInstance<K>& instance) {
    const Communicator& comm = replay.trace->comms[window];
    replay.windows.visit_streams(
        window, rank, [&](int32_t target, typename Windows<K>::Pair& pair) {
          if (!pair.stream.flows) return;
          if (instance.landings.empty()) instance.landings.resize(comm.size());
          instance.landings[comm.local_rank(target)].push_back(pair.stream.flows);
        });
  }

  /// True when all operations with member `local` of a fence as target have landed; else `timeline`
  /// is woken then. The same for the two functions below.
  static bool has_landed(int timeline, CollectiveInstance<K>& instance, int local) {
    if (instance.abandoned || instance.landings.empty()) return true;
    for (const std::shared_ptr<Landing>& landing : instance.landings[local]) {
      if (landing->under_way > 0) {
        landing->waiting.push_back(timeline);
        return false;
      }
      Lanes<K>& arrival = instance.arrivals[local].time;
      arrival = arrival.max(landing->last);
    }
    return true;
  }

  /// True when no flow holds up a complete or wait.
  static bool has_flowed(State& replay, int timeline, const Awaited& awaited, Epoch<K>& epoch) {
    if (replay.windows.is_origin(*awaited.action)) {
      // is_done() may have returned true before there was a post.
      for (const Awaited& other : replay.timelines[timeline].awaited) {
        if (other.kind == Awaited::Kind::kOneSided && !is_done(replay, timeline, other))
          return false;
      }
      return true;
    }
    Landing* const landing = epoch.stream.flows.get();
    if (!landing) return true;
    if (landing->under_way > 0) {
      landing->waiting.push_back(timeline);
      return false;
    }
    Lanes<K>& landed = epoch.stream.landed.time;
    landed = landed.max(landing->last);
    return true;
  }

  /// True when the flows that a kOneSidedDone waits for are complete.
  static bool is_done(State& replay, int timeline, const Awaited& awaited) {
    const Action& action = *awaited.action;
    const int rank = replay.timelines[timeline].rank;
    if (action.kind != ActionKind::kOneSidedDone) return true;
    OneSided<K>* const operation = replay.windows.find(rank, action.one_sided.slot);
    if (!operation || !operation->flows) return true;
    typename Windows<K>::Pair& pair = replay.windows.pair(action.comm, rank, operation->target);
    // For a complete, has_flowed() checks again once there is a post.
    const Epoch<K>* const epoch = replay.windows.accessed(pair);
    if (epoch && (epoch->abandoned || !epoch->has_post)) return true;
    if (operation->abandoned && !pair.completes) return true;
    const bool remotely = action.flags & kRemote && !pair.completes;
    SlotFlows& flows = *operation->flows;
    if ((remotely ? flows.under_way : flows.leaving) > 0) {
      flows.waiting.push_back(timeline);
      return false;
    }
    replay.rules->settle(*operation);
    return true;
  }

 private:
  static void begin(State& replay, uint32_t number, double ready) {
    OneSidedFlow& flow = replay.rules->operations()[number];
    flow.plan(ready);
    flow.open = 2;
    TimeOrder& time = replay.rules->order();
    time.push(flow.begin, TimedEvent::Kind::kOperation, flow.origin, number);
    time.push(flow.left, TimedEvent::Kind::kLeft, flow.origin, number);
  }

  static void land(State& replay, Landing& landing, double time) {
    landing.last = std::max(landing.last, time);
    if (--landing.under_way > 0) return;
    replay.wake_all(landing.waiting);
    for (const Landing::Release& release : std::exchange(landing.releases, {})) {
      Locks<Rules>::end_turn(replay, release.timeline, release.unlock, release.turn,
                             {Lanes<K>::Constant(std::max(release.earliest, landing.last)), {}});
    }
  }
};

}  // namespace rubato
