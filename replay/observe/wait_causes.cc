#include "replay/observe/wait_causes.h"

#include <algorithm>

namespace rubato {

WaitCauses::WaitCauses(const TraceDefinitions& trace)
    : trace_(&trace), timelines_(trace.timelines()), roots_(trace.ranks()) {}

void WaitCauses::begin() {
  timelines_.assign(trace_->timelines(), {});
  waits_.clear();
  direct_.clear();
  roots_.assign(trace_->ranks(), 0);
}

void WaitCauses::call(int timeline, const Call& call, const Block& /*block*/,
                      const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                      const Lanes<1>& /*enter*/, const Lanes<1>& /*leave*/) {
  if (call.role == CallRole::kInit) forget(timeline);
  if (call.role == CallRole::kFinalize) timelines_[timeline].over = true;
}

void WaitCauses::forget(int timeline) {
  Timeline& own = timelines_[timeline];
  for (const Segment& each : own.segments) roots_[each.root] -= each.end - each.begin;
  own.segments.clear();
  own.late.clear();
  const int rank = trace_->rank_of(timeline);
  std::erase_if(waits_, [&](const auto& entry) { return entry.first.rank == rank; });
  std::erase_if(direct_, [&](const auto& entry) { return entry.first.waiting == rank; });
}

void WaitCauses::waited(int timeline, const Call& call, const Waited& waited) {
  Timeline& own = timelines_[timeline];
  if (own.over) return;
  if (waited.pattern == WaitPattern::kLateSender && waited.timeline >= 0)
    find_wrong_order(timeline, waited);
  if (waited.wait <= 0) return;
  const int rank = trace_->rank_of(timeline);
  WaitSum& sum = waits_[{rank, call.name, waited.pattern}];
  ++sum.count;
  sum.ticks += waited.wait;
  if (waited.pattern == WaitPattern::kLateSender) {
    own.late.push_back({waited.cause, waited.wait, call.name});
    if (own.late.size() > kReceivesKept) own.late.pop_front();
  }
  if (waited.timeline < 0) return;
  const int causing = trace_->rank_of(waited.timeline);
  direct_[{rank, causing}] += waited.wait;

  const double end = waited.enter + waited.wait;
  double done = waited.enter;
  // What the cause waited for itself is not its own doing.
  if (waited.timeline != timeline) {
    const std::deque<Segment>& theirs = timelines_[waited.timeline].segments;
    auto segment = std::partition_point(theirs.begin(), theirs.end(), [&](const Segment& before) {
      return before.end <= waited.enter;
    });
    for (; segment != theirs.end() && segment->begin < end; ++segment) {
      const double begin = std::max(segment->begin, done);
      add_segment(own, done, begin, causing);
      done = std::min(segment->end, end);
      add_segment(own, begin, done, segment->root);
    }
  }
  add_segment(own, done, end, causing);
}

void WaitCauses::add_segment(Timeline& to, double begin, double end, int root) {
  if (!(end > begin)) return;
  roots_[root] += end - begin;
  if (!to.segments.empty() && to.segments.back().end == begin && to.segments.back().root == root) {
    to.segments.back().end = end;
    return;
  }
  to.segments.push_back({begin, end, root});
  if (to.segments.size() > kSegmentsKept) to.segments.pop_front();
}

void WaitCauses::find_wrong_order(int timeline, const Waited& received) {
  std::deque<LateSend>& sends = timelines_[timeline].late;
  // Their causes are in the order of time: each lies behind the call before.
  if (sends.empty() || received.cause >= sends.back().cause) return;
  const int rank = trace_->rank_of(timeline);
  std::erase_if(sends, [&](const LateSend& late) {
    // Not a message of the same call: received.enter lies behind the wait.
    if (!(received.cause < late.cause) || received.enter < late.cause) return false;
    const auto from = waits_.find({rank, late.call, WaitPattern::kLateSender});
    from->second.ticks -= late.wait;
    if (--from->second.count == 0) waits_.erase(from);
    WaitSum& to = waits_[{rank, late.call, WaitPattern::kWrongOrder}];
    ++to.count;
    to.ticks += late.wait;
    return true;
  });
}

}  // namespace rubato
