#include "replay/rules/presence.h"

#include <algorithm>

namespace rubato {

// --- What timelines do ---

void Presence::enter(int timeline, double time) {
  Timeline& state = timelines_[timeline];
  state.inside = true;
  state.enter = time;
  ask_again(state);
}

void Presence::leave(int timeline, double time) {
  Timeline& state = timelines_[timeline];
  state.inside = false;
  if (state.interested == 0) return;
  state.stays.push_back({state.enter, time});
  ask_again(state);
}

void Presence::end(int timeline) {
  timelines_[timeline].ended = true;
  ask_again(timelines_[timeline]);
}

// --- What happens to a message ---

void Presence::send(TransferId message, int timeline, Protocol protocol) {
  if (protocol == Protocol::kPush) return begin(message, kSender, timeline, protocol);
  const auto posted = messages_.find(message);
  if (posted != messages_.end()) posted->second.protocol = protocol;
}

void Presence::post(TransferId message, int timeline, Protocol protocol) {
  begin(message, kReceiver, timeline, protocol);
}

void Presence::begin(TransferId id, Side side, int timeline, Protocol protocol) {
  Message& message = messages_[id];
  message.protocol = protocol;
  message.timeline[side] = timeline;
  message.posting_call[side] = timelines_[timeline].current_call();
  ++timelines_[timeline].interested;
}

void Presence::await(TransferId id, Side side) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return;
  Message& message = found->second;
  message.awaited[side] = true;
  if (!message.matched || message.asked != side) return;
  stop_waiting(id, message);
  ask(id, message);
}

void Presence::leave_send(TransferId id) {
  const auto found = messages_.find(id);
  if (found != messages_.end()) found->second.awaited[kSender] = false;
}

void Presence::match(TransferId id, const HandshakeTimes& handshake) {
  Message& message = messages_.at(id);
  message.matched = true;
  message.since = handshake.ready;
  message.handshake = handshake;
  ask(id, message);
}

void Presence::drop(TransferId id) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return;
  for (const int timeline : found->second.timeline) {
    if (timeline >= 0) lose_interest(timeline);
  }
  messages_.erase(found);
}

// --- Asking ---

void Presence::ask(TransferId id, Message& message) {
  Timeline& timeline = timelines_[message.timeline[message.asked]];
  const double since = message.since;
  if (timeline.always) return serve(id, message, kAlways);
  const size_t first = message.posting_call[message.asked] - timeline.first_number;
  const auto stay = std::lower_bound(
      timeline.stays.begin() + static_cast<std::ptrdiff_t>(first), timeline.stays.end(), since,
      [](const Stay& before, double time) { return before.leave < time; });
  if (stay != timeline.stays.end()) return serve(id, message, stay->enter);
  if (timeline.ended) return serve(id, message, kAlways);
  if (timeline.inside && (message.awaited[message.asked] || since <= timeline.enter))
    return serve(id, message, timeline.enter);
  timeline.waiting.push_back(id);
  waiting_.insert({since, id});
}

void Presence::ask_again(Timeline& timeline) {
  for (const TransferId id : std::exchange(timeline.waiting, {})) {
    Message& message = messages_.at(id);
    waiting_.erase({message.since, id});
    ask(id, message);
  }
}

void Presence::stop_waiting(TransferId id, const Message& message) {
  if (waiting_.erase({message.since, id}) == 0) return;
  std::erase(timelines_[message.timeline[message.asked]].waiting, id);
}

void Presence::serve(TransferId id, Message& message, double enter) {
  lose_interest(message.timeline[message.asked]);
  const HandshakeTimes& handshake = message.handshake;
  const double time = std::max(message.since, enter);
  if (message.asked == kReceiver && message.protocol == Protocol::kPush) {
    message.asked = kSender;
    message.since = time + handshake.answer;
    return ask(id, message);
  }
  const double left = message.asked == kReceiver ? handshake.answer + handshake.data
                                                 : handshake.from_sender(message.since, enter);
  arrivals_.push_back({id, time + left});
  messages_.erase(id);
}

void Presence::lose_interest(int timeline) {
  Timeline& state = timelines_[timeline];
  if (--state.interested > 0) return;
  state.first_number += state.stays.size();
  state.stays.clear();
}

bool Presence::serve_earliest() {
  if (waiting_.empty()) return false;
  const TransferId id = waiting_.begin()->second;
  Message& message = messages_.at(id);
  stop_waiting(id, message);
  const Timeline& timeline = timelines_[message.timeline[message.asked]];
  serve(id, message, timeline.enter);
  return true;
}

}  // namespace rubato
