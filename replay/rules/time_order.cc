#include "replay/rules/time_order.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rubato {

TimeOrder::TimeOrder(int timelines, Placement placement, const ContentionSetting& contention,
                     double ticks_per_second)
    : placement_(std::move(placement)),
      shared_(contention.make_network(placement_, ticks_per_second)),
      now_(-std::numeric_limits<double>::infinity()),
      presence_(timelines) {
  if (!shared_) return;
  contended_ = contention.levels;
  shared_->count_loads();
}

void TimeOrder::push(double time, Kind kind, int rank, uint32_t subject, uint32_t version) {
  events_.push({time, kind, rank, ++numbers_, subject, version});
}

void TimeOrder::settle() {
  if (!shared_) return;
  shared_->settle(now_);
  take_timers(*shared_);
}

std::optional<TimeOrder::Event> TimeOrder::next() {
  if (events_.empty() || events_.top().time > now_) settle();
  if (events_.empty()) return {};
  Event event = events_.top();
  events_.pop();
  now_ = event.time = std::max(now_, event.time);
  return event;
}

bool TimeOrder::skip_to(double time) {
  if (!events_.empty() && events_.top().time <= time) return false;
  if (time > now_) settle();
  if (!events_.empty() && events_.top().time <= time) return false;
  now_ = std::max(now_, time);
  return true;
}

void TimeOrder::drop(TransferId id) {
  if (id >= messages_.size()) return;
  messages_[id].open = false;
  ++messages_[id].version;
}

// --- Flows ---

uint32_t TimeOrder::new_flow() {
  if (free_flows_.empty()) {
    flows_.emplace_back();
    return static_cast<uint32_t>(flows_.size() - 1);
  }
  const uint32_t number = free_flows_.back();
  free_flows_.pop_back();
  return number;
}

void TimeOrder::flow(TransferId id, int source, int destination, Level level, double bytes) {
  const Message& message = messages_[id];
  Flow flow{source, destination};
  flow.length = message.rest - message.lead;
  flow.data = std::min(message.data, flow.length);
  // A push may start before its sender can have seen the answer: only the rest flows.
  const bool is_under_way = message.protocol == Protocol::kPush && flow.data < message.data;
  const double left = is_under_way ? flow.data / message.data : 1;
  flow.bytes = bytes * left;
  flow.port = std::min(message.port * left, flow.data);
  flow.alone = message.alone;
  begin({id, message.version, source, Subject::kMessage}, level, flow);
}

void TimeOrder::flow(uint32_t operation, Level level, const Flow& flow) {
  if (operation >= flow_of_.size()) flow_of_.resize(operation + 1);
  flow_of_[operation] = begin({operation, 0, flow.rank, Subject::kOperation}, level, flow);
}

bool TimeOrder::held_up(uint32_t operation) const {
  const uint32_t number = flow_of_[operation];
  return flows_[number].shares && shared_->held_up(number, now_);
}

uint32_t TimeOrder::begin(UnderWay what, Level level, Flow flow) {
  const uint32_t number = new_flow();
  what.shares = contended_[static_cast<int>(level)];
  Network& network = network_of(what);
  flows_[number] = what;
  flow.from = placement_.network_node_of(flow.rank);
  flow.to = placement_.network_node_of(flow.destination);
  network.start(number, flow, now_);
  take_timers(network);
  return number;
}

void TimeOrder::take_timers(Network& network) {
  for (const Network::Timer& timer : network.take_timers()) {
    ++flows_[timer.flow].timers;
    push(timer.time, Kind::kTimer, flows_[timer.flow].rank, timer.flow, timer.version);
  }
}

TimeOrder::Arrived TimeOrder::over(const Event& timer) {
  const uint32_t number = timer.subject;
  Network& network = network_of(flows_[number]);
  const bool arrives = network.over({timer.time, number, timer.version});
  --flows_[number].timers;
  const UnderWay flow = flows_[number];
  if (arrives) flows_[number].kind = Subject::kNothing;
  take_timers(network);
  if (flows_[number].kind == Subject::kNothing && flows_[number].timers == 0)
    free_flows_.push_back(number);
  if (!arrives) return {};
  Arrived arrived;
  if (flow.kind == Subject::kOperation) {
    arrived.operation = flow.subject;
  } else if (flow.kind == Subject::kPart) {
    arrived.collective = flow.subject;
    arrived.part = flow.version;
  } else if (messages_[flow.subject].version == flow.version) {
    arrived.message = flow.subject;
  }
  return arrived;
}

// --- Messages of collectives ---

void TimeOrder::flow_part(const Event& part, Level level, Flow flow) {
  flow.length = flow.alone - part.time;
  begin({part.subject, part.version, flow.rank, Subject::kPart}, level, flow);
}

// --- Presence inside MPI ---

std::vector<TimeOrder::Event> TimeOrder::enter(int timeline) {
  presence_[timeline].inside = true;
  presence_[timeline].since = now_;
  return std::exchange(presence_[timeline].asked, {});
}

void TimeOrder::leave(int timeline, double time) {
  presence_[timeline].inside = false;
  presence_[timeline].until = time;
}

std::vector<TimeOrder::Event> TimeOrder::end(int timeline) {
  presence_[timeline].ended = true;
  return std::exchange(presence_[timeline].asked, {});
}

bool TimeOrder::finds_inside(int timeline, const Event& event) {
  Presence& presence = presence_[timeline];
  if (presence.always || presence.ended || presence.inside || event.time <= presence.until)
    return true;
  presence.asked.push_back(event);
  return false;
}

double TimeOrder::entered(int timeline, double time) const {
  const Presence& presence = presence_[timeline];
  if (!presence.always) {
    if (presence.inside || time <= presence.until) return presence.since;
    if (time < now_) return now_;  // the stay ended just now
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace rubato
