#pragma once

// The part of the engine for messages and requests; engine.h includes it. matcher.h explains which
// receive matches which send.

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/store/hot.h"

namespace rubato {

/// True for rules under which a call that waits for nothing leaves as soon as its own work is done.
template <class Rules>
inline constexpr bool kLeavesAtOnce = requires(const Rules& rules,
                                               const TimelineState<Rules::kLanes>& state) {
  rules.leave_at_once(state);
  requires !kTimeOrdered<Rules>;
};

// --- Calls that only start a message ---

template <class Rules>
RUBATO_HOT bool Replay<Rules>::only_starts(const TimelineState<K>& state, const Call& call) const {
  return kLeavesAtOnce<Rules> && call.first_action & kStartsMessage && !state.threads;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::start_message(TimelineState<K>& state, const Call& call) {
  const Action& action = state.block.actions[call.action_index()];
  if (action.kind == ActionKind::kSend) {
    start_message<ActionKind::kSend>(state, call, action);
  } else {
    start_message<ActionKind::kPost>(state, call, action);
  }
}

template <class Rules>
template <ActionKind kKind>
RUBATO_HOT void Replay<Rules>::start_message(TimelineState<K>& state, const Call& call,
                                             const Action& action) {
  if constexpr (kLeavesAtOnce<Rules>) {
    enter_after_compute(state, call, true);
    rules_->begin_call(state);
    if (is_asked_for(state, call)) [[unlikely]] {
      presence_.enter(state.number, state.enter);
      take_arrivals();
    }
    state.block.take_up(call);
    if constexpr (kKind == ActionKind::kSend) {
      send(state, call, action);
    } else {
      post(state, call, action);
    }
    const Traffic traffic = traffic_of(action, kTrafficMasks[static_cast<size_t>(kKind) * 2]);
    report_call<true>(state, call, traffic, state.recorded_clock, rules_->leave_at_once(state));
    if (is_asked_for(state, call)) [[unlikely]] {
      leave_presence(state, state.clock);
    }
  }
}

// --- Both sides of a message ---

template <class Rules>
RUBATO_HOT void Replay<Rules>::send(TimelineState<K>& state, const Call& call,
                                    const Action& action) {
  if constexpr (kDividable<Rules>) {
    if (!is_local(action.message.peer)) [[unlikely]]
      return send_remote(state, call, action);
  }
  const int timeline = state.number;
  const int rank = state.rank;
  TransferId id = kNoTransfer;
  PairClass pair;
  if (matches_by_arrival()) {
    id = matcher_.apart(rank, action.message.peer, action);
    pair = pair_of(rank, action.message.peer);
  } else {
    KnownChannel& channel = state.channel_of(action);
    if (!matcher_.is_up_to_date(channel, action.message.peer)) {
      matcher_.look_up(rank, action.message.peer, action, channel);
      channel.pair = static_cast<uint32_t>(pair_of(rank, action.message.peer).number());
    }
    id = matcher_.send(action, channel.id, call.enter);
    pair = PairClass::from_number(channel.pair);
  }
  Transfer<K>& transfer = matcher_[id];
  transfer.has_send = true;
  transfer.synchronous = action.flags & kSynchronous;
  transfer.recorded_send = call.enter;
  transfer.pair = pair;
  if (waits_) waits_->send(id, state.enter, state.number, action.comm);
  ++outcome_.messages;
  ++pair_traffic_[pair.number()].messages;
  pair_traffic_[pair.number()].bytes += action.message.bytes;
  rules_->send(state, call, action, transfer);
  if constexpr (kKnowsOrigins<Rules>) rules_->note_send(state, id, transfer);
  if constexpr (kKnowsLostThere<Rules>) {
    if (rules_->drops_losses()) [[unlikely]]
      rules_->note_side(state, id, true);
  }
  if (kFindsReceivers<Rules> || received_) number_send(timeline, id);
  if (may_need_presence(transfer.bytes)) [[unlikely]]
    handshake_as_sender(state, action, id, transfer);
  if constexpr (kTimeOrdered<Rules>) sent(timeline, id);
  if (transfer.has_post) {
    match(id, transfer);
    wake(transfer.waiting_receiver);
  }
  // An eager send is complete for its sender, as is one whose completion the archive does not show.
  const bool watched = action.flags & kBlocking || action.message.slot != kNoSlot;
  const bool waits = transfer.sender_waits && watched;
  const bool is_kept = waits || is_watched(transfer, action);
  if (!is_kept) matcher_.sender_done(id, transfer);
  if (action.flags & kBlocking) {
    if (waits) await(state, Awaited::Kind::kSend, id);
  } else if (action.message.slot != kNoSlot) {
    put_slot(state, action.message.slot, is_kept ? id : kNoTransfer);
  }
  if constexpr (kTimeOrdered<Rules>) {
    if (matches_by_arrival()) offer(id);
  }
}

template <class Rules>
[[gnu::always_inline]] inline bool Replay<Rules>::is_watched(const Transfer<K>& transfer,
                                                             const Action& action) const {
  if constexpr (kWatchesSends<Rules>) return rules_->watches(transfer, action);
  return false;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::post(TimelineState<K>& state, const Call& call,
                                    const Action& action) {
  const int timeline = state.number;
  const int rank = state.rank;
  TransferId id = kNoTransfer;
  size_t number = 0;  // number of the post, if the rules need it
  if (matches_by_arrival()) {
    id = matcher_.apart(action.message.peer, rank, action);
  } else {
    KnownChannel& channel = state.channel_of(action);
    if (!matcher_.is_up_to_date(channel, rank))
      matcher_.look_up(action.message.peer, rank, action, channel);
    const bool numbers = kFindsReceivers<Rules> || received_;
    number = numbers ? posts_[timeline]++ : 0;
    id = received_ && !received_->has_receive(timeline, number)
             ? matcher_.post_to_nobody(action, channel.id, call.enter)
             : matcher_.post(action, channel.id, skipped_);
  }
  for (const TransferId skipped : skipped_) {
    answer_remote_sender(skipped);
    wake(matcher_[skipped].waiting_sender);
    drop_handshake(skipped);
    if constexpr (kTimeOrdered<Rules>) rules_->order().drop(skipped);
    matcher_.receiver_done(skipped);
  }
  skipped_.clear();
  Transfer<K>& transfer = matcher_[id];
  transfer.has_post = true;
  transfer.recorded_post = call.enter;
  if (waits_) waits_->post(id, timeline, action.comm);
  rules_->post(state, action, transfer);
  if constexpr (kFindsReceivers<Rules>) rules_->number_receive(timeline, number, transfer);
  if constexpr (kKnowsLostThere<Rules>) {
    if (rules_->drops_losses()) [[unlikely]]
      rules_->note_side(state, id, false);
  }
  if ((may_need_presence(transfer.bytes) ||
       (sender_knows_length(action) && may_need_presence(UINT64_MAX))) &&
      !transfer.abandoned) [[unlikely]] {
    handshake_as_receiver(state, action, id, transfer);
  }
  if constexpr (kTimeOrdered<Rules>) rules_->order()[id].receiver = timeline;
  if (transfer.has_send) {
    answer_remote_sender(id);
    match(id, transfer);
    wake(transfer.waiting_sender);
  }
  if constexpr (kDividable<Rules>) {
    if (!is_local(action.message.peer)) [[unlikely]]
      refuse_losses();
  }
  if (action.flags & kBlocking) {
    await(state, Awaited::Kind::kReceive, id);
  } else {
    put_slot(state, action.message.slot, id);
  }
  if constexpr (kTimeOrdered<Rules>) {
    if (matches_by_arrival()) ask(id, action);
  }
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::number_send(int timeline, TransferId id) {
  const size_t number = sends_[timeline]++;
  if constexpr (kFindsReceivers<Rules>) {
    rules_->number_send(timeline, number, matcher_[id]);
  } else {
    if (!received_->has_send(timeline, number)) matcher_.abandon_send(id);
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::match(TransferId id, Transfer<K>& transfer) {
  if constexpr (kKnowsOrigins<Rules>)
    rules_->note_match(id, transfer, waits_->sides_of(id).receiver);
  if constexpr (kTimeOrdered<Rules>) return request(id);
  if constexpr (kMayNeedPresence<Rules>) {
    if (transfer.handshake_pending) {
      if (rules_->protocol(transfer.pair, transfer.bytes) >= Protocol::kPull) {
        presence_.match(id, rules_->handshake_times(transfer));  // computes the arrival
        take_arrivals();
        return;
      }
      drop_handshake(id);
    }
  }
  rules_->matched(transfer);
}

// --- Messages that need a process inside MPI ---

template <class Rules>
bool Replay<Rules>::makes_progress(const Call& call) const {
  if (call.role != CallRole::kMpi)
    return call.role == CallRole::kInit || call.role == CallRole::kFinalize;
  return call.actions > 0 || trace_->calls[call.name].without_records == CallClass::kCommunicates;
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::is_asked_for(const TimelineState<K>& state, const Call& call) const {
  if constexpr (kMayNeedPresence<Rules>)
    return presence_.asks_for(state.number) && makes_progress(call);
  return false;
}

template <class Rules>
void Replay<Rules>::handshake_as_sender(TimelineState<K>& state, const Action& action,
                                        TransferId id, Transfer<K>& transfer) {
  if constexpr (kMayNeedPresence<Rules>) {
    const Protocol protocol = rules_->protocol(transfer.pair, transfer.bytes);
    if (transfer.abandoned || protocol < Protocol::kPull) return;
    presence_.send(id, state.number, action.message.peer, state.enter, protocol);
    transfer.handshake_pending = presence_.has(id);
  }
}

template <class Rules>
void Replay<Rules>::handshake_as_receiver(TimelineState<K>& state, const Action& action,
                                          TransferId id, Transfer<K>& transfer) {
  if constexpr (kMayNeedPresence<Rules>) {
    const PairClass pair = pair_of(action.message.peer, state.rank);
    const Protocol protocol = rules_->protocol(pair, transfer.bytes);
    const bool may_change = sender_knows_length(action) && !transfer.has_send;
    if (protocol < Protocol::kPull && !may_change) return;
    presence_.post(id, state.number, action.message.peer, state.enter, protocol);
    transfer.handshake_pending = true;
    if constexpr (kDividable<Rules>) {
      if (transfer.has_send && !is_local(action.message.peer))
        presence_.send_elsewhere(id, protocol);
    }
  }
}

template <class Rules>
void Replay<Rules>::leave_presence(const TimelineState<K>& state, const Lanes<K>& leave) {
  presence_.leave(state.number, leave);
  take_arrivals();
  if (!presence_.has_many_stays(state.number) || goes_back_) return;
  presence_.forget(state.number, [&](int rank) {
    if (!is_local(rank)) return Lanes<K>::Constant(-Presence<K>::kNever).eval();
    const TimelineState<K>& other = timelines_[rank];
    const bool is_over = running_[rank] == 0;  // including all its threads
    const bool has_begun = other.calls > 0 && !other.threads;
    return is_over || !has_begun
               ? Lanes<K>::Constant(is_over ? Presence<K>::kNever : -Presence<K>::kNever)
               : other.clock;
  });
}

template <class Rules>
void Replay<Rules>::drop_handshake(TransferId id) {
  if constexpr (kMayNeedPresence<Rules>) {
    if (!matcher_[id].handshake_pending) return;
    presence_.drop(id);
    matcher_[id].handshake_pending = false;
  }
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::is_held_up(TransferId id, const Transfer<K>& transfer) const {
  if constexpr (kMayNeedPresence<Rules>) return transfer.handshake_pending;
  if constexpr (kTimeOrdered<Rules>) return rules_->order().open(id);
  return false;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::take_arrivals() {
  if constexpr (kDividable<Rules>) {
    if (!presence_.crossings().empty()) notify_crossings();
  }
  if (!presence_.arrivals().empty()) wake_by_arrivals();
}

template <class Rules>
void Replay<Rules>::wake_by_arrivals() {
  for (const auto& [id, time, by] : presence_.arrivals()) {
    if constexpr (kKnowsOrigins<Rules>) rules_->note_arrival(id, by);
    Transfer<K>& transfer = matcher_[id];
    transfer.arrival() = time;
    transfer.handshake_pending = false;
    wake(transfer.waiting_sender);
    wake(transfer.waiting_receiver);
    if constexpr (kDividable<Rules>) {
      if (boundary_) arrived_elsewhere(id);
    }
  }
  presence_.arrivals().clear();
}

template <class Rules>
typename Presence<Replay<Rules>::K>::Served Replay<Rules>::serve_earliest() {
  if constexpr (!kMayNeedPresence<Rules>) return Presence<K>::Served::kNone;
  const auto served = presence_.serve_earliest(first_leave_by_lane());
  take_arrivals();
  return served;
}

template <class Rules>
Lanes<Replay<Rules>::K> Replay<Rules>::first_leave_by_lane() {
  using Mask = typename Presence<K>::Mask;
  Lanes<K> first = Lanes<K>::Constant(Presence<K>::kNever);
  // If each message has arrived in all lanes or in none, the lanes agree on which timelines are
  // blocked.
  if (!presence_.lanes_differ()) return first;
  for (const int timeline : local_timelines_) {
    TimelineState<K>& state = timelines_[timeline];
    if (state.status != Status::kBlocked) continue;
    Lanes<K> leave = state.enter;
    Mask can_leave = Presence<K>::kAllLanes;
    for (size_t i = state.next_awaited; i < state.awaited.size() && can_leave != 0; ++i) {
      // Only messages are examined.
      const Awaited awaited = state.awaited[i];
      if (!awaited.posted || awaited.transfer == kNoTransfer ||
          awaited.kind >= Awaited::Kind::kCollective)
        continue;
      const Transfer<K>& transfer = matcher_[awaited.transfer];
      if (transfer.handshake_pending) {
        const Mask known = presence_.known(awaited.transfer);
        can_leave &= known;
        const Lanes<K>& arrival = presence_.arrival(awaited.transfer);
        for (int lane = 0; lane < K; ++lane) {
          if (known >> lane & 1) leave[lane] = std::max(leave[lane], arrival[lane]);
        }
      } else if (!transfer.abandoned && !(transfer.has_send && transfer.has_post)) {
        if (awaited.kind == Awaited::Kind::kReceive || transfer.sender_waits) can_leave = 0;
      }
    }
    for (int lane = 0; lane < K; ++lane) {
      if (can_leave >> lane & 1) first[lane] = std::min(first[lane], leave[lane]);
    }
  }
  return first;
}

// --- Requests ---

template <class Rules>
RUBATO_HOT void Replay<Rules>::put_slot(TimelineState<K>& state, uint32_t slot, TransferId id) {
  if (state.threads) [[unlikely]]
    return share_request(state.number, slot, id);
  std::vector<TransferId>& slots = state.slots;
  if (slot >= slots.size()) slots.resize(slot + 1, kNoTransfer);
  // The previous send in this slot was never seen to complete.
  if (slots[slot] != kNoTransfer) matcher_.sender_done(slots[slot]);
  slots[slot] = id;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::await_request(TimelineState<K>& state, const Call& call,
                                             Awaited::Kind kind, uint32_t slot) {
  if (state.threads) {
    state.awaited.push_back({.kind = kind, .posted = false, .slot = slot});
    return;
  }
  const TransferId id = take_slot(state, slot);
  if (id == kNoTransfer) return;
  if (kind == Awaited::Kind::kSend && completes_elsewhere(call)) return move(state, id);
  await(state, kind, id);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::await_own_request(TimelineState<K>& state, const Call& call,
                                                 const Action& action) {
  const TransferId id = take_slot(state, action.request.slot);
  if (id == kNoTransfer) return;
  const bool receives = action.kind == ActionKind::kWaitReceive;
  if (!receives && completes_elsewhere(call)) return move(state, id);
  await(state, receives ? Awaited::Kind::kReceive : Awaited::Kind::kSend, id);
}

template <class Rules>
RUBATO_HOT TransferId Replay<Rules>::take_slot(TimelineState<K>& state, uint32_t slot) {
  // The slot of an eager send is empty: the send is complete.
  if (slot >= state.slots.size()) return kNoTransfer;
  return std::exchange(state.slots[slot], kNoTransfer);
}

// --- Completions that move to a later call: outcomes.h ---

template <class Rules>
RUBATO_HOT bool Replay<Rules>::completes_elsewhere(const Call& call) const {
  // A test that was repeated until it succeeded would be repeated again.
  return !Rules::kFollowsRecording && trace_->calls[call.name].tests &&
         !(call.spinning & kLookedFor);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::move(TimelineState<K>& state, TransferId id) {
  state.moved.push_back({id, state.enter});
  state.has_moved = true;
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::await_moved(TimelineState<K>& state, const Call& call) {
  const bool is_last = call.role == CallRole::kFinalize || call.role == CallRole::kEnd;
  if (!is_last && !trace_->calls[call.name].waits) return;
  state.moved_here = state.moved.size();
  for (const MovedCompletion<K>& moved : state.moved)
    await(state, Awaited::Kind::kSend, moved.transfer);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::end_moved(TimelineState<K>& state) {
  const auto end = state.moved.begin() + static_cast<std::ptrdiff_t>(state.moved_here);
  if constexpr (!Rules::kFollowsRecording) {
    for (auto moved = state.moved.begin(); moved != end; ++moved)
      rules_->end_moved(matcher_[moved->transfer], moved->since);
  }
  state.moved.erase(state.moved.begin(), end);
  state.moved_here = 0;
  state.has_moved = !state.moved.empty();
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::share_request(int timeline, uint32_t slot, TransferId id) {
  TimelineState<K>& state = timelines_[timeline];
  const auto [request, is_new] = state.threads->requests.try_emplace(slot);
  if (!is_new && request->second.transfer != kNoTransfer)
    matcher_.sender_done(request->second.transfer);  // as in put_slot()
  request->second = {id, state.enter, current_call(timeline).enter, timeline};
  const auto waiting = state.threads->waiting.find(slot);
  if (waiting == state.threads->waiting.end()) return;
  wake(waiting->second);
  state.threads->waiting.erase(waiting);
}

template <class Rules>
RUBATO_RARE bool Replay<Rules>::find_request(int timeline, Awaited& awaited) {
  TimelineState<K>& state = timelines_[timeline];
  const auto found = state.threads->requests.find(awaited.slot);
  if (found == state.threads->requests.end()) {
    state.threads->waiting[awaited.slot] = timeline;
    return false;
  }
  // A timeline can wait for a request only after the call that makes it. (`before` corrects for
  // recorded clocks that disagree.)
  const auto& request = found->second;
  const double before = std::min(0.0, current_call(timeline).enter - request.recorded_enter);
  if (request.enter[0] + before > state.enter[0])
    state.threads->held_by[timeline] = {request.timeline, request.enter[0]};
  state.enter = state.enter.max(request.enter + before);
  rules_->begin_call(state);
  awaited.transfer = request.transfer;
  awaited.posted = true;
  if (awaited.kind == Awaited::Kind::kCollective) {
    find_instance(awaited);
    // A collective in which the rank has no part: nothing to wait for.
    if (awaited.transfer == kNoTransfer) awaited.kind = Awaited::Kind::kReceive;
  }
  state.threads->requests.erase(found);
  return true;
}

}  // namespace rubato
