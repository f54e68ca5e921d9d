#pragma once

// The part of the engine for timelines in other processes; engine.h includes it.
// cluster/transport.h explains the idea.

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "replay/engine/messages.h"
#include "replay/engine/replay.h"

namespace rubato {

/// Turns of timelines between two polls of the transport.
inline constexpr int kTurnsBetweenLooks = 16;

template <class Rules>
ReplayOutcome Replay<Rules>::run_divided() requires kDividable<Rules> {
  const Team::Take take = [this](int, ByteReader& from) { take_batch(from); };
  Team& team = boundary_->team();
  auto verdict = Team::Verdict::kGoOn;
  try {
    for (auto timeline = local_timelines_.rbegin(); timeline != local_timelines_.rend(); ++timeline)
      start(*timeline);
    for (int turns = 1; verdict == Team::Verdict::kGoOn; ++turns) {
      if (ready_.empty()) {
        verdict = team.rest(finished_ == static_cast<int>(local_timelines_.size()), take);
        if (verdict == Team::Verdict::kStalled) {
          const auto served = serve_earliest_of_all();
          outcome_.lanes_disagree = served == Presence<K>::Served::kLanesDisagree;
          if (served == Presence<K>::Served::kSome) verdict = Team::Verdict::kGoOn;
        }
      } else {
        run_until_blocked(ready_.pop());
        if (turns % kTurnsBetweenLooks == 0) verdict = team.look(take);
      }
    }
    if (verdict == Team::Verdict::kStopped) team.fail();
  } catch (const std::exception&) {
    // A replay by one process will meet the same error and report it.
    team.fail();
    verdict = Team::Verdict::kStopped;
  }
  if (verdict == Team::Verdict::kStalled && !outcome_.lanes_disagree)
    outcome_.needs_one_process = OneProcess::kHoles;
  if (verdict == Team::Verdict::kStopped && !outcome_.needs_one_process)
    outcome_.needs_one_process = OneProcess::kFailed;
  sum_up();
  return outcome_;
}

/// serve_earliest() for several processes; all of them are idle.
template <class Rules>
typename Presence<Replay<Rules>::K>::Served Replay<Rules>::serve_earliest_of_all() requires
    kDividable<Rules> {
  using Served = typename Presence<K>::Served;
  if constexpr (!kMayNeedPresence<Rules>) return Served::kNone;
  if (presence_from_ == std::numeric_limits<double>::infinity()) return Served::kNone;
  Team& team = boundary_->team();
  // All processes decide together whether calls that could leave in some lanes matter.
  const Lanes<K> never = Lanes<K>::Constant(Presence<K>::kNever);
  Lanes<K> bound = presence_.earliest(never);
  Lanes<K> bound_of_lanes = bound.min(first_leave_by_lane());
  bool lanes_differ = presence_.lanes_differ();
  ByteWriter mine;
  mine.value(lanes_differ), put_lanes(mine, bound), put_lanes(mine, bound_of_lanes);
  for (const Bytes& bytes : team.gather(mine.take())) {
    ByteReader from(bytes);
    bool differ = false;
    Lanes<K> time;
    from.value(differ);
    lanes_differ = lanes_differ || differ;
    take_lanes(from, time);
    bound = bound.min(time);
    take_lanes(from, time);
    bound_of_lanes = bound_of_lanes.min(time);
  }
  ByteWriter all;
  put_lanes(all, lanes_differ ? bound_of_lanes : bound);
  const Bytes shared = team.share(all.take());
  ByteReader from(shared);
  take_lanes(from, bound);
  const Served served = presence_.serve_until(bound);
  take_arrivals();
  if (!team.all(served != Served::kSome)) return Served::kSome;
  return team.all(served == Served::kNone) ? Served::kNone : Served::kLanesDisagree;
}

template <class Rules>
void Replay<Rules>::refuse_losses() requires kDividable<Rules> {
  if constexpr (kKnowsLostThere<Rules>) {
    if (!rules_->drops_losses()) return;
    outcome_.needs_one_process = OneProcess::kLosses;
    throw InputError("the losses of a message's other side are known to another process only");
  }
}

// --- Messages ---

template <class Rules>
void Replay<Rules>::send_remote(TimelineState<K>& state, const Call& call,
                                const Action& action) requires kDividable<Rules> {
  // The channel is in another process; this one keeps only its pair class.
  KnownChannel& channel = state.channel_of(action);
  if (channel.generation == 0) {
    channel.pair = static_cast<uint32_t>(pair_of(state.rank, action.message.peer).number());
    channel.generation = 1;
  }
  const PairClass pair = PairClass::from_number(channel.pair);
  const TransferId id = matcher_.send_remote(action);
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
  refuse_losses();
  const bool watched = action.flags & kBlocking || action.message.slot != kNoSlot;
  const bool waits = transfer.sender_waits && watched;
  const bool is_kept = waits || is_watched(transfer, action);
  bool answers = is_kept;
  if constexpr (kMayNeedPresence<Rules>) {
    if (may_need_presence(transfer.bytes)) [[unlikely]] {
      const Protocol protocol = rules_->protocol(pair, transfer.bytes);
      if (protocol == Protocol::kPush || (protocol == Protocol::kPull && waits)) {
        presence_.send(id, state.number, action.message.peer, state.enter, protocol);
        presence_.receive_elsewhere(id, protocol);
        transfer.handshake_pending = answers = true;
      }
    }
  }

  using Remote = RemoteSend<K>;
  Remote remote;
  remote.route = {state.rank, action.message.peer, action.comm, action.message.tag};
  remote.bytes = action.message.bytes;
  remote.order = action.message.order;
  remote.recorded = call.enter;
  remote.sent = transfer.sent;
  remote.id = id;
  remote.flags = static_cast<uint8_t>((transfer.synchronous ? Remote::kSynchronousMode : 0) |
                                      (transfer.sender_waits ? Remote::kWaits : 0) |
                                      (transfer.handshake ? Remote::kHandshake : 0) |
                                      (answers ? Remote::kAnswers : 0));
  if (waits_) {
    remote.flags |= Remote::kSides;
    remote.enter = state.enter;
    remote.timeline = state.number;
  }
  boundary_->put(action.message.peer, remote);

  if (answers) boundary_->peer(id) = {boundary_->owner(action.message.peer), kNoTransfer, true};
  if (!answers) transfer.receiver_done = true;
  if (!is_kept) matcher_.sender_done(id, transfer);
  if (action.flags & kBlocking) {
    if (waits) await(state, Awaited::Kind::kSend, id);
  } else if (action.message.slot != kNoSlot) {
    put_slot(state, action.message.slot, is_kept ? id : kNoTransfer);
  }
}

template <class Rules>
void Replay<Rules>::answer_sender(TransferId id) requires kDividable<Rules> {
  auto& peer = boundary_->peer(id);
  if (peer.process < 0) return;
  const Transfer<K>& transfer = matcher_[id];
  SendAnswer<K> answer;
  answer.id = peer.remote_id;
  answer.skipped = transfer.abandoned;
  answer.recorded = transfer.recorded_post;
  answer.posted = transfer.posted;
  if (waits_ && !answer.skipped) answer.timeline = waits_->sides_of(id).receiver;
  boundary_->put(peer.process, answer);
  if (transfer.abandoned || !needs_handshake(transfer)) peer = {};
}

template <class Rules>
bool Replay<Rules>::needs_handshake(const Transfer<K>& transfer) requires kDividable<Rules> {
  if constexpr (kMayNeedPresence<Rules>)
    return transfer.handshake_pending &&
           rules_->protocol(transfer.pair, transfer.bytes) >= Protocol::kPull;
  return false;
}

template <class Rules>
void Replay<Rules>::take_send(const RemoteSend<K>& sent) requires kDividable<Rules> {
  using Remote = RemoteSend<K>;
  const int destination = sent.route.destination;
  Action action;
  action.kind = ActionKind::kSend;
  action.comm = sent.route.comm;
  action.message = {destination, kNoSlot, sent.bytes, sent.route.tag, sent.order};
  KnownChannel channel;
  matcher_.look_up(sent.route.source, destination, action, channel);
  const TransferId id = matcher_.send(action, channel.id, sent.recorded);
  Transfer<K>& transfer = matcher_[id];
  transfer.has_send = true;
  transfer.synchronous = sent.has(Remote::kSynchronousMode);
  transfer.sender_waits = sent.has(Remote::kWaits);
  transfer.handshake = sent.has(Remote::kHandshake);
  transfer.recorded_send = sent.recorded;
  transfer.pair = pair_of(sent.route.source, destination);
  transfer.sent = sent.sent;
  if (sent.has(Remote::kSides)) waits_->send(id, sent.enter, sent.timeline, sent.route.comm);
  if (sent.has(Remote::kAnswers))
    boundary_->peer(id) = {boundary_->owner(sent.route.source), sent.id, false};
  if constexpr (kMayNeedPresence<Rules>) {
    if (may_need_presence(transfer.bytes) && !transfer.abandoned) [[unlikely]] {
      const Protocol protocol = rules_->protocol(transfer.pair, transfer.bytes);
      if (protocol >= Protocol::kPull) {
        presence_.send_elsewhere(id, protocol);
        transfer.handshake_pending = presence_.has(id);
      }
    }
  }
  if (transfer.abandoned || transfer.has_post) answer_sender(id);
  if (transfer.has_post) {
    match(id, transfer);
    wake(transfer.waiting_receiver);
  }
  matcher_.sender_done(id, transfer);
}

template <class Rules>
void Replay<Rules>::take_answer(const SendAnswer<K>& answer) requires kDividable<Rules> {
  Transfer<K>& transfer = matcher_[answer.id];
  if (answer.skipped) {
    drop_handshake(answer.id);
    transfer.abandoned = true;
  } else {
    transfer.has_post = true;
    transfer.recorded_post = answer.recorded;
    if constexpr (!kWatchesSends<Rules>) transfer.posted = answer.posted;
    if (waits_) waits_->post(answer.id, answer.timeline, 0);
    if (transfer.handshake_pending) return;  // a notification follows
    match(answer.id, transfer);
  }
  boundary_->peer(answer.id) = {};
  wake(transfer.waiting_sender);
  matcher_.receiver_done(answer.id, transfer);
}

// --- Messages that need a process inside MPI ---

template <class Rules>
void Replay<Rules>::notify_crossings() requires kDividable<Rules> {
  for (const auto& crossing : presence_.crossings()) {
    const auto& peer = boundary_->peer(crossing.message);
    // A sender that does not wait need not know when its message arrives.
    if (peer.process < 0 || peer.remote_id == kNoTransfer) continue;
    boundary_->put(peer, crossing.message, crossing.asks, crossing.lanes, crossing.time);
  }
  presence_.crossings().clear();
}

template <class Rules>
void Replay<Rules>::arrived_elsewhere(TransferId id) requires kDividable<Rules> {
  auto& peer = boundary_->peer(id);
  const bool sent_here = std::exchange(peer, {}).sent_here;
  if (sent_here) matcher_.receiver_done(id);
}

template <class Rules>
void Replay<Rules>::take_notification(const typename Boundary<K>::Notification& notification,
                                      bool asks) requires kDividable<Rules> {
  if constexpr (kMayNeedPresence<Rules>) {
    if (asks) {
      boundary_->peer(notification.id).remote_id = notification.remote_id;
      Transfer<K>& transfer = matcher_[notification.id];
      presence_.ask_sender(notification.id, notification.lanes, notification.time,
                           rules_->handshake_times(transfer));
    } else {
      presence_.arrive(notification.id, notification.lanes, notification.time);
    }
    take_arrivals();
  }
}

// --- Collectives ---

template <class Rules>
void Replay<Rules>::notify_members(int timeline, const Call& call, const Action& action, int local,
                                   const typename CollectiveInstances<K>::Arrived& arrived) requires
    kDividable<Rules> {
  if (boundary_->others(action.comm).empty()) return;
  const TimelineState<K>& state = timelines_[timeline];
  const CollectiveInstance<K>& instance = arrived.instance;
  auto& members = boundary_->members(action.comm, arrived.number);
  const Communicator& comm = trace_->comms[action.comm];
  bool all_apart = instance.how == Synchronisation::kPrefix || comm.first_group > 0;
  bool listed = false;  // all members wait for all, and parts are equal
  if constexpr (!Rules::kFollowsRecording) {
    listed = rules_->plays(comm) && rules_->has_equal_parts(action.op);
    all_apart = all_apart || (rules_->plays(comm) && !listed);
  }
  const bool apart = all_apart || (action.flags & kSendsToSome);
  if (apart) {
    size_t count = 1;
    if (action.flags & kHasParts) count += 1 + (&action + 1)->parts.follow;
    boundary_->put_member(arrived.number, &action, count, local, state.rank, timeline, call,
                          state.enter);
  } else {
    Came<K>& came = members.came;
    if (action.flags & (kGivesNothing | kNoPart)) {
      ++came.arrivals.count;
    } else {
      came.arrivals.add(call.enter, state.enter, timeline);
    }
    if constexpr (!Rules::kFollowsRecording) {
      if (listed)
        came.each.push_back(
            {local, timeline, rules_->payload_of(action, local, *trace_), state.enter});
    }
    if (instance.how == Synchronisation::kOneToAll && local == instance.root)
      boundary_->put_root(action.comm, arrived.number, instance, boundary_->team().self());
  }
  ++members.arrived;
  if (!boundary_->all_arrived(members)) return;
  if (!all_apart && boundary_->relays(action.comm)) {
    boundary_->relay(action.comm, arrived.number).come(members.came);
    arrived.instance.passed_on = true;
    pass_on(action.comm, arrived.number, arrived.instance);
  } else if (members.came.arrivals.count > 0) {
    const bool awaited = instance.how != Synchronisation::kOneToAll;
    boundary_->put_members(members, instance.op, instance.root, awaited);
  }
  boundary_->forget(members);
}

template <class Rules>
bool Replay<Rules>::pass_on(uint32_t comm, uint64_t number,
                            CollectiveInstance<K>& instance) requires kDividable<Rules> {
  auto& relay = boundary_->relay(comm, number);
  const bool awaited = instance.how != Synchronisation::kOneToAll;
  if (!boundary_->pass_on(comm, number, relay, instance.op, instance.root, awaited)) return false;
  take_members(instance, comm, instance.op, instance.root, relay.others());
  boundary_->forget_relay(comm, number);
  instance.passed_on = false;
  return true;
}

template <class Rules>
void Replay<Rules>::take_members(CollectiveInstance<K>& instance, uint32_t comm, CollectiveOp op,
                                 int32_t root, const Came<K>& came) requires kDividable<Rules> {
  collectives_.arrive_members(instance, comm, op, root, 0, came.arrivals);
  if constexpr (!Rules::kFollowsRecording) {
    for (const Entered<K>& member : came.each)
      rules_->enter_elsewhere(instance, comm, member, collectives_.local_members(comm), *trace_);
    rules_->plays().wake([this](int waiting) { wake(waiting); });
  }
}

template <class Rules>
void Replay<Rules>::take_collective(Crossing kind, ByteReader& from,
                                    BatchBase& base) requires kDividable<Rules> {
  const auto comm = static_cast<uint32_t>(from.number());
  const uint64_t number = from.number();
  const auto op = static_cast<CollectiveOp>(from.number());
  const auto root = static_cast<int32_t>(from.near_zero());
  CollectiveInstance<K>& instance = collectives_.reach(comm, number);
  int local = root;
  bool is_complete = true;
  if (kind == Crossing::kMembers) {
    local = -1;
    take_members(instance, comm, op, root, Boundary<K>::take_members(from, base));
  } else if (kind == Crossing::kRelay) {
    const auto round = static_cast<int>(from.number());
    boundary_->relay(comm, number).take(round, Boundary<K>::take_members(from, base));
    local = -1;
    collectives_.arrive_members(instance, comm, op, root, 0, {});  // only the kind
    is_complete = pass_on(comm, number, instance);
  } else if (kind == Crossing::kRoot) {
    const auto timeline = static_cast<int>(from.number());
    const double recorded = from.ticks(base.ticks);
    Lanes<K> enter;
    base.take(from, enter);
    collectives_.arrive_root(instance, comm, op, root, 0, recorded, timeline, enter);
    boundary_->put_root(comm, number, instance,
                        boundary_->owner(trace_->comms[comm].members[root]));
  } else {
    std::vector<Action> actions(from.number());
    from.raw(actions.data(), actions.size() * sizeof(Action));
    local = static_cast<int>(from.number());
    const auto rank = static_cast<int>(from.number());
    const auto timeline = static_cast<int>(from.number());
    Call call;
    call.enter = from.ticks(base.ticks);
    call.leave = from.ticks(base.ticks);
    Lanes<K> enter;
    base.take(from, enter);
    collectives_.arrive_elsewhere(instance, actions[0], local, rank, timeline, call, enter);
    play(instance, actions[0], local, timeline, enter);
  }
  if (collectives_.take_mismatch())
    throw InputError("members in two processes differ about a collective");
  if (!is_complete) return;
  const bool may_release = collectives_.may_release(instance, trace_->comms[comm], local);
  if (may_release) {
    for (const int32_t waiting : instance.waiting) wake(waiting);
    instance.waiting.clear();
  }
  collectives_.forget_departed(comm, number);
}

template <class Rules>
void Replay<Rules>::take_batch(ByteReader& from) requires kDividable<Rules> {
  BatchBase base;
  while (!from.empty()) {
    const auto [kind, flags] = Boundary<K>::take_kind(from);
    if (kind == Crossing::kSend) {
      take_send(Boundary<K>::take_send(from, base, flags));
    } else if (kind == Crossing::kAnswer) {
      take_answer(Boundary<K>::take_answer(from, base, flags));
    } else if (kind == Crossing::kQuestion || kind == Crossing::kArrival) {
      const bool asks = kind == Crossing::kQuestion;
      take_notification(Boundary<K>::take_notification(from, base, asks), asks);
    } else {
      take_collective(kind, from, base);
    }
  }
}

}  // namespace rubato
