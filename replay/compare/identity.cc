#include "replay/compare/identity.h"

#include <algorithm>

namespace rubato {

double Warp::operator()(double time) const {
  if (knots_.empty()) return time;
  const auto after = std::upper_bound(knots_.begin(), knots_.end(), time,
                                      [](double t, const Knot& knot) { return t < knot.from; });
  if (after == knots_.begin()) return after->to - (after->from - time);
  const Knot& before = *(after - 1);
  if (after == knots_.end()) return before.to + (time - before.from);
  const double recorded = after->from - before.from;
  const double replayed = after->to - before.to;
  if (replayed == recorded) return before.to + (time - before.from);
  return before.to + (time - before.from) * (replayed / recorded);
}

double retimed(const Record& record, const Call& call, double recorded_before, double clock_before,
               double enter, double leave) {
  switch (record.phase) {
    case RecordPhase::kHead:
      return std::min(leave, enter + (record.time - call.enter));
    case RecordPhase::kTail:
      return std::max(enter, leave - (call.leave - record.time));
    case RecordPhase::kBetween:
      break;
  }
  const double recorded = call.enter - recorded_before;
  const double replayed = enter - clock_before;
  if (replayed == recorded) return clock_before + (record.time - recorded_before);
  return clock_before + (record.time - recorded_before) * (replayed / recorded);
}

IdentityCheck::IdentityCheck(const TraceDefinitions& trace)
    : trace_(&trace), warps_(trace.ranks()), has_side_location_(trace.ranks()) {
  for (const SideLocation& side : trace.side_locations) has_side_location_[side.rank] = 1;
}

bool IdentityCheck::differs(double recorded, double replayed) {
  ++result_.records;
  const double difference = std::abs(recorded - replayed);
  if (difference == 0) return false;
  result_.worst_ticks = std::max(result_.worst_ticks, difference);
  return result_.differing++ == 0;
}

void IdentityCheck::call(int timeline, const Call& call, const Block& block,
                         const Lanes<1>& clock_before, double recorded_before,
                         const Lanes<1>& enter, const Lanes<1>& leave) {
  for (const Record& record : block.records_of(call)) {
    const double replayed =
        retimed(record, call, recorded_before, clock_before[0], enter[0], leave[0]);
    if (!differs(record.time, replayed)) continue;
    result_.first = trace_->name_of(timeline) + ", event " + std::to_string(call.event) + " (" +
                    trace_->calls[call.name].name + ")";
  }
  if (timeline >= trace_->ranks() || !has_side_location_[timeline]) return;
  warps_[timeline].add(call.enter, enter[0]);
  warps_[timeline].add(call.leave, leave[0]);
}

IdentityResult IdentityCheck::finish(EventSource& source,
                                     const std::function<bool(int rank)>& is_local) {
  for (const SideLocation& side : trace_->side_locations) {
    if (!is_local(side.rank)) continue;
    for (const double time : source.side_records(side)) {
      if (!differs(time, warps_[side.rank](time))) continue;
      result_.first = "location " + std::to_string(side.id);
    }
  }
  return result_;
}

}  // namespace rubato
