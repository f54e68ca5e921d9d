#pragma once

// The part of the engine that analyses a stall of all timelines: a partner whose records are
// missing, or a deadlock. engine.h includes it.

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"

namespace rubato {

template <class Rules>
int Replay<Rules>::waits_for(int timeline) {
  TimelineState<K>& state = timelines_[timeline];
  if (state.status != Status::kBlocked) return -1;
  const Awaited& awaited = state.awaited[state.next_awaited];
  if (waits_for_thread(awaited)) return state.rank;
  if (awaited.kind == Awaited::Kind::kReceive) return matcher_.route(awaited.transfer).source;
  if (awaited.kind == Awaited::Kind::kSend) return matcher_.route(awaited.transfer).destination;
  if (awaited.kind == Awaited::Kind::kEpoch) return awaited.action->epoch.peer;
  if (awaited.kind == Awaited::Kind::kLock)
    return trace_->rank_of(turn_before(awaited).holders.front());
  if (awaited.kind == Awaited::Kind::kOneSided)
    return windows_.find(state.rank, awaited.action->one_sided.slot)->target;
  return missing_member(awaited);
}

template <class Rules>
int Replay<Rules>::missing_member(const Awaited& awaited) {
  const Communicator& comm = trace_->comms[awaited.action->comm];
  const CollectiveInstance<K>& instance = collectives_.get(awaited.action->comm, awaited.instance);
  if constexpr (!Rules::kFollowsRecording) {
    if (instance.play >= 0 &&
        collectives_.ready(instance, comm, awaited.local, awaited.waits_for)) {
      const int local = rules_->plays().missing(instance.play, awaited.local);
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
    if (running_[comm.members[local]] == 0) return comm.members[local];
    if (missing < 0) missing = comm.members[local];
  }
  return missing;
}

template <class Rules>
bool Replay<Rules>::release_hopeless() {
  bool any = false;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    const int other = waits_for(timeline);
    if (other < 0 || running_[other] > 0) continue;
    any = true;
    release(timeline);
  }
  return any;
}

template <class Rules>
bool Replay<Rules>::move_completions() {
  if (Rules::kFollowsRecording) return false;
  bool any = false;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    TimelineState<K>& state = timelines_[timeline];
    if (state.status != Status::kBlocked) continue;
    const Awaited awaited = state.awaited[state.next_awaited];
    if (awaited.kind != Awaited::Kind::kSend || !awaited.posted) continue;
    const Call& call = current_call(timeline);
    const size_t first_moved = state.awaited.size() - state.moved_here;
    const bool has_moved = state.next_awaited >= first_moved;
    const MpiCallInfo& info = trace_->calls[call.name];
    if (!has_moved && !info.tests && !info.takes_some) continue;
    any = true;
    wake(timeline);
    if (call.role != CallRole::kMpi) {  // there is no later call
      matcher_[awaited.transfer].sender_waits = false;
      continue;
    }
    state.awaited.remove(state.next_awaited);
    if (has_moved) {
      const auto moved =
          state.moved.begin() + static_cast<std::ptrdiff_t>(state.next_awaited - first_moved);
      std::rotate(moved, moved + 1, state.moved.end());
      --state.moved_here;
    } else {
      move(state, awaited.transfer);
    }
    if constexpr (kMayNeedPresence<Rules>) presence_.leave_send(awaited.transfer);
  }
  return any;
}

template <class Rules>
bool Replay<Rules>::may_lack_partner(Awaited::Kind kind) const {
  if (Rules::kFollowsRecording || received_) return false;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    const TimelineState<K>& state = timelines_[timeline];
    if (state.status != Status::kBlocked) continue;
    const Awaited& awaited = state.awaited[state.next_awaited];
    if (awaited.kind == kind && awaited.posted) return true;
  }
  return false;
}

template <class Rules>
bool Replay<Rules>::release_hole() {
  int first = -1;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    const int other = waits_for(timeline);
    if (other < 0) continue;
    const Awaited& awaited = timelines_[timeline].awaited[timelines_[timeline].next_awaited];
    if (waits_for_thread(awaited)) continue;  // that thread is blocked itself
    if (!Rules::kFollowsRecording) {
      const bool rendezvous =
          awaited.kind == Awaited::Kind::kSend && matcher_[awaited.transfer].handshake;
      // The recorded run need not have waited here.
      if (rendezvous || holds_more_than_it_must(awaited)) continue;
      if (first_leave(other, timeline) <= current_call(timeline).leave) continue;
    }
    if (first < 0 || current_call(timeline).leave < current_call(first).leave) first = timeline;
  }
  if (first >= 0) release(first);
  return first >= 0;
}

template <class Rules>
bool Replay<Rules>::holds_more_than_it_must(const Awaited& awaited) {
  if (awaited.kind != Awaited::Kind::kCollective) return false;
  const uint32_t comm = awaited.action->comm;
  return awaited.waits_for != synchronisation(awaited.action->op) ||
         collectives_.ready(collectives_.get(comm, awaited.instance), trace_->comms[comm],
                            awaited.local, awaited.waits_for);
}

