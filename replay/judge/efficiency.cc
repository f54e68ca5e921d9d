#include "replay/judge/efficiency.h"

#include <algorithm>

#include "replay/analyse/other_rows.h"
#include "replay/judge/conclusion.h"
#include "replay/judge/lost_cores.h"

namespace rubato {
namespace {

/// The factors, whether or not the recording can be trusted.
std::optional<Efficiency> factors(const Roles& roles, const ScenarioResult& scenario) {
  const ScenarioResult* perfect = roles.perfect;
  if (!perfect || !scenario.deadlock.empty() || perfect->ranks.empty()) return {};
  if (scenario.changes_compute || perfect->changes_compute) return {};
  if (roles.results->trace.calling_threads > 0 || !(scenario.elapsed > 0)) return {};
  const auto by_compute = [](const RankResult& a, const RankResult& b) {
    return a.compute < b.compute;
  };
  const auto busiest = std::max_element(perfect->ranks.begin(), perfect->ranks.end(), by_compute);
  const double most = busiest->compute;
  if (!(most > 0) || mean(perfect->ranks, &RankResult::not_recorded) > 0) return {};
  Efficiency e;
  e.busiest = static_cast<int>(busiest - perfect->ranks.begin());
  // (The mean of equal numbers may be larger than each by the last bit.)
  e.load_balance = std::min(1.0, mean(perfect->ranks, &RankResult::compute) / most);
  const double working = longest_work(*perfect);
  e.own_work = most / working;
  const double without_transfer = is_alone(*roles.results) ? scenario.elapsed : perfect->elapsed;
  e.serialisation = std::min(1.0, working / without_transfer);
  e.transfer = without_transfer / scenario.elapsed;
  return e;
}

}  // namespace

double longest_work(const ScenarioResult& scenario) {
  double most = 0;
  for (const RankResult& rank : scenario.ranks) most = std::max(most, rank.compute + rank.own_work);
  return most;
}

std::optional<Efficiency> efficiency(const Roles& roles, const ScenarioResult& scenario) {
  if (roles.results->trace.shared_cores || is_unexplained(roles)) return {};
  return factors(roles, scenario);
}

std::optional<JudgedEfficiency> judged_efficiency(const Roles& roles) {
  if (!roles.judged || !roles.perfect) return {};
  if (const std::optional<Efficiency> e = efficiency(roles, *roles.judged))
    return JudgedEfficiency{*e, roles.judged, false};
  if (!lacks_cores(roles) || !(mean(roles.measured->ranks, &RankResult::lost_core) > 0)) return {};
  const std::optional<Efficiency> e = factors(roles, *roles.perfect);
  return e ? std::optional(JudgedEfficiency{*e, roles.perfect, true}) : std::nullopt;
}

}  // namespace rubato
