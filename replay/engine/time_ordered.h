#pragma once

// Messages in the order of time; time_order.h explains when and why.

#include <algorithm>
#include <vector>

#include "replay/engine/dependency.h"
#include "replay/engine/one_sided_flows.h"
#include "replay/rules/ordered_rules.h"

namespace rubato {

template <class Rules>
struct OrderedMessages {
  static constexpr int K = Rules::kLanes;
  using State = ReplayState<Rules>;

  /// An event other than the enter of a call.
  static void happen(State& replay, const TimedEvent& event) {
    TimeOrder& time = replay.rules->order();
    const TransferId id = event.subject;
    switch (event.kind) {
      case TimedEvent::Kind::kTimer: {
        const TimeOrder::Arrived what = time.over(event);
        if (what.message != kNoTransfer) arrived(replay, what.message);
        if (what.collective != TimeOrder::kNone) part_arrived(replay, what.collective, what.part);
        if (what.operation != TimeOrder::kNone)
          OperationFlows<Rules>::arrive(replay, what.operation);
        return;
      }
      case TimedEvent::Kind::kOperation:
        return OperationFlows<Rules>::flow(replay, event.subject);
      case TimedEvent::Kind::kThere:
        return OperationFlows<Rules>::arrive(replay, event.subject);
      case TimedEvent::Kind::kLeft:
        return OperationFlows<Rules>::leave(replay, event.subject);
      case TimedEvent::Kind::kPart:
        return flow_part(replay, event);
      default:
        break;
    }
    TimeOrder::Message& message = time[id];
    if (message.version != event.version) return;  // the message was dropped
    switch (event.kind) {
      case TimedEvent::Kind::kEnvelope:
        return find_receive(replay, id);
      case TimedEvent::Kind::kRequest:
        if (time.finds_inside(message.receiver, event)) answer(replay, event);
        return;
      case TimedEvent::Kind::kAnswer:
        if (time.finds_inside(message.sender, event)) answer(replay, event);
        return;
      case TimedEvent::Kind::kStart:
        message.alone = time.now() + message.rest;
        if (message.lead > 0) {
          return time.push(time.now() + message.lead, TimedEvent::Kind::kPort, event.rank, id,
                           event.version);
        }
        [[fallthrough]];
      case TimedEvent::Kind::kPort: {
        const double start = replay.rules->take_port(replay.timelines[message.sender],
                                                     replay.matcher[id], time.now());
        if (start <= time.now()) break;
        message.rest = message.length;  // the whole length remains
        message.alone = start + (message.length - message.lead);
        return time.push(start, TimedEvent::Kind::kFlow, event.rank, id, event.version);
      }
      default:
        break;
    }
    const Route& route = replay.matcher.route(id);
    time.flow(id, route.source, route.destination, replay.matcher[id].pair.level(),
              static_cast<double>(replay.matcher[id].bytes));
  }

  static void answer_all(State& replay, const std::vector<TimedEvent>& asked) {
    for (const TimedEvent& event : asked) {
      if (replay.rules->order()[event.subject].version == event.version) answer(replay, event);
    }
  }

  /// The current call of `timeline` sent the message.
  static void sent(State& replay, int timeline, TransferId id) {
    const Transfer<K>& transfer = replay.matcher[id];
    if (transfer.abandoned) {  // no receive matches, but it still occupies the port
      replay.rules->take_port(replay.timelines[timeline], transfer, transfer.sent[0]);
      return;
    }
    TimeOrder& time = replay.rules->order();
    TimeOrder::Message& message = time[id];
    message.sender = timeline;
    message.partner = kNoTransfer;
    message.open = true;
    ++message.version;
    replay.rules->describe(transfer, message);
    if (!transfer.handshake) {
      time.push(transfer.sent[0], TimedEvent::Kind::kStart, replay.matcher.route(id).source, id,
                message.version);
    } else if (replay.rules->by_arrival()) {
      time.push(message.envelope, TimedEvent::Kind::kEnvelope, replay.matcher.route(id).source, id,
                message.version);
    }
  }

  /// The request to send of `id` has reached a receiver that has posted. Eager messages: no effect.
  static void request(State& replay, TransferId id) {
    const Transfer<K>& transfer = replay.matcher[id];
    if (!transfer.handshake) return;  // it flows already
    TimeOrder& time = replay.rules->order();
    const double ready = std::max(replay.rules->handshake_times(transfer).ready[0], time.now());
    const bool nobody_has_to_look = time[id].protocol == Protocol::kAsync;
    time.push(ready, nobody_has_to_look ? TimedEvent::Kind::kStart : TimedEvent::Kind::kRequest,
              replay.matcher.route(id).source, id, time[id].version);
  }

  // --- Collectives on a network with contention: rules/collective_plays.h ---

  /// Starts the messages of a collective (CollectiveInstance::play) that can start.
  static void start_flows(State& replay, int play) {
    replay.rules->plays().start_flows(play, [&](uint32_t message, double start) {
      replay.rules->order().push(start, TimedEvent::Kind::kPart,
                                 replay.rules->plays().message(play, message).rank,
                                 static_cast<uint32_t>(play), message);
    });
  }

  // --- By arrival: a send and a receive are separate transfers until they match ---

