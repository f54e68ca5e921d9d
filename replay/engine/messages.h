#pragma once

// The dependency on the other side of a message. matcher.h explains which receive matches which
// send.

#include <cstdint>
#include <string>

#include "replay/engine/dependency.h"
#include "replay/engine/exchange.h"
#include "replay/engine/handshakes.h"
#include "replay/engine/requests.h"
#include "replay/rules/received_sends.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct Messages : Dependency<Rules> {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  // --- Both sides ---

  RUBATO_HOT static void send(State& replay, TimelineState<K>& state, const Call& call,
                              const Action& action) {
    if (Exchange<Rules>::takes_send(replay, state, call, action)) return;
    const int timeline = state.number;
    const int rank = state.rank;
    TransferId id = kNoTransfer;
    PairClass pair;
    if (replay.matches_by_arrival()) {
      id = replay.matcher.apart(rank, action.message.peer, action);
      pair = replay.pair_of(rank, action.message.peer);
    } else {
      KnownChannel& channel = state.channel_of(action);
      if (!replay.matcher.is_up_to_date(channel, action.message.peer)) {
        replay.matcher.look_up(rank, action.message.peer, action, channel);
        channel.pair = static_cast<uint32_t>(replay.pair_of(rank, action.message.peer).number());
      }
      id = replay.matcher.send(action, channel.id, call.enter);
      pair = PairClass::from_number(channel.pair);
    }
    Transfer<K>& transfer = replay.matcher[id];
    start_send(replay, state, call, action, id, pair, transfer);
    if constexpr (kKnowsOrigins<Rules>) replay.rules->note_send(timeline, id);
    if constexpr (kKnowsLostThere<Rules>) {
      if (replay.rules->drops_losses()) [[unlikely]]
        replay.rules->note_side(state, id, true);
    }
    if (kFindsReceivers<Rules> || replay.received) number_send(replay, timeline, id);
    if (Handshakes<Rules>::may_be_needed(replay, transfer.bytes)) [[unlikely]]
      Handshakes<Rules>::send(replay, state, action, id, transfer);
    if constexpr (kTimeOrdered<Rules>) OrderedMessages<Rules>::sent(replay, timeline, id);
    if (transfer.has_post) {
      match(replay, id, transfer);
      replay.wake(transfer.waiting_receiver);
    } else if (transfer.waiting_receiver >= 0) [[unlikely]] {
      replay.wake(transfer.waiting_receiver);  // a probe
    }
    // An eager send is complete for its sender, as is one whose completion the archive does not
    // show.
    const bool watched = action.flags & kBlocking || action.message.slot != kNoSlot;
    const bool waits = transfer.sender_waits && watched;
    const bool is_kept = waits || is_watched(replay, transfer, action);
    if (!is_kept) replay.matcher.sender_done(id, transfer);
    if (action.flags & kBlocking) {
      if (is_kept) await(replay, state, Awaited::Kind::kSend, id);
    } else if (action.message.slot != kNoSlot) {
      Requests<Rules>::put(replay, state, action.message.slot, is_kept ? id : kNoTransfer);
    }
    if constexpr (kTimeOrdered<Rules>) {
      if (replay.matches_by_arrival()) OrderedMessages<Rules>::offer(replay, id);
    }
  }

  RUBATO_HOT static void post(State& replay, TimelineState<K>& state, const Call& call,
                              const Action& action) {
    const int timeline = state.number;
    const int rank = state.rank;
    TransferId id = kNoTransfer;
    size_t number = 0;  // number of the post, if the rules need it
    if (replay.matches_by_arrival()) {
      id = replay.matcher.apart(action.message.peer, rank, action);
    } else {
      KnownChannel& channel = state.channel_of(action);
      if (!replay.matcher.is_up_to_date(channel, rank))
        replay.matcher.look_up(action.message.peer, rank, action, channel);
      const bool numbers = kFindsReceivers<Rules> || replay.received;
      number = numbers ? replay.posts[timeline]++ : 0;
      id = replay.received && !replay.received->has_receive(timeline, number)
               ? replay.matcher.post_to_nobody(action, channel.id, call.enter)
               : replay.matcher.post(action, channel.id, replay.skipped);
    }
    for (const TransferId skipped : replay.skipped) {
      Exchange<Rules>::posted(replay, skipped);
      replay.wake(replay.matcher[skipped].waiting_sender);
      Handshakes<Rules>::drop(replay, skipped);
      if constexpr (kTimeOrdered<Rules>) replay.rules->order().drop(skipped);
      replay.matcher.receiver_done(skipped);
    }
    replay.skipped.clear();
    Transfer<K>& transfer = replay.matcher[id];
    transfer.has_post = true;
    transfer.recorded_post = call.enter;
    if (replay.waits) replay.waits->post(id, timeline, action.comm);
    replay.rules->post(state, action, transfer);
    if constexpr (kFindsReceivers<Rules>) replay.rules->number_receive(timeline, number, transfer);
    if constexpr (kKnowsLostThere<Rules>) {
      if (replay.rules->drops_losses()) [[unlikely]]
        replay.rules->note_side(state, id, false);
    }
    if ((Handshakes<Rules>::may_be_needed(replay, transfer.bytes) ||
         (Handshakes<Rules>::sender_knows_length(replay, action) &&
          Handshakes<Rules>::may_be_needed(replay, UINT64_MAX))) &&
        !transfer.abandoned) [[unlikely]] {
      Handshakes<Rules>::post(replay, state, action, id, transfer);
    }
    if constexpr (kTimeOrdered<Rules>) replay.rules->order()[id].receiver = timeline;
    if (transfer.has_send) {
      Exchange<Rules>::posted(replay, id);
      match(replay, id, transfer);
      replay.wake(transfer.waiting_sender);
    }
    Exchange<Rules>::refuse_losses_with(replay, action.message.peer);
    if (action.flags & kBlocking) {
      await(replay, state, Awaited::Kind::kReceive, id);
    } else {
      Requests<Rules>::put(replay, state, action.message.slot, id);
    }
    if constexpr (kTimeOrdered<Rules>) {
      if (replay.matches_by_arrival()) OrderedMessages<Rules>::ask(replay, id, action);
    }
  }

  /// Both sides of a message are known.
  RUBATO_HOT static void match(State& replay, TransferId id, Transfer<K>& transfer) {
    if constexpr (kKnowsOrigins<Rules>)
      replay.rules->note_match(id, transfer, replay.waits->sides_of(id).receiver);
    if constexpr (kTimeOrdered<Rules>) return OrderedMessages<Rules>::request(replay, id);
    if constexpr (kMayNeedPresence<Rules>) {
      if (transfer.handshake_pending) {
        if (replay.rules->protocol(transfer.pair, transfer.bytes) >= Protocol::kPull) {
          // Computes the arrival.
          replay.presence.match(id, replay.rules->handshake_times(transfer));
          Handshakes<Rules>::take_arrivals(replay);
          return;
        }
        Handshakes<Rules>::drop(replay, id);
      }
    }
    replay.rules->matched(transfer);
  }

  /// The current call waits for one side of a message.
  RUBATO_HOT static void await(State& replay, TimelineState<K>& state, Awaited::Kind kind,
                               TransferId id) {
    state.awaited.push_message(kind, id);
    if constexpr (kMayNeedPresence<Rules>) {
      if (!replay.matcher[id].handshake_pending) return;
      if (kind == Awaited::Kind::kReceive) replay.presence.await_receive(id);
      if (kind == Awaited::Kind::kSend) replay.presence.await_send(id);
      Handshakes<Rules>::take_arrivals(replay);
    }
  }

  /// The common begin of all sends: `id` starts on its way, to a rank of any process.
  RUBATO_HOT static void start_send(State& replay, TimelineState<K>& state, const Call& call,
                                    const Action& action, TransferId id, PairClass pair,
                                    Transfer<K>& transfer) {
    transfer.has_send = true;
    transfer.synchronous = action.flags & kSynchronous;
    transfer.recorded_send = call.enter;
    transfer.pair = pair;
    if (replay.waits) replay.waits->send(id, state.enter, state.number, action.comm);
    ++replay.outcome.messages;
    replay.count_traffic(pair, action.message.bytes);
    replay.rules->send(state, call, action, transfer);
  }

  /// True when the rules need the completion of a send that does not wait for its receiver.
  RUBATO_HOT static bool is_watched(State& replay, const Transfer<K>& transfer,
                                    const Action& action) {
    if constexpr (kWatchesSends<Rules>) return replay.rules->watches(transfer, action);
    return false;
  }

  // --- A call that waits for one ---

  static bool is_ready(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    return awaited.transfer == kNoTransfer ||
           is_ready(replay, state.number, awaited.kind, awaited.transfer);
  }
  RUBATO_HOT static bool is_ready(State& replay, int timeline, Awaited::Kind kind, TransferId id) {
    Transfer<K>& transfer = replay.matcher[id];
    if (transfer.abandoned) return true;
    if (kind == Awaited::Kind::kReceive) {
      if (transfer.has_send && !Handshakes<Rules>::is_held_up(replay, id, transfer)) return true;
      transfer.waiting_receiver = timeline;
    } else {
      if (!transfer.sender_waits ||
          (transfer.has_post && !Handshakes<Rules>::is_held_up(replay, id, transfer)))
        return true;
      transfer.waiting_sender = timeline;
    }
    return false;
  }

  static void add_cause(State& replay, const TimelineState<K>&, const Call&, const Awaited& awaited,
                        typename WaitStates<K>::Causes& causes) {
    if (awaited.transfer == kNoTransfer) return;
    const Transfer<K>& transfer = replay.matcher[awaited.transfer];
    if (transfer.abandoned) return;
    const auto& sides = replay.waits->sides_of(awaited.transfer);
    if (awaited.kind == Awaited::Kind::kReceive) {
      causes.add(WaitKind::kLateSender, sides.send, WaitPattern::kLateSender, sides.sender,
                 sides.comm);
    } else if (transfer.sender_waits) {
      causes.add(WaitKind::kLateReceiver, transfer.posted, WaitPattern::kLateReceiver,
                 sides.receiver, sides.comm);
    }
  }

  static void raise_origin(State& replay, const TimelineState<K>&, const Call&,
                           const Awaited& awaited, const Waited&, Dated<K>& latest) {
    if (awaited.transfer == kNoTransfer) return;
    const Transfer<K>& transfer = replay.matcher[awaited.transfer];
    const bool receives = awaited.kind == Awaited::Kind::kReceive;
    if (transfer.abandoned || (!receives && !transfer.sender_waits)) return;
    const auto& sides = replay.waits->sides_of(awaited.transfer);
    // With a handshake, and where the sender is notified of the receive: the side that was ready
    // last.
    const double there = transfer.handshake
                             ? replay.rules->request_comes(transfer, Lanes<K>(sides.send))[0]
                             : transfer.arrival()[0];
    const bool by_receiver = (transfer.handshake || !receives) && transfer.posted[0] > there;
    latest.raise({receives ? replay.rules->received(transfer) : replay.rules->completion(transfer),
                  by_receiver ? Origin{sides.receiver, transfer.posted[0]}
                              : Origin{sides.sender, sides.send[0]}});
  }

  static void complete(State& replay, const TimelineState<K>& state, const Call& call,
                       const Awaited& awaited) {
    if (awaited.transfer != kNoTransfer)
      complete(replay, state, call, awaited.kind, awaited.transfer);
  }
  /// Completes the message that `call` waited for; the call leaves.
  RUBATO_HOT static void complete(State& replay, const TimelineState<K>& state, const Call& call,
                                  Awaited::Kind kind, TransferId id) {
    Transfer<K>& transfer = replay.matcher[id];
    double cause = 0;
    if (recorded_cause(kind, transfer, cause) && call.leave < cause)
      replay.count_violation(state.number, call, kind);
    if (kind == Awaited::Kind::kReceive) {
      if (transfer.misfits) [[unlikely]]
        count_misfit(replay, state.number, call, replay.matcher.take_misfit(id));
      replay.matcher.receiver_done(id, transfer);
    } else {
      replay.matcher.sender_done(id, transfer);
    }
  }

  static int partner(State& replay, const TimelineState<K>&, const Awaited& awaited) {
    const Route& route = replay.matcher.route(awaited.transfer);
    return awaited.kind == Awaited::Kind::kReceive ? route.source : route.destination;
  }

  /// (Only the scenario may introduce a rendezvous.)
  static bool may_lack_records(State& replay, const Awaited& awaited) {
    return Rules::kFollowsRecording || awaited.kind == Awaited::Kind::kReceive ||
           !replay.matcher[awaited.transfer].handshake;
  }

  static void release(State& replay, TimelineState<K>& state, const Awaited& awaited) {
    if (awaited.kind == Awaited::Kind::kReceive) {
      replay.matcher.abandon_receive(awaited.transfer);
      if constexpr (kTimeOrdered<Rules>) replay.rules->order().drop(awaited.transfer);
      Handshakes<Rules>::drop(replay, awaited.transfer);
    } else {
      replay.matcher[awaited.transfer].sender_waits = false;
    }
    replay.wake(state.number);
  }

  static std::string describe(State& replay, const Awaited& awaited, int other) {
    const bool receives = awaited.kind == Awaited::Kind::kReceive;
    const Route& route = replay.matcher.route(awaited.transfer);
    return (receives ? " waits for " : " waits to send ") +
           std::to_string(replay.matcher[awaited.transfer].bytes) + " bytes " +
           (receives ? "from rank " : "to rank ") + std::to_string(other) + " with tag " +
           std::to_string(route.tag) + " on communicator '" + replay.trace->comms[route.comm].name +
           "'";
  }

 private:
  /// Numbers the next send of `timeline` for rules that need its number, and drops a send that no
  /// receive matches.
  RUBATO_RARE static void number_send(State& replay, int timeline, TransferId id) {
    const size_t number = replay.sends[timeline]++;
    if constexpr (kFindsReceivers<Rules>) {
      replay.rules->number_send(timeline, number, replay.matcher[id]);
    } else {
      if (!replay.received->has_send(timeline, number)) replay.matcher.abandon_send(id);
    }
  }

  /// The recorded time of the event that a call waits for; false when it waits for nothing.
  RUBATO_HOT static bool recorded_cause(Awaited::Kind kind, const TransferFacts& transfer,
                                        double& cause) {
    if (transfer.abandoned || !transfer.has_send || !transfer.has_post) return false;
    // A non-synchronous send may have been eager: it can end before its receive is posted.
    if (kind == Awaited::Kind::kSend && !transfer.synchronous) return false;
    cause = kind == Awaited::Kind::kSend ? transfer.recorded_post : transfer.recorded_send;
    return true;
  }

  /// Counts a message whose two sides recorded different lengths.
  RUBATO_RARE static void count_misfit(State& replay, int timeline, const Call& call,
                                       const Misfit& misfit) {
    if (replay.outcome.misfits.count++ > 0) return;
    const Route& route = misfit.route;
    replay.outcome.misfits.first =
        replay.place(timeline, call) + ": " + std::to_string(misfit.received) +
        " bytes received, " + std::to_string(misfit.sent) + " sent by rank " +
        std::to_string(route.source) + " with tag " + std::to_string(route.tag) +
        " on communicator '" + replay.trace->comms[route.comm].name + "'";
  }
};

}  // namespace rubato
