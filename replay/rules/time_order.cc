#include "replay/rules/time_order.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rubato {
namespace {

std::unique_ptr<Contention> make_contention(const ContentionModel& model, int nodes) {
  switch (model.kind) {
    case ContentionKind::kDegradation:
      return std::make_unique<Degradation>(model.degradation_ratio, nodes);
    case ContentionKind::kBuses:
      return std::make_unique<Buses>(model, nodes);
    case ContentionKind::kNone:
      break;
  }
  return nullptr;
}

}  // namespace

TimeOrder::TimeOrder(int timelines, Placement placement, const ContentionModel& model)
    : placement_(std::move(placement)),
      contention_(make_contention(model, placement_.nodes())),
      now_(-std::numeric_limits<double>::infinity()),
      presence_(timelines) {
  if (contention_) contended_ = model.levels;
}

void TimeOrder::push(double time, Kind kind, int rank, uint32_t subject, uint32_t version) {
  events_.push({time, kind, rank, ++numbers_, subject, version});
}

std::optional<TimeOrder::Event> TimeOrder::next() {
  if (events_.empty()) return {};
  Event event = events_.top();
  events_.pop();
  now_ = event.time = std::max(now_, event.time);
  return event;
}

bool TimeOrder::skip_to(double time) {
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

void TimeOrder::flow(TransferId id, int source, int destination, Level level) {
  uint32_t number = static_cast<uint32_t>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
  } else {
    number = free_flows_.back();
    free_flows_.pop_back();
  }
  const Message& message = messages_[id];
  const double length = message.rest - message.lead;
  Contention& contention = contended_[static_cast<int>(level)] ? *contention_ : free_;
  flows_[number] = {id, message.version, source, &contention, 0};
  contention.start(number,
                   {source, placement_.node_of(source), placement_.node_of(destination), length,
                    std::min(message.data, length), message.alone},
                   now_);
  take_timers(contention);
}

void TimeOrder::take_timers(Contention& contention) {
  for (const Contention::Timer& timer : contention.take_timers()) {
    ++flows_[timer.flow].timers;
    push(timer.time, Kind::kTimer, flows_[timer.flow].rank, timer.flow, timer.version);
  }
}

TransferId TimeOrder::over(const Event& timer) {
  const uint32_t number = timer.subject;
  Contention& contention = *flows_[number].contention;
  const bool arrives = contention.over({timer.time, number, timer.version});
  const TransferId id = flows_[number].message;
  const uint32_t version = flows_[number].version;
  --flows_[number].timers;
  if (arrives) flows_[number].message = kNoTransfer;
  take_timers(contention);
  UnderWay& flow = flows_[number];
  if (flow.message == kNoTransfer && flow.timers == 0) free_flows_.push_back(number);
  return arrives && messages_[id].version == version ? id : kNoTransfer;
}

// --- Who is inside MPI ---

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
    if (time < now_) return now_;  // it ended only now
  }
  return -std::numeric_limits<double>::infinity();
}

}  // namespace rubato
