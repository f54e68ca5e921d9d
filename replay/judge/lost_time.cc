#include "replay/judge/lost_time.h"

#include <algorithm>

#include "replay/analyse/other_rows.h"
#include "replay/judge/efficiency.h"
#include "replay/judge/lost_cores.h"

namespace rubato {
namespace {

/// Recorded seconds of the mean rank in kept calls.
double kept_time(const Roles& roles) {
  double kept = 0;
  for (const KeptCall& call : roles.results->trace.kept) kept += call.time;
  return kept / static_cast<double>(roles.perfect->ranks.size());
}

/// Seconds of the mean rank before it begins and after it ends.
double time_apart(const Roles& roles) {
  return mean(roles.perfect->ranks, &RankResult::before) +
         mean(roles.perfect->ranks, &RankResult::after);
}

/// Seconds of the mean rank.
double waits_for_receivers(const ScenarioResult& scenario) {
  double waits = 0;
  for (const RankResult& rank : scenario.ranks)
    waits += rank.waits[static_cast<int>(WaitKind::kLateReceiver)];
  return waits / static_cast<double>(scenario.ranks.size());
}

/// As much of `seconds` as is left, which it takes away.
double taken(double seconds, double& left) {
  const double part = std::clamp(seconds, 0.0, std::max(0.0, left));
  left -= part;
  return part;
}

}  // namespace

std::optional<LostTime> lost_time(const Roles& roles) {
  const std::optional<JudgedEfficiency> judged = judged_efficiency(roles);
  if (!judged) return {};
  const ScenarioResult& run = *roles.judged;
  const ScenarioResult& perfect = *roles.perfect;
  const double longest = perfect.ranks[judged->factors.busiest].compute;
  LostTime lost;
  lost.elapsed = run.elapsed;
  lost.imbalance = longest - mean(perfect.ranks, &RankResult::compute);
  double beyond = perfect.elapsed - longest;
  lost.own_work = taken(longest_work(perfect) - longest, beyond);
  lost.kept = taken(kept_time(roles), beyond);
  lost.apart = taken(time_apart(roles), beyond);
  lost.chains = std::max(0.0, beyond);
  if (lost_cores(roles)) {
    lost.lost_cores = &run == roles.undisturbed
                          ? std::max(0.0, roles.measured->elapsed - run.elapsed)
                          : mean(roles.measured->ranks, &RankResult::lost_core);
  }
  lost.network_unknown = judged->without_lost_cores;
  if (lost.network_unknown) return lost;
  double transfer = run.elapsed - perfect.elapsed;
  if (&run == roles.measured)
    lost.tracing =
        taken(mean(run.ranks, &RankResult::compute) - mean(perfect.ranks, &RankResult::compute),
              transfer);
  lost.late_receivers = taken(waits_for_receivers(run) - waits_for_receivers(perfect), transfer);
  (is_alone(*roles.results) ? lost.tracing : lost.messages) += std::max(0.0, transfer);
  return lost;
}

}  // namespace rubato