template <class Rules>
double Replay<Rules>::first_leave(int rank, int except) const {
  double first = std::numeric_limits<double>::infinity();
  for (const int timeline : trace_->timelines_of(rank)) {
    if (timeline == except || timelines_[timeline].status == Status::kFinished) continue;
    first = std::min(first, current_call(timeline).leave);
  }
  return first;
}

template <class Rules>
void Replay<Rules>::release(int timeline) {
  const Awaited& awaited = timelines_[timeline].awaited[timelines_[timeline].next_awaited];
  if (awaited.kind == Awaited::Kind::kCollective) {
    CollectiveInstance<K>& instance = collectives_.get(awaited.action->comm, awaited.instance);
    instance.abandoned = true;
    for (const int32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
    return;
  }
  if (awaited.kind == Awaited::Kind::kLock) {
    LockTurn<K>& turn = turn_before(awaited);
    turn.holders.clear();
    for (const int32_t waiting : std::exchange(turn.waiting, {})) wake(waiting);
    return;
  }
  if (awaited.kind == Awaited::Kind::kOneSided) {
    const uint32_t slot = awaited.action->one_sided.slot;
    windows_.find(timelines_[timeline].rank, slot)->abandoned = true;
  } else if (awaited.kind == Awaited::Kind::kEpoch) {
    Epoch<K>& epoch = windows_.epoch(*awaited.action, timelines_[timeline].rank, awaited.instance);
    epoch.abandoned = true;
    if constexpr (kTimeOrdered<Rules>) begin_unready(epoch);
  } else if (awaited.kind == Awaited::Kind::kReceive) {
    matcher_.abandon_receive(awaited.transfer);
    if constexpr (kTimeOrdered<Rules>) rules_->order().drop(awaited.transfer);
    drop_handshake(awaited.transfer);
  } else {
    matcher_[awaited.transfer].sender_waits = false;
  }
  wake(timeline);
}

template <class Rules>
const Call& Replay<Rules>::current_call(int timeline) const {
  return timelines_[timeline].block.calls[timelines_[timeline].next_call];
}

template <class Rules>
std::string Replay<Rules>::describe_deadlock() {
  std::vector<int> path;
  int timeline = 0;
  while (timelines_[timeline].status != Status::kBlocked) ++timeline;
  while (timeline >= 0 && std::find(path.begin(), path.end(), timeline) == path.end()) {
    path.push_back(timeline);
    timeline = blocked_timeline_of(waits_for(timeline), timeline);
  }
  std::string text;
  bool in_cycle = timeline < 0;
  for (const int member : path) {
    in_cycle = in_cycle || member == timeline;
    if (!in_cycle) continue;
    text += place(member, current_call(member)) + describe_wait(member) + "; ";
  }
  return text.substr(0, text.size() - 2);
}

template <class Rules>
int Replay<Rules>::blocked_timeline_of(int rank, int asking) const {
  int blocked = -1;
  for (const int timeline : trace_->timelines_of(rank)) {
    if (timelines_[timeline].status != Status::kBlocked) continue;
    const bool better =
        blocked < 0 || blocked == asking ||
        (timeline != asking && current_call(timeline).leave < current_call(blocked).leave);
    if (better) blocked = timeline;
  }
  return blocked;
}

template <class Rules>
std::string Replay<Rules>::describe_wait(int timeline) {
  const Awaited& awaited = timelines_[timeline].awaited[timelines_[timeline].next_awaited];
  const std::string other = std::to_string(waits_for(timeline));
  if (waits_for_thread(awaited)) return " waits for another thread of rank " + other;
  if (awaited.kind == Awaited::Kind::kCollective) {
    const Communicator& comm = trace_->comms[awaited.action->comm];
    return " waits for rank " + other + " on " + (comm.window ? "window" : "communicator") + " '" +
           comm.name + "'";
  }
  if (awaited.kind == Awaited::Kind::kLock) {
    return " waits for a lock that rank " + other + " holds on window '" +
           trace_->comms[awaited.action->comm].name + "'";
  }
  const bool in_epoch = awaited.kind == Awaited::Kind::kOneSided;
  if (in_epoch || awaited.kind == Awaited::Kind::kEpoch) {
    return (in_epoch || windows_.is_origin(*awaited.action) ? " waits for the post of rank "
                                                            : " waits for the complete of rank ") +
           other + " on window '" + trace_->comms[awaited.action->comm].name + "'";
  }
  const Route& route = matcher_.route(awaited.transfer);
  return (awaited.kind == Awaited::Kind::kReceive ? " waits for " : " waits to send ") +
         std::to_string(matcher_[awaited.transfer].bytes) + " bytes " +
         (awaited.kind == Awaited::Kind::kReceive ? "from rank " : "to rank ") + other +
         " with tag " + std::to_string(route.tag) + " on communicator '" +
         trace_->comms[route.comm].name + "'";
}

template <class Rules>
std::string Replay<Rules>::place(int timeline, const Call& call) const {
  return trace_->name_of(timeline) + ", event " + std::to_string(call.event) + " (" +
         trace_->calls[call.name].name + ")";
}

}  // namespace rubato
