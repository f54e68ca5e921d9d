#include "replay/observe/wait_patterns.h"

#include <algorithm>
#include <utility>

namespace rubato {

WaitPatterns::WaitPatterns(const TraceDefinitions& trace)
    : trace_(&trace), timelines_(trace.timelines()) {}

void WaitPatterns::begin() {
  timelines_.assign(trace_->timelines(), {});
}

void WaitPatterns::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  Timeline& own = timelines_[timeline];
  own.waited = waited;
  own.has_waited = waited.timeline >= 0 || waited.wait > 0;
}

void WaitPatterns::polled(int timeline, std::span<const PolledWait> polls, double begin,
                          const Waited& waited) {
  Timeline& own = timelines_[timeline];
  if (own.over) return;
  Waited loop = waited;
  loop.enter = begin;
  loop.wait = std::min(waited.cause, waited.enter) - begin;
  double all = 0;
  for (const PolledWait& each : polls) {
    add_to_pattern(own, each.call, loop, each.ticks);
    all += each.ticks;
  }
  if (all > 0) add_cause(timeline, loop, all);
}

void WaitPatterns::call(int timeline, const Call& call, const Block& /*block*/,
                        const Lanes<1>& /*clock_before*/, double /*recorded_before*/,
                        const Lanes<1>& /*enter*/, const Lanes<1>& /*leave*/) {
  Timeline& own = timelines_[timeline];
  if (call.role == CallRole::kInit) forget(timeline);
  if (call.role == CallRole::kFinalize) own.over = true;
  if (!std::exchange(own.has_waited, false) || own.over) return;
  const Waited& waited = own.waited;
  if (waited.pattern == WaitPattern::kLateSender && waited.timeline >= 0)
    find_wrong_order(own, waited);
  const double counts = waited.kept * waited.wait;
  if (!(counts > 0)) return;
  add_to_pattern(own, call.name, waited, counts);
  add_cause(timeline, waited, counts);
}

std::map<WaitPatterns::Key, WaitSum> WaitPatterns::waits() const {
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

void WaitPatterns::add_to_pattern(Timeline& own, uint16_t call, const Waited& waited,
                                  double counts) {
  if (!(counts > 0)) return;
  WaitSum& sum = own.waits[{call, waited.pattern}];
  ++sum.count;
  sum.ticks += counts;
  if (waited.pattern == WaitPattern::kLateSender) {
    own.late.push_back({waited.cause, counts, call});
    if (own.late.size() > kReceivesKept) own.late.pop_front();
  }
}

void WaitPatterns::find_wrong_order(Timeline& own, const Waited& received) {
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
