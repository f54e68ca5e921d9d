#include "replay/observe/wait_causes.h"

#include <algorithm>
#include <iterator>

namespace rubato {

WaitCauses::WaitCauses(const TraceDefinitions& trace)
    : WaitPatterns(trace), timelines_(trace.timelines()), roots_(trace.ranks()) {}

void WaitCauses::begin() {
  WaitPatterns::begin();
  timelines_.assign(trace_->timelines(), {});
  roots_.assign(trace_->ranks(), 0);
}

void WaitCauses::forget(int timeline) {
  WaitPatterns::forget(timeline);
  for (const Segment& each : timelines_[timeline].segments) roots_[each.root] -= each.ticks;
  timelines_[timeline] = {};
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

void WaitCauses::add_cause(int timeline, const Waited& waited, double counts) {
  if (waited.timeline < 0) return;
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

}  // namespace rubato
