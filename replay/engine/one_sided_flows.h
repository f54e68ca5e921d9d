#pragma once

// The part of the engine for one-sided operations on a network with contention;
// engine/time_ordered.h includes it. rules/one_sided_flows.h gives the order of events.

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "replay/engine/replay.h"
#include "replay/rules/ordered_rules.h"

namespace rubato {

template <class Rules>
void Replay<Rules>::begin_operation(TimelineState<K>& state, const Action& action,
                                    const Action* result,
                                    OneSided<K>& operation) requires kTimeOrdered<Rules> {
  const int32_t target = action.one_sided.target;
  Stream<K>& aimed = windows_.stream(action.comm, state.rank, target);
  if (!operation.flows) operation.flows = std::make_shared<SlotFlows>();
  if (!aimed.flows) aimed.flows = std::make_shared<Landing>();
  OneSidedFlow flow = rules_->one_sided_flow(state, action, result, operation, aimed);
  flow.slot = operation.flows;
  flow.aimed = aimed.flows;
  ++flow.aimed->under_way;
  ++flow.slot->under_way;
  ++flow.slot->leaving;
  const uint32_t number = rules_->operations().add(std::move(flow));
  double ready = -std::numeric_limits<double>::infinity();
  typename Windows<K>::Pair& pair = windows_.pair(action.comm, state.rank, target);
  if (pair.accesses) {
    Epoch<K>& epoch = windows_.epoch(pair, pair.accessed);
    if (!epoch.has_post && !epoch.abandoned) {
      epoch.unready.push_back(number);
      return;
    }
    if (epoch.has_post) ready = rules_->ready(epoch, operation.pair)[0];
  }
  begin_operation(number, ready);
}

template <class Rules>
void Replay<Rules>::begin_unready(Epoch<K>& epoch) requires kTimeOrdered<Rules> {
  for (const uint32_t number : std::exchange(epoch.unready, {})) {
    const PairClass pair = rules_->operations()[number].pair;
    begin_operation(number, epoch.has_post ? rules_->ready(epoch, pair)[0]
                                           : -std::numeric_limits<double>::infinity());
  }
}

template <class Rules>
void Replay<Rules>::begin_operation(uint32_t number, double ready) requires kTimeOrdered<Rules> {
  OneSidedFlow& flow = rules_->operations()[number];
  flow.plan(ready);
  flow.open = 2;
  TimeOrder& time = rules_->order();
  time.push(flow.begin, TimedEvent::Kind::kOperation, flow.origin, number);
  time.push(flow.left, TimedEvent::Kind::kLeft, flow.origin, number);
}

template <class Rules>
void Replay<Rules>::flow_operation(uint32_t number) requires kTimeOrdered<Rules> {
  const OneSidedFlow& flow = rules_->operations()[number];
  TimeOrder& time = rules_->order();
  if (flow.fetches && flow.there.bytes == 0) {
    time.push(flow.arrival, TimedEvent::Kind::kThere, flow.origin, number);
  } else {
    time.flow(number, flow.origin, flow.target, flow.pair.level(), flow.there, flow.arrival);
  }
}

template <class Rules>
void Replay<Rules>::operation_left(uint32_t number) requires kTimeOrdered<Rules> {
  OneSidedFlow& flow = rules_->operations()[number];
  const bool is_over = flow.open == 1;
  if (!is_over && !flow.fetches && !rules_->order().held_up(number)) {
    flow.has_left = true;
    if (--flow.slot->leaving == 0) {
      for (const int32_t waiting : std::exchange(flow.slot->waiting, {})) wake(waiting);
    }
  }
  rules_->operations().close(number);
}

template <class Rules>
void Replay<Rules>::operation_arrived(uint32_t number) requires kTimeOrdered<Rules> {
  OneSidedFlow& flow = rules_->operations()[number];
  TimeOrder& time = rules_->order();
  SlotFlows& slot = *flow.slot;
  const double now = time.now();
  if (!flow.is_back) {
    slot.landed = std::max(slot.landed, now);
    land(*flow.aimed, flow.fetches ? std::max(now, flow.landed) : now);
    if (flow.fetches) {
      flow.is_back = true;
      const double alone = now == flow.arrival ? flow.returned : now + flow.back.length;
      return time.flow(number, flow.target, flow.origin, flow.pair.level(), flow.back, alone);
    }
    if (!flow.has_left) slot.left = std::max(slot.left, now);
  } else {
    slot.results[flow.result].arrival = now;
  }
  if (!flow.has_left) --slot.leaving;
  --slot.under_way;
  if (slot.leaving == 0) {
    for (const int32_t waiting : std::exchange(slot.waiting, {})) wake(waiting);
  }
  rules_->operations().close(number);
}

template <class Rules>
void Replay<Rules>::land(Landing& landing, double time) requires kTimeOrdered<Rules> {
  landing.last = std::max(landing.last, time);
  if (--landing.under_way > 0) return;
  for (const int32_t waiting : std::exchange(landing.waiting, {})) wake(waiting);
  for (const Landing::Release& release : std::exchange(landing.releases, {})) {
    release_lock(release.timeline, release.unlock, release.turn,
                 Lanes<K>::Constant(std::max(release.earliest, landing.last)), {});
  }
}

// --- What calls wait for ---

template <class Rules>
void Replay<Rules>::end_flows(uint32_t window, int rank,
                              CollectiveInstance<K>& instance) requires kTimeOrdered<Rules> {
  const Communicator& comm = trace_->comms[window];
  windows_.visit_streams(window, rank, [&](int32_t target, typename Windows<K>::Pair& pair) {
    if (!pair.stream.flows) return;
    if (instance.landings.empty()) instance.landings.resize(comm.size());
    instance.landings[comm.local_rank(target)].push_back(pair.stream.flows);
  });
}

template <class Rules>
bool Replay<Rules>::has_landed(int timeline, CollectiveInstance<K>& instance,
                               int local) requires kTimeOrdered<Rules> {
  if (instance.abandoned || instance.landings.empty()) return true;
  for (const std::shared_ptr<Landing>& landing : instance.landings[local]) {
    if (landing->under_way > 0) {
      landing->waiting.push_back(timeline);
      return false;
    }
    instance.arrivals[local] = instance.arrivals[local].max(landing->last);
  }
  return true;
}

template <class Rules>
bool Replay<Rules>::has_flowed(int timeline, const Awaited& awaited,
                               Epoch<K>& epoch) requires kTimeOrdered<Rules> {
  if (windows_.is_origin(*awaited.action)) {
    // is_done() may have returned true before there was a post.
    for (const Awaited& other : timelines_[timeline].awaited) {
      if (other.kind == Awaited::Kind::kOneSided && !is_done(timeline, other)) return false;
    }
    return true;
  }
  Landing* const landing = epoch.stream.flows.get();
  if (!landing) return true;
  if (landing->under_way > 0) {
    landing->waiting.push_back(timeline);
    return false;
  }
  epoch.stream.landed = epoch.stream.landed.max(landing->last);
  return true;
}

template <class Rules>
bool Replay<Rules>::is_done(int timeline, const Awaited& awaited) requires kTimeOrdered<Rules> {
  const Action& action = *awaited.action;
  const int rank = timelines_[timeline].rank;
  if (action.kind != ActionKind::kOneSidedDone) return true;
  OneSided<K>* const operation = windows_.find(rank, action.one_sided.slot);
  if (!operation || !operation->flows) return true;
  typename Windows<K>::Pair& pair = windows_.pair(action.comm, rank, operation->target);
  // For a complete, has_flowed() checks again once there is a post.
  const Epoch<K>* const epoch = windows_.accessed(pair);
  if (epoch && (epoch->abandoned || !epoch->has_post)) return true;
  if (operation->abandoned && !pair.completes) return true;
  const bool remotely = action.flags & kRemote && !pair.completes;
  SlotFlows& flows = *operation->flows;
  if ((remotely ? flows.under_way : flows.leaving) > 0) {
    flows.waiting.push_back(timeline);
    return false;
  }
  rules_->settle(*operation);
  return true;
}

}  // namespace rubato
