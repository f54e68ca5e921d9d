#include "replay/observe/call_profile.h"

#include <algorithm>
#include <utility>

#include "replay/observe/collective_share.h"

namespace rubato {

size_t PeerTable::place_of(int32_t peer) const {
  const size_t mask = places_.size() - 1;
  size_t place = (static_cast<uint32_t>(peer) * uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
  while (places_[place] != 0 && entries_[places_[place] - 1].peer != peer)
    place = (place + 1) & mask;
  return place;
}

void PeerTable::grow() {
  places_.assign(std::max<size_t>(8, 2 * places_.size()), 0);
  for (size_t number = 0; number < entries_.size(); ++number)
    places_[place_of(entries_[number].peer)] = static_cast<uint32_t>(number + 1);
}

PeerTraffic& PeerTable::find_or_add(int32_t peer) {
  if (2 * (entries_.size() + 1) > places_.size()) grow();
  uint32_t& place = places_[place_of(peer)];
  if (place == 0) {
    entries_.emplace_back().peer = peer;
    place = static_cast<uint32_t>(entries_.size());
  }
  last_ = place - 1;
  return entries_[last_];
}

CallTraffic& CallTraffic::operator+=(const CallTraffic& other) {
  sent += other.sent;
  received += other.received;
  bytes_completed += other.bytes_completed;
  outside += other.outside;
  for (int kind = 0; kind < kWaitKinds; ++kind) waits[kind] += other.waits[kind];
  return *this;
}

void CallProfile::OpenRequests::put(uint32_t slot, uint32_t what) {
  if (slot >= kDense) {
    others_.insert_or_assign(slot, what);
    return;
  }
  if (slot >= dense_.size()) dense_.resize(slot + 1, kNothing);
  dense_[slot] = what;
}

uint32_t CallProfile::OpenRequests::take(uint32_t slot) {
  if (slot < dense_.size()) return std::exchange(dense_[slot], kNothing);
  const auto found = others_.find(slot);
  if (found == others_.end()) return kNothing;
  const uint32_t what = found->second;
  others_.erase(found);
  return what;
}

CallProfile::CallProfile(const TraceDefinitions& trace, const KeptInScenario& kept)
    : trace_(&trace),
      ticks_per_second_(trace.ticks_per_second),
      keeps_flushes_(kept.flushes),
      keeps_stolen_(kept.stolen),
      outside_ticks_(kept.overhead.outside * trace.ticks_per_second),
      function_ticks_(kept.overhead.function * trace.ticks_per_second),
      timelines_(trace.timelines()),
      open_(trace.ranks()) {
  begin();
}

void CallProfile::begin() {
  for (Timeline& timeline : timelines_) {
    timeline = {};
    timeline.calls.resize(trace_->calls.size());
  }
  open_.assign(trace_->ranks(), {});
}

void CallProfile::note_window(Timeline& timeline, const Call& call, double gap, double inside) {
  if (call.role == CallRole::kBegin) return;
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  if (!timeline.over) {
    const double cost = (is_mpi ? outside_ticks_ : 0) + function_ticks_ * call.function_records;
    timeline.overhead += std::min(std::max(gap, 0.0), cost);
  }
  if (!is_mpi) return;
  if (call.role == CallRole::kFinalize && !timeline.begun) {
    for (CallTraffic& each : timeline.calls) each.outside = 0;
    timeline.begun = true;
  }
  timeline.over = timeline.over || call.role == CallRole::kFinalize;
  if (!timeline.begun || timeline.over) timeline.calls[call.name].outside += inside;
  if (call.role == CallRole::kInit) {
    timeline.begun = true;
    timeline.overhead = 0;
    for (CallTraffic& each : timeline.calls) each.waits = {};
  }
}

void CallProfile::waited(int number, const Call&, const Waited& waited) {
  const int rank = waited.timeline < 0 ? -1 : trace_->rank_of(waited.timeline);
  // Losses of the call are no part of its waiting time.
  timelines_[number].wait = {waited.kept * waited.wait, kind_of(waited.pattern), rank};
}

void CallProfile::polled(int number, std::span<const PolledWait> polls, double /*begin*/,
                         const Waited& waited) {
  Timeline& timeline = timelines_[number];
  if (timeline.over) return;
  for (const PolledWait& each : polls)
    timeline.calls[each.call].waits[static_cast<size_t>(kind_of(waited.pattern))] += each.ticks;
}

void CallProfile::add_receiving(Timeline& timeline, const Wait& wait, double inside) {
  if (from_.empty()) return;
  const bool is_late = wait.kind == WaitKind::kLateSender && wait.ticks > 0 &&
                       std::find(from_.begin(), from_.end(), wait.rank) != from_.end();
  if (is_late) {
    timeline.peers[wait.rank].time += wait.ticks;
    inside -= wait.ticks;
  }
  const double part = inside / static_cast<double>(from_.size());
  for (const int32_t peer : from_) timeline.peers[peer].time += part;
}

void CallProfile::add_collective(CallTraffic& started, CallTraffic& completed, int rank,
                                 const Action& action) {
  const int me = trace_->comms[action.comm].local_rank(rank);
  const CollectiveShare share = collective_share(*trace_, action, me);
  if (share.sends) started.sent.add(share.size, share.bytes_sent);
  if (share.receives) started.received.add(share.size, share.bytes_received);
  completed.bytes_completed += share.bytes_received;
}

void CallProfile::call(int number, const Call& call, const Block& block,
                       const Lanes<1>& clock_before, double, const Lanes<1>& enter,
                       const Lanes<1>& leave) {
  Timeline& timeline = timelines_[number];
  double inside = leave[0] - enter[0];
  if (call.spinning & kLoses && call.role == CallRole::kMpi) [[unlikely]] {
    const Lost lost = lost_in(block.actions_of(call));
    inside = std::max(0.0, inside - keeps_flushes_ * lost.flushing - keeps_stolen_ * lost.stolen);
  }
  note_window(timeline, call, enter[0] - clock_before[0], inside);
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  if (!is_mpi) return;
  const int rank = trace_->rank_of(number);
  CallTraffic& traffic = timeline.calls[call.name];
  Wait wait = std::exchange(timeline.wait, {});
  if (!timeline.over) traffic.waits[static_cast<size_t>(wait.kind)] += wait.ticks;
  OpenRequests& open = open_[rank];
  from_.clear();
  int32_t target = 0;  // of the last one-sided operation
  for (const Action& action : block.actions_of(call)) {
    switch (action.kind) {
      case ActionKind::kSend:
        traffic.sent.add(action.message.bytes, action.message.bytes);
        timeline.peers[action.message.peer].sent += {1, action.message.bytes};
        break;
      case ActionKind::kPost:
        traffic.received.add(action.message.bytes, action.message.bytes);
        timeline.peers[action.message.peer].received += {1, action.message.bytes};
        if (action.flags & kBlocking) {
          traffic.bytes_completed += action.message.bytes;
          from_.push_back(action.message.peer);
        } else if (action.message.slot != kNoSlot) {
          open.put(action.message.slot, static_cast<uint32_t>(action.message.peer));
        }
        break;
      case ActionKind::kWaitReceive: {
        const uint32_t peer = open.take(action.request.slot);
        if (peer == OpenRequests::kNothing) break;
        traffic.bytes_completed += action.request.bytes;
        from_.push_back(static_cast<int32_t>(peer));
        break;
      }
      case ActionKind::kCollective:
        add_collective(traffic, traffic, rank, action);
        break;
      case ActionKind::kStartCollective:
        if (action.start.slot != kNoSlot) open.put(action.start.slot, call.name);
        break;
      case ActionKind::kWaitCollective: {
        const uint32_t name = open.take(action.collective.slot);
        CallTraffic& started = name == OpenRequests::kNothing ? traffic : timeline.calls[name];
        add_collective(started, traffic, rank, action);
        break;
      }
      case ActionKind::kOneSided:
        target = action.one_sided.target;
        if (action.one_sided.bytes == 0 && action.flags & kFetches) break;  // MPI_Get
        traffic.sent.add(action.one_sided.bytes, action.one_sided.bytes);
        timeline.peers[target].sent += {1, action.one_sided.bytes};
        break;
      case ActionKind::kFetch:
        traffic.received.add(action.one_sided.bytes, action.one_sided.bytes);
        timeline.peers[target].fetched += {1, action.one_sided.bytes};
        break;
      default:
        break;
    }
  }
  add_receiving(timeline, wait, inside);
}

std::vector<CallTraffic> CallProfile::take_calls(int rank) {
  std::vector<CallTraffic> calls(trace_->calls.size());
  for (const int number : trace_->timelines_of(rank)) {
    Timeline& timeline = timelines_[number];
    for (size_t name = 0; name < calls.size(); ++name) {
      CallTraffic& one = timeline.calls[name];
      one.outside = timeline.begun ? one.outside / ticks_per_second_ : 0;
      for (double& wait : one.waits) wait /= ticks_per_second_;
      calls[name] += one;
    }
    timeline.calls = {};
  }
  return calls;
}

std::vector<PeerTraffic> CallProfile::take_peers(int rank) {
  std::vector<PeerTraffic> peers;
  for (const int number : trace_->timelines_of(rank)) {
    std::vector<PeerTraffic> more = timelines_[number].peers.take();
    if (peers.empty())
      peers = std::move(more);
    else
      peers.insert(peers.end(), more.begin(), more.end());
  }
  std::stable_sort(peers.begin(), peers.end(),
                   [](const PeerTraffic& a, const PeerTraffic& b) { return a.peer < b.peer; });
  size_t kept = 0;
  for (PeerTraffic& each : peers) {
    each.time /= ticks_per_second_;
    if (kept > 0 && peers[kept - 1].peer == each.peer) {
      PeerTraffic& same = peers[kept - 1];
      same.time += each.time;
      same.sent += each.sent;
      same.received += each.received;
      same.fetched += each.fetched;
    } else {
      peers[kept++] = each;
    }
  }
  peers.resize(kept);
  return peers;
}

double CallProfile::overhead(int rank) const {
  double ticks = 0;
  for (const int number : trace_->timelines_of(rank)) ticks += timelines_[number].overhead;
  return ticks / ticks_per_second_;
}

}  // namespace rubato