  /// A message was sent.
  static void offer(State& replay, TransferId id) {
    const Route& route = replay.matcher.route(id);
    for (const auto& found : replay.rules->arrivals().send(route.destination, route.comm, id,
                                                           {route.source, route.tag})) {
      pair(replay, found.send, found.receive);
    }
  }

  /// A receive was posted.
  static void ask(State& replay, TransferId id, const Action& action) {
    const Envelope asked{action.message.peer, action.message.tag, (action.flags & kAnySource) != 0,
                         (action.flags & kAnyTag) != 0};
    replay.outcome.wildcards += asked.any_source || asked.any_tag;
    replay.rules->order()[id].open = false;
    const Route& route = replay.matcher.route(id);
    for (const auto& found :
         replay.rules->arrivals().post(route.destination, route.comm, id, asked)) {
      pair(replay, found.send, found.receive);
    }
  }

 private:
  /// The process that a request to send, or the answer to it, needs is inside MPI.
  static void answer(State& replay, const TimedEvent& event) {
    TimeOrder& time = replay.rules->order();
    TimeOrder::Message& message = time[event.subject];
    const bool asks_sender =
        event.kind == TimedEvent::Kind::kRequest && message.protocol == Protocol::kPush;
    if (asks_sender) {
      return time.push(time.now() + message.handshake.answer[0], TimedEvent::Kind::kAnswer,
                       event.rank, event.subject, event.version);
    }
    if (event.kind == TimedEvent::Kind::kAnswer) {
      const double entered = time.entered(message.sender, event.time);
      message.rest = message.handshake.from_sender(Lanes<1>::Constant(event.time),
                                                   Lanes<1>::Constant(entered))[0];
    }
    time.push(time.now(), TimedEvent::Kind::kStart, event.rank, event.subject, event.version);
  }

  /// A message has arrived.
  static void arrived(State& replay, TransferId id) {
    TimeOrder& time = replay.rules->order();
    Transfer<K>& transfer = replay.matcher[id];
    transfer.arrival() = Lanes<K>::Constant(time.now());
    time[id].open = false;
    const double late = std::max(0.0, time.now() - time[id].alone);
    replay.rules->held_up(id, late);
    replay.wake(transfer.waiting_sender);
    replay.wake(transfer.waiting_receiver);
    const TransferId partner = time[id].partner;
    if (partner != kNoTransfer) {
      replay.rules->held_up(partner, late);
      replay.matcher[partner].arrival() = transfer.arrival();
      time[partner].open = false;
      replay.wake(replay.matcher[partner].waiting_receiver);
      replay.matcher.receiver_done(id);
    } else if (replay.rules->by_arrival()) {
      find_receive(replay, id);
    }
  }

  /// A message of a collective flows.
  static void flow_part(State& replay, const TimedEvent& part) {
    Flow flow = replay.rules->plays().message(static_cast<int>(part.subject), part.version);
    flow.alone = std::max(flow.alone, part.time + flow.length);
    replay.rules->order().flow_part(part, replay.pair_of(flow.rank, flow.destination).level(),
                                    flow);
  }

  /// A message of a collective has arrived.
  static void part_arrived(State& replay, uint32_t play, uint32_t part) {
    const auto number = static_cast<int>(play);
    replay.rules->plays().arrive(number, part, replay.rules->order().now());
    start_flows(replay, number);
    replay.rules->plays().wake([&](int timeline) { replay.wake(timeline); });
  }

  /// A message can be received.
  static void find_receive(State& replay, TransferId id) {
    const Route& route = replay.matcher.route(id);
    const auto pairs = replay.rules->arrivals().arrive(route.destination, route.comm, id,
                                                       {route.source, route.tag});
    for (const auto& found : pairs) {
      // Another message that becomes receivable together with `id` could not be received earlier.
      Transfer<K>& other = replay.matcher[found.send];
      if (found.send != id && !other.handshake)
        other.arrival() = other.arrival().max(replay.rules->order().now());
      pair(replay, found.send, found.receive);
    }
  }

  /// `send` matches `receive`: the two transfers become one message.
  static void pair(State& replay, TransferId send, TransferId receive) {
    TimeOrder& time = replay.rules->order();
    Transfer<K>& message = replay.matcher[send];
    Transfer<K>& post = replay.matcher[receive];
    const Route& taken = replay.matcher.route(send);
    Route& asked = replay.matcher.kept_route(receive);
    replay.outcome.rematched += asked.source != taken.source || asked.tag != taken.tag;
    asked.source = taken.source;
    asked.tag = taken.tag;
    message.has_post = true;
    message.posted = post.posted;
    message.recorded_post = post.recorded_post;
    post.has_send = true;
    post.bytes = message.bytes;
    post.pair = message.pair;
    post.recorded_send = message.recorded_send;
    post.synchronous = message.synchronous;
    post.handshake = message.handshake;
    post.arrival() = message.arrival();
    post.sender_done = true;  // the matched send is tracked by the other transfer
    if (replay.waits) replay.waits->join(send, receive);
    const bool under_way = time[send].open;
    const int receiver = time[receive].receiver;
    time[receive].open = under_way;
    time[send].partner = receive;
    time[send].receiver = receiver;
    if (under_way) return request(replay, send);
    replay.rules->held_up(receive, replay.rules->was_held_up(send));
    replay.wake(post.waiting_receiver);
    replay.wake(message.waiting_sender);
    replay.matcher.receiver_done(send);
  }
};

}  // namespace rubato
