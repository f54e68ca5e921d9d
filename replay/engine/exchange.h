#pragma once

// Timelines in other processes: what this process has to notify others of, and what it does with
// their notifications. cluster/transport.h explains the idea, boundary.h defines the contents.
// The main loop and the kinds of dependencies call the hooks, which do nothing where this process
// has all ranks.

#include <limits>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "replay/engine/dependency.h"

namespace rubato {

template <class Rules>
struct Exchange {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  // --- Hooks ---

  /// True for a send to a rank of another process, which was notified of it.
  [[gnu::always_inline]] static bool takes_send(State& replay, TimelineState<K>& state,
                                                const Call& call, const Action& action) {
    if constexpr (kDividable<Rules>) {
      if (!replay.is_local(action.message.peer)) [[unlikely]] {
        send(replay, state, call, action);
        return true;
      }
    }
    return false;
  }
  /// The receive of `id` was posted, or no receive matches it.
  [[gnu::always_inline]] static void posted(State& replay, TransferId id) {
    if constexpr (kDividable<Rules>) {
      if (replay.boundary) [[unlikely]]
        answer_sender(replay, id);
    }
  }
  /// Messages that need a process inside MPI: news for other processes.
  [[gnu::always_inline]] static void notify_crossings(State& replay) {
    if constexpr (kDividable<Rules>) {
      if (!replay.presence.crossings().empty()) put_crossings(replay);
    }
  }
  /// The arrival of such a message is known; one side of it may be in another process.
  static void arrived(State& replay, TransferId id) {
    if constexpr (kDividable<Rules>) {
      if (!replay.boundary) return;
      auto& peer = replay.boundary->peer(id);
      const bool sent_here = std::exchange(peer, {}).sent_here;
      if (sent_here) replay.matcher.receiver_done(id);
    }
  }
  /// A local member has entered a collective.
  static void entered(State& replay, const TimelineState<K>& state, const Call& call,
                      const Action& action, int local,
                      const typename CollectiveInstances<K>::Arrived& arrived) {
    if constexpr (kDividable<Rules>) {
      if (replay.boundary) notify_members(replay, state, call, action, local, arrived);
    }
  }
  /// Refuses a divided replay whose rules need what the other side of a message lost. Errors:
  /// InputError.
  static void refuse_losses(State& replay) {
    if constexpr (kKnowsLostThere<Rules>) {
      if (!replay.rules->drops_losses()) return;
      replay.outcome.needs_one_process = OneProcess::kLosses;
      throw InputError("the losses of a message's other side are known to another process only");
    }
  }
  /// The same for a message with a rank, and for a collective on a communicator.
  [[gnu::always_inline]] static void refuse_losses_with(State& replay, int rank) {
    if (!replay.is_local(rank)) [[unlikely]]
      refuse_losses(replay);
  }
  static void refuse_losses_on(State& replay, uint32_t comm) {
    if constexpr (kDividable<Rules>) {
      if (replay.boundary && replay.boundary->remote_members()[comm] > 0) refuse_losses(replay);
    }
  }

  /// Handles what another process sent.
  static void take_batch(State& replay, ByteReader& from) {
    BatchBase base;
    while (!from.empty()) {
      const auto [kind, flags] = Boundary<K>::take_kind(from);
      if (kind == Crossing::kSend) {
        take_send(replay, Boundary<K>::take_send(from, base, flags));
      } else if (kind == Crossing::kAnswer) {
        take_answer(replay, Boundary<K>::take_answer(from, base, flags));
      } else if (kind == Crossing::kQuestion || kind == Crossing::kArrival) {
        const bool asks = kind == Crossing::kQuestion;
        take_notification(replay, Boundary<K>::take_notification(from, base, asks), asks);
      } else {
        take_collective(replay, kind, from, base);
      }
    }
  }

  /// Handshakes::serve_earliest() for several processes; all of them are idle.
  static typename Presence<K>::Served serve_earliest(State& replay) {
    using Served = typename Presence<K>::Served;
    if constexpr (!kMayNeedPresence<Rules>) return Served::kNone;
    if (replay.presence_from == std::numeric_limits<double>::infinity()) return Served::kNone;
    Team& team = replay.boundary->team();
    // All processes decide together whether calls that could leave in some lanes matter.
    const Lanes<K> never = Lanes<K>::Constant(Presence<K>::kNever);
    Lanes<K> bound = replay.presence.earliest(never);
    Lanes<K> bound_of_lanes = bound.min(Handshakes<Rules>::first_leave_by_lane(replay));
    bool lanes_differ = replay.presence.lanes_differ();
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
    const Served served = replay.presence.serve_until(bound);
    Handshakes<Rules>::take_arrivals(replay);
    if (!team.all(served != Served::kSome)) return Served::kSome;
    return team.all(served == Served::kNone) ? Served::kNone : Served::kLanesDisagree;
  }

