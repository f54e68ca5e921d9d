#pragma once

// The part of the engine that runs in the order of time; time_order.h explains when and why.
// engine/time_ordered.cc compiles it for the rules that need this order.

#include <algorithm>

#include "replay/engine/first_taken.h"
#include "replay/engine/one_sided_flows.h"
#include "replay/engine/replay.h"
#include "replay/rules/ordered_rules.h"

namespace rubato {

template <class Rules>
void Replay<Rules>::run_in_order() requires kTimeOrdered<Rules> {
  for (;;) {
    while (!ready_.empty()) run_until_blocked(ready_.pop());
    const auto event = rules_->order().next();
    if (!event) return;
    happen(*event);
  }
}

template <class Rules>
bool Replay<Rules>::is_due(int timeline, const Call& call) requires kTimeOrdered<Rules> {
  TimeOrder& time = rules_->order();
  if (call.role == CallRole::kBegin) return true;
  if (time.due == timeline) {
    time.due = -1;
    return true;
  }
  TimelineState<K>& state = timelines_[timeline];
  if (has_unborn(state)) {  // threads that begin earlier go first
    Call nothing = call;
    nothing.role = CallRole::kMpi;
    nothing.leave = call.enter;
    begin_threads(timeline, nothing);
  }
  find_enter(timelines_[timeline], call);
  if (ready_.empty() && time.skip_to(state.enter[0])) return true;
  time.push(state.enter[0], TimedEvent::Kind::kCall, timeline, static_cast<uint32_t>(timeline));
  return false;
}

template <class Rules>
void Replay<Rules>::happen(const TimedEvent& event) requires kTimeOrdered<Rules> {
  TimeOrder& time = rules_->order();
  const TransferId id = event.subject;
  switch (event.kind) {
    case TimedEvent::Kind::kCall:
      time.due = event.rank;
      return run_until_blocked(event.rank);
    case TimedEvent::Kind::kTimer: {
      const TimeOrder::Arrived what = time.over(event);
      if (what.message != kNoTransfer) this->arrived(what.message);
      if (what.collective != TimeOrder::kNone) part_arrived(what.collective, what.part);
      if (what.operation != TimeOrder::kNone) operation_arrived(what.operation);
      return;
    }
    case TimedEvent::Kind::kOperation:
      return flow_operation(event.subject);
    case TimedEvent::Kind::kThere:
      return operation_arrived(event.subject);
    case TimedEvent::Kind::kLeft:
      return operation_left(event.subject);
    case TimedEvent::Kind::kPart:
      return flow_part(event);
    default:
      break;
  }
  TimeOrder::Message& message = time[id];
  if (message.version != event.version) return;  // the message was dropped
  switch (event.kind) {
    case TimedEvent::Kind::kEnvelope:
      return find_receive(id);
    case TimedEvent::Kind::kRequest:
      if (time.finds_inside(message.receiver, event)) answer(event);
      return;
    case TimedEvent::Kind::kAnswer:
      if (time.finds_inside(message.sender, event)) answer(event);
      return;
    case TimedEvent::Kind::kStart:
      message.alone = time.now() + message.rest;
      if (message.lead > 0) {
        return time.push(time.now() + message.lead, TimedEvent::Kind::kPort, event.rank, id,
                         event.version);
      }
      [[fallthrough]];
    case TimedEvent::Kind::kPort: {
      const double start = rules_->take_port(timelines_[message.sender], matcher_[id], time.now());
      if (start <= time.now()) break;
      message.rest = message.length;  // the whole length remains
      message.alone = start + (message.length - message.lead);
      return time.push(start, TimedEvent::Kind::kFlow, event.rank, id, event.version);
    }
    default:
      break;
  }
  const Route& route = matcher_.route(id);
  time.flow(id, route.source, route.destination, matcher_[id].pair.level(),
            static_cast<double>(matcher_[id].bytes));
}

template <class Rules>
void Replay<Rules>::answer(const TimedEvent& event) requires kTimeOrdered<Rules> {
  TimeOrder& time = rules_->order();
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

template <class Rules>
void Replay<Rules>::answer_all(const std::vector<TimedEvent>& asked) requires kTimeOrdered<Rules> {
  for (const TimedEvent& event : asked) {
    if (rules_->order()[event.subject].version == event.version) answer(event);
  }
}

template <class Rules>
void Replay<Rules>::sent(int timeline, TransferId id) requires kTimeOrdered<Rules> {
  const Transfer<K>& transfer = matcher_[id];
  if (transfer.abandoned) {  // no receive matches, but it still occupies the port
    rules_->take_port(timelines_[timeline], transfer, transfer.sent[0]);
    return;
  }
  TimeOrder& time = rules_->order();
  TimeOrder::Message& message = time[id];
  message.sender = timeline;
  message.partner = kNoTransfer;
  message.open = true;
  ++message.version;
  rules_->describe(transfer, message);
  if (!transfer.handshake) {
    time.push(transfer.sent[0], TimedEvent::Kind::kStart, matcher_.route(id).source, id,
              message.version);
  } else if (rules_->by_arrival()) {
    time.push(message.envelope, TimedEvent::Kind::kEnvelope, matcher_.route(id).source, id,
              message.version);
  }
}

template <class Rules>
void Replay<Rules>::request(TransferId id) requires kTimeOrdered<Rules> {
  const Transfer<K>& transfer = matcher_[id];
  if (!transfer.handshake) return;  // it flows already
  TimeOrder& time = rules_->order();
  const double ready = std::max(rules_->handshake_times(transfer).ready[0], time.now());
  const bool nobody_has_to_look = time[id].protocol == Protocol::kAsync;
  time.push(ready, nobody_has_to_look ? TimedEvent::Kind::kStart : TimedEvent::Kind::kRequest,
            matcher_.route(id).source, id, time[id].version);
}

template <class Rules>
void Replay<Rules>::arrived(TransferId id) requires kTimeOrdered<Rules> {
  TimeOrder& time = rules_->order();
  Transfer<K>& transfer = matcher_[id];
  transfer.arrival() = Lanes<K>::Constant(time.now());
  time[id].open = false;
  const double late = std::max(0.0, time.now() - time[id].alone);
  rules_->held_up(id, late);
  wake(transfer.waiting_sender);
  wake(transfer.waiting_receiver);
  const TransferId partner = time[id].partner;
  if (partner != kNoTransfer) {
    rules_->held_up(partner, late);
    matcher_[partner].arrival() = transfer.arrival();
    time[partner].open = false;
    wake(matcher_[partner].waiting_receiver);
    matcher_.receiver_done(id);
  } else if (rules_->by_arrival()) {
    find_receive(id);
  }
}

// --- Collectives on a network with contention: rules/collective_plays.h ---

template <class Rules>
void Replay<Rules>::start_flows(int play) requires kTimeOrdered<Rules> {
  rules_->plays().start_flows(play, [&](uint32_t message, double start) {
    const auto& what = rules_->plays().message(play, message);
    rules_->order().push(start, TimedEvent::Kind::kPart,
                         trace_->comms[what.comm].members[what.from], static_cast<uint32_t>(play),
                         message);
  });
}

template <class Rules>
void Replay<Rules>::flow_part(const TimedEvent& part) requires kTimeOrdered<Rules> {
  const auto& what = rules_->plays().message(static_cast<int>(part.subject), part.version);
  const Communicator& comm = trace_->comms[what.comm];
  const int source = comm.members[what.from];
  const int destination = comm.members[what.to];
  Flow flow{source, destination};
  flow.bytes = what.bytes;
  flow.data = what.wire.data;
  flow.port = what.wire.port;
  flow.alone = std::max(what.alone, part.time + what.length);
  rules_->order().flow_part(part, pair_of(source, destination).level(), flow);
}

template <class Rules>
void Replay<Rules>::part_arrived(uint32_t play, uint32_t part) requires kTimeOrdered<Rules> {
  const auto number = static_cast<int>(play);
  rules_->plays().arrive(number, part, rules_->order().now());
  start_flows(number);
  rules_->plays().wake([this](int timeline) { wake(timeline); });
}

// --- By arrival: a send and a receive are separate transfers until they match ---

template <class Rules>
void Replay<Rules>::offer(TransferId id) requires kTimeOrdered<Rules> {
  const Route& route = matcher_.route(id);
  for (const auto& found :
       rules_->arrivals().send(route.destination, route.comm, id, {route.source, route.tag})) {
    pair(found.send, found.receive);
  }
}

template <class Rules>
void Replay<Rules>::ask(TransferId id, const Action& action) requires kTimeOrdered<Rules> {
  const Envelope asked{action.message.peer, action.message.tag, (action.flags & kAnySource) != 0,
                       (action.flags & kAnyTag) != 0};
  outcome_.wildcards += asked.any_source || asked.any_tag;
  rules_->order()[id].open = false;
  const Route& route = matcher_.route(id);
  for (const auto& found : rules_->arrivals().post(route.destination, route.comm, id, asked)) {
    pair(found.send, found.receive);
  }
}

template <class Rules>
void Replay<Rules>::find_receive(TransferId id) requires kTimeOrdered<Rules> {
  const Route& route = matcher_.route(id);
  const auto pairs =
      rules_->arrivals().arrive(route.destination, route.comm, id, {route.source, route.tag});
  for (const auto& found : pairs) {
    // Another message that becomes receivable together with `id` could not be received earlier.
    Transfer<K>& other = matcher_[found.send];
    if (found.send != id && !other.handshake)
      other.arrival() = other.arrival().max(rules_->order().now());
    pair(found.send, found.receive);
  }
}

template <class Rules>
void Replay<Rules>::pair(TransferId send, TransferId receive) requires kTimeOrdered<Rules> {
  TimeOrder& time = rules_->order();
  Transfer<K>& message = matcher_[send];
  Transfer<K>& post = matcher_[receive];
  const Route& taken = matcher_.route(send);
  Route& asked = matcher_.kept_route(receive);
  outcome_.rematched += asked.source != taken.source || asked.tag != taken.tag;
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
  if (waits_) waits_->join(send, receive);
  const bool under_way = time[send].open;
  const int receiver = time[receive].receiver;
  time[receive].open = under_way;
  time[send].partner = receive;
  time[send].receiver = receiver;
  if (under_way) return request(send);
  rules_->held_up(receive, rules_->was_held_up(send));
  wake(post.waiting_receiver);
  wake(message.waiting_sender);
  matcher_.receiver_done(send);
}

}  // namespace rubato
