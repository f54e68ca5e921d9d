#include "replay/observe/wait_causes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rubato {

WaitCauses::WaitCauses(const TraceDefinitions& trace)
    : trace_(&trace), timelines_(trace.timelines()), roots_(trace.ranks()) {}

void WaitCauses::begin() {
  timelines_.assign(trace_->timelines(), {});
  roots_.assign(trace_->ranks(), 0);
}

void WaitCauses::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  Timeline& own = timelines_[timeline];
  own.waited = waited;
  own.has_waited = waited.timeline >= 0 || waited.wait > 0;
}

void WaitCauses::polled(int timeline, std::span<const PolledWait> polls, double begin,
                        const Waited& waited) {
  if (timelines_[timeline].over) return;
  Waited loop = waited;
  loop.enter = begin;
  loop.wait = std::min(waited.cause, waited.enter) - begin;
  double all = 0;
  for (const PolledWait& each : polls) {
    add_wait(timeline, each.call, loop, each.ticks);
    all += each.ticks;
  }
  add_root(timeline, loop, all);
}

void WaitCauses::call(int timeline, const Call& call, const Block& /*block*/,
                      const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                      const Lanes<1>& /*enter*/, const Lanes<1>& /*leave*/) {
  Timeline& own = timelines_[timeline];
  if (call.role == CallRole::kInit) forget(own);
  if (call.role == CallRole::kFinalize) own.over = true;
  if (!std::exchange(own.has_waited, false) || own.over) return;
  const Waited& waited = own.waited;
  if (waited.pattern == WaitPattern::kLateSender && waited.timeline >= 0)
    find_wrong_order(timeline, waited);
  if (waited.wait <= 0) return;
  add_wait(timeline, call.name, waited, waited.kept * waited.wait);
  add_root(timeline, waited, waited.kept * waited.wait);
}

void WaitCauses::forget(Timeline& timeline) {
  for (const Segment& each : timeline.segments) roots_[each.root] -= each.ticks;
  timeline = {};
}

std::map<WaitCauses::Key, WaitSum> WaitCauses::waits() const {
  std::map<Key, WaitSum> all;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    for (const auto& [call, sum] : timelines_[timeline].waits) {
      WaitSum& of_rank = all[{trace_->rank_of(timeline), call.first, call.second}];
      of_rank.count += sum.count;
      of_rank.ticks += sum.ticks;
    }
  }
  return all;
}

std::map<WaitCauses::Pair, double> WaitCauses::direct() const {
  std::map<Pair, double> pairs;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    for (const auto& [causing, ticks] : timelines_[timeline].direct)
      pairs[{trace_->rank_of(timeline), causing}] += ticks;
  }
  return pairs;
}

void WaitCauses::add_direct(Timeline& waiting, int causing, double ticks) {
  std::map<int, double>& causes = waiting.direct;
  causes[causing] += ticks;
  if (causes.size() <= kMostCauses) return;
  std::vector<double> sums;
  for (const auto& [rank, sum] : causes) sums.push_back(sum);
  const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 2);
  std::nth_element(sums.begin(), middle, sums.end());
  std::erase_if(causes, [&](const auto& entry) { return entry.second < *middle; });
  // (Of equal ones, the last ranks are removed.)
  while (causes.size() > kMostCauses) causes.erase(std::prev(causes.end()));
}

void WaitCauses::add_wait(int timeline, uint16_t call, const Waited& waited, double counts) {
  if (counts <= 0) return;
  Timeline& own = timelines_[timeline];
  WaitSum& sum = own.waits[{call, waited.pattern}];
  ++sum.count;
  sum.ticks += counts;
  if (waited.pattern == WaitPattern::kLateSender) {
    own.late.push_back({waited.cause, counts, call});
    if (own.late.size() > kReceivesKept) own.late.pop_front();
  }
}

void WaitCauses::add_root(int timeline, const Waited& waited, double counts) {
  if (counts <= 0 || waited.timeline < 0) return;
  Timeline& own = timelines_[timeline];
  const int causing = trace_->rank_of(waited.timeline);
  add_direct(own, causing, counts);

  const double part = counts / waited.wait;
  const double end = waited.enter + waited.wait;
  double done = waited.enter;
  // The part that the cause itself waited belongs to other ranks.
  if (waited.timeline != timeline) {
    const std::deque<Segment>& theirs = timelines_[waited.timeline].segments;
    auto segment = std::partition_point(theirs.begin(), theirs.end(), [&](const Segment& before) {
      return before.end <= waited.enter;
    });
    for (; segment != theirs.end() && segment->begin < end; ++segment) {
      const double begin = std::max(segment->begin, done);
      add_segment(own, done, begin, causing, part);
      done = std::min(segment->end, end);
      add_segment(own, begin, done, segment->root, part);
    }
  }
  add_segment(own, done, end, causing, part);
}

void WaitCauses::add_segment(Timeline& to, double begin, double end, int root, double part) {
  if (!(end > begin)) return;
  const double ticks = part * (end - begin);
  roots_[root] += ticks;
  if (!to.segments.empty() && to.segments.back().end == begin && to.segments.back().root == root) {
    to.segments.back().end = end;
    to.segments.back().ticks += ticks;
    return;
  }
  to.segments.push_back({begin, end, root, ticks});
  if (to.segments.size() > kSegmentsKept) to.segments.pop_front();
}

void WaitCauses::find_wrong_order(int timeline, const Waited& received) {
  Timeline& own = timelines_[timeline];
  std::deque<LateSend>& sends = own.late;
  // Their causes are in the order of time: each comes after the previous call.
  if (sends.empty() || received.cause >= sends.back().cause) return;
  std::erase_if(sends, [&](const LateSend& late) {
    // Not a message of the same call: received.enter comes after the wait.
    if (!(received.cause < late.cause) || received.enter < late.cause) return false;
    const auto from = own.waits.find({late.call, WaitPattern::kLateSender});
    from->second.ticks -= late.wait;
    if (--from->second.count == 0) own.waits.erase(from);
    WaitSum& to = own.waits[{late.call, WaitPattern::kWrongOrder}];
    ++to.count;
    to.ticks += late.wait;
    return true;
  });
}

}  // namespace rubato