 private:
  // --- Messages ---

  /// Messages::send() to a rank of another process.
  static void send(State& replay, TimelineState<K>& state, const Call& call, const Action& action) {
    // The channel is in another process; this one keeps only its pair class.
    KnownChannel& channel = state.channel_of(action);
    if (channel.generation == 0) {
      channel.pair =
          static_cast<uint32_t>(replay.pair_of(state.rank, action.message.peer).number());
      channel.generation = 1;
    }
    const PairClass pair = PairClass::from_number(channel.pair);
    const TransferId id = replay.matcher.send_remote(action);
    Transfer<K>& transfer = replay.matcher[id];
    Messages<Rules>::start_send(replay, state, call, action, id, pair, transfer);
    refuse_losses(replay);
    const bool watched = action.flags & kBlocking || action.message.slot != kNoSlot;
    const bool waits = transfer.sender_waits && watched;
    const bool is_kept = waits || Messages<Rules>::is_watched(replay, transfer, action);
    bool answers = is_kept;
    if constexpr (kMayNeedPresence<Rules>) {
      if (Handshakes<Rules>::may_be_needed(replay, transfer.bytes)) [[unlikely]] {
        const Protocol protocol = replay.rules->protocol(pair, transfer.bytes);
        if (protocol == Protocol::kPush || (protocol == Protocol::kPull && waits)) {
          replay.presence.send(id, state.number, action.message.peer, state.enter, protocol);
          replay.presence.receive_elsewhere(id, protocol);
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
    if (replay.waits) {
      remote.flags |= Remote::kSides;
      remote.enter = state.enter;
      remote.timeline = state.number;
    }
    replay.boundary->put(action.message.peer, remote);

    if (answers)
      replay.boundary->peer(id) = {replay.boundary->owner(action.message.peer), kNoTransfer, true};
    if (!answers) transfer.receiver_done = true;
    if (!is_kept) replay.matcher.sender_done(id, transfer);
    if (action.flags & kBlocking) {
      if (is_kept) Messages<Rules>::await(replay, state, Awaited::Kind::kSend, id);
    } else if (action.message.slot != kNoSlot) {
      Requests<Rules>::put(replay, state, action.message.slot, is_kept ? id : kNoTransfer);
    }
  }

  /// Notifies the process of the sender of `id`, if it is another one and waits for the match.
  static void answer_sender(State& replay, TransferId id) {
    auto& peer = replay.boundary->peer(id);
    if (peer.process < 0) return;
    const Transfer<K>& transfer = replay.matcher[id];
    SendAnswer<K> answer;
    answer.id = peer.remote_id;
    answer.skipped = transfer.abandoned;
    answer.recorded = transfer.recorded_post;
    answer.posted = transfer.posted;
    if (replay.waits && !answer.skipped) answer.timeline = replay.waits->sides_of(id).receiver;
    replay.boundary->put(peer.process, answer);
    if (transfer.abandoned || !needs_handshake(replay, transfer)) peer = {};
  }

  /// True for a message that needs a process inside MPI, once its receiver is known.
  static bool needs_handshake(State& replay, const Transfer<K>& transfer) {
    if constexpr (kMayNeedPresence<Rules>)
      return transfer.handshake_pending &&
             replay.rules->protocol(transfer.pair, transfer.bytes) >= Protocol::kPull;
    return false;
  }

  static void take_send(State& replay, const RemoteSend<K>& sent) {
    using Remote = RemoteSend<K>;
    const int destination = sent.route.destination;
    Action action;
    action.kind = ActionKind::kSend;
    action.comm = sent.route.comm;
    action.message = {destination, kNoSlot, sent.bytes, sent.route.tag, sent.order};
    KnownChannel channel;
    replay.matcher.look_up(sent.route.source, destination, action, channel);
    const TransferId id = replay.matcher.send(action, channel.id, sent.recorded);
    Transfer<K>& transfer = replay.matcher[id];
    transfer.has_send = true;
    transfer.synchronous = sent.has(Remote::kSynchronousMode);
    transfer.sender_waits = sent.has(Remote::kWaits);
    transfer.handshake = sent.has(Remote::kHandshake);
    transfer.recorded_send = sent.recorded;
    transfer.pair = replay.pair_of(sent.route.source, destination);
    transfer.sent = sent.sent;
    if (sent.has(Remote::kSides))
      replay.waits->send(id, sent.enter, sent.timeline, sent.route.comm);
    if (sent.has(Remote::kAnswers))
      replay.boundary->peer(id) = {replay.boundary->owner(sent.route.source), sent.id, false};
    if constexpr (kMayNeedPresence<Rules>) {
      if (Handshakes<Rules>::may_be_needed(replay, transfer.bytes) && !transfer.abandoned)
          [[unlikely]] {
        const Protocol protocol = replay.rules->protocol(transfer.pair, transfer.bytes);
        if (protocol >= Protocol::kPull) {
          replay.presence.send_elsewhere(id, protocol);
          transfer.handshake_pending = replay.presence.has(id);
        }
      }
    }
    if (transfer.abandoned || transfer.has_post) answer_sender(replay, id);
    if (transfer.has_post) Messages<Rules>::match(replay, id, transfer);
    replay.wake(transfer.waiting_receiver);
    replay.matcher.sender_done(id, transfer);
  }

  static void take_answer(State& replay, const SendAnswer<K>& answer) {
    Transfer<K>& transfer = replay.matcher[answer.id];
    if (answer.skipped) {
      Handshakes<Rules>::drop(replay, answer.id);
      transfer.abandoned = true;
    } else {
      transfer.has_post = true;
      transfer.recorded_post = answer.recorded;
      if constexpr (!kWatchesSends<Rules>) transfer.posted = answer.posted;
      if (replay.waits) replay.waits->post(answer.id, answer.timeline, 0);
      if (transfer.handshake_pending) return;  // a notification follows
      Messages<Rules>::match(replay, answer.id, transfer);
    }
    replay.boundary->peer(answer.id) = {};
    replay.wake(transfer.waiting_sender);
    replay.matcher.receiver_done(answer.id, transfer);
  }

  static void put_crossings(State& replay) {
    for (const auto& crossing : replay.presence.crossings()) {
      const auto& peer = replay.boundary->peer(crossing.message);
      // A sender that does not wait need not know when its message arrives.
      if (peer.process < 0 || peer.remote_id == kNoTransfer) continue;
      replay.boundary->put(peer, crossing.message, crossing.asks, crossing.lanes, crossing.time);
    }
    replay.presence.crossings().clear();
  }

  static void take_notification(State& replay,
                                const typename Boundary<K>::Notification& notification, bool asks) {
    if constexpr (kMayNeedPresence<Rules>) {
      if (asks) {
        replay.boundary->peer(notification.id).remote_id = notification.remote_id;
        Transfer<K>& transfer = replay.matcher[notification.id];
        replay.presence.ask_sender(notification.id, notification.lanes, notification.time,
                                   replay.rules->handshake_times(transfer));
      } else {
        replay.presence.arrive(notification.id, notification.lanes, notification.time);
      }
      Handshakes<Rules>::take_arrivals(replay);
    }
  }

  // --- Collectives ---

  /// entered(), where this process does not have all ranks.
  static void notify_members(State& replay, const TimelineState<K>& state, const Call& call,
                             const Action& action, int local,
                             const typename CollectiveInstances<K>::Arrived& arrived) {
    if (replay.boundary->others(action.comm).empty()) return;
    const CollectiveInstance<K>& instance = arrived.instance;
    auto& members = replay.boundary->members(action.comm, arrived.number);
    const Communicator& comm = replay.trace->comms[action.comm];
    bool all_apart = instance.how == Synchronisation::kPrefix || comm.first_group > 0;
    bool listed = false;  // all members wait for all, and parts are equal
    if constexpr (!Rules::kFollowsRecording) {
      listed = replay.rules->plays(comm) && replay.rules->has_equal_parts(action.op);
      all_apart = all_apart || (replay.rules->plays(comm) && !listed);
    }
    const bool apart = all_apart || (action.flags & kSendsToSome);
    if (apart) {
      size_t count = 1;
      if (action.flags & kHasParts) count += 1 + (&action + 1)->parts.follow;
      replay.boundary->put_member(arrived.number, &action, count, local, state.rank, state.number,
                                  call, state.enter, state.ports());
    } else {
      Came<K>& came = members.came;
      if (action.flags & (kGivesNothing | kNoPart)) {
        ++came.arrivals.count;
      } else {
        came.arrivals.add(call.enter, state.enter, state.number);
      }
      if constexpr (!Rules::kFollowsRecording) {
        if (listed)
          came.each.push_back({local, state.number,
                               replay.rules->payload_of(action, local, *replay.trace), state.enter,
                               state.ports()});
      }
      if (instance.how == Synchronisation::kOneToAll && local == instance.root)
        replay.boundary->put_root(action.comm, arrived.number, instance,
                                  replay.boundary->team().self());
    }
    ++members.arrived;
    if (!replay.boundary->all_arrived(members)) return;
    if (!all_apart && replay.boundary->relays(action.comm)) {
      replay.boundary->relay(action.comm, arrived.number).come(members.came);
      arrived.instance.passed_on = true;
      pass_on(replay, action.comm, arrived.number, arrived.instance);
    } else if (members.came.arrivals.count > 0) {
      const bool awaited = instance.how != Synchronisation::kOneToAll;
      replay.boundary->put_members(members, instance.op, instance.root, awaited);
    }
    replay.boundary->forget(members);
  }

  /// Passes on what is known of members in other processes. True once all have entered `instance`.
  static bool pass_on(State& replay, uint32_t comm, uint64_t number,
                      CollectiveInstance<K>& instance) {
    auto& relay = replay.boundary->relay(comm, number);
    const bool awaited = instance.how != Synchronisation::kOneToAll;
    if (!replay.boundary->pass_on(comm, number, relay, instance.op, instance.root, awaited))
      return false;
    take_members(replay, instance, comm, instance.op, instance.root, relay.others());
    replay.boundary->forget_relay(comm, number);
    instance.passed_on = false;
    return true;
  }

  /// Members in another process have entered a collective.
  static void take_members(State& replay, CollectiveInstance<K>& instance, uint32_t comm,
                           CollectiveOp op, int32_t root, const Came<K>& came) {
    replay.collectives.arrive_members(instance, comm, op, root, 0, came.arrivals);
    if constexpr (!Rules::kFollowsRecording) {
      for (const Entered<K>& member : came.each)
        replay.rules->enter_elsewhere(instance, comm, member,
                                      replay.collectives.local_members(comm), *replay.trace);
      replay.rules->plays().wake([&](int waiting) { replay.wake(waiting); });
    }
  }

  static void take_collective(State& replay, Crossing kind, ByteReader& from, BatchBase& base) {
    const auto comm = static_cast<uint32_t>(from.number());
    const uint64_t number = from.number();
    const auto op = static_cast<CollectiveOp>(from.number());
    const auto root = static_cast<int32_t>(from.near_zero());
    CollectiveInstance<K>& instance = replay.collectives.reach(comm, number);
    int local = root;
    bool is_complete = true;
    if (kind == Crossing::kMembers) {
      local = -1;
      take_members(replay, instance, comm, op, root, Boundary<K>::take_members(from, base));
    } else if (kind == Crossing::kRelay) {
      const auto round = static_cast<int>(from.number());
      replay.boundary->relay(comm, number).take(round, Boundary<K>::take_members(from, base));
      local = -1;
      replay.collectives.arrive_members(instance, comm, op, root, 0, {});  // only the kind
      is_complete = pass_on(replay, comm, number, instance);
    } else if (kind == Crossing::kRoot) {
      const auto timeline = static_cast<int>(from.number());
      const double recorded = from.ticks(base.ticks);
      Lanes<K> enter;
      base.take(from, enter);
      replay.collectives.arrive_root(instance, comm, op, root, 0, recorded, timeline, enter);
      replay.boundary->put_root(comm, number, instance,
                                replay.boundary->owner(replay.trace->comms[comm].members[root]));
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
      const auto ports = take_ports<K>(from);
      replay.collectives.arrive_elsewhere(instance, actions[0], local, rank, timeline, call, enter);
      Collectives<Rules>::play(replay, instance, actions[0], local, timeline, enter, ports);
    }
    if (replay.collectives.take_mismatch())
      throw InputError("members in two processes differ about a collective");
    if (!is_complete) return;
    if (replay.collectives.may_release(instance, replay.trace->comms[comm], local))
      replay.wake_all(instance.waiting);
    replay.collectives.forget_departed(comm, number);
  }
};

}  // namespace rubato
