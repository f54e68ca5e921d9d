#include "replay/analyse/cause_summary.h"

#include <algorithm>

namespace rubato {

CauseSummary cause_summary(const WaitCauses& causes, const CriticalPath& path,
                           const TraceDefinitions& trace) {
  const auto seconds = [&](double ticks) { return ticks / trace.ticks_per_second; };
  const auto parts = [&](const std::map<uint16_t, double>& by_call) {
    CauseSummary::Parts named;
    for (const auto& [call, ticks] : by_call)
      named.emplace_back(trace.calls[call].name, seconds(ticks));
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return named;
  };
  CauseSummary summary;
  for (const auto& [key, sum] : causes.waits())
    summary.waits.push_back(
        {key.rank, trace.calls[key.call].name, key.pattern, sum.count, seconds(sum.ticks)});
  for (const auto& [pair, ticks] : causes.direct())
    summary.direct.push_back({pair.waiting, pair.causing, seconds(ticks)});
  for (const double ticks : causes.roots()) summary.roots.push_back(seconds(ticks));
  const PathSums sums = path.find();
  summary.elapsed = seconds(sums.elapsed);
  summary.late_start = seconds(sums.late_start);
  for (const double ticks : sums.compute) summary.compute.push_back(seconds(ticks));
  summary.calls = parts(sums.calls);
  summary.crossings = parts(sums.crossings);
  summary.hops = sums.hops;
  return summary;
}

}  // namespace rubato
