#include "replay/judge/efficiency.h"

#include <algorithm>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/conclusion.h"
#include "replay/judge/lost_cores.h"
#include "replay/study/run_replay.h"

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

bool has_efficiencies_over_time(const Results& results) {
  const ScenarioResult& run = results.scenarios.front();
  return run.deadlock.empty() && !run.changes_compute && results.trace.calling_threads == 0 &&
         run.elapsed > 0 && mean(run.ranks, &RankResult::not_recorded) == 0;
}

WindowMarks window_marks(const TraceDefinitions& trace, const ScenarioResult& run) {
  const double ticks = trace.ticks_per_second;
  return {trace, run.start * ticks, run.elapsed * ticks, EfficienciesOverTime::kFine};
}

EfficienciesOverTime efficiencies_over_time(EventSource& source, const WindowMarks& marks,
                                            const ScenarioResult& run, ReplayOptions options) {
  WindowTimes times(source.definitions(), marks);
  options.verify = false;
  options.wait_states = false;
  options.observers = {&times};
  const Results results = run_replay(source, {parse_scenario("perfect")}, options);
  const ScenarioResult& perfect = results.scenarios.front();
  if (!perfect.deadlock.empty() || !(mean(perfect.ranks, &RankResult::compute) > 0)) return {};
  constexpr int kJoined = EfficienciesOverTime::kFine / EfficienciesOverTime::kCoarse;
  return {window_efficiencies(marks, times, run, perfect),
          window_efficiencies(marks, times, run, perfect, kJoined)};
}

EfficienciesOverTime efficiencies_over_time(EventSource& source, const Scenario& scenario,
                                            const Results& results, ReplayOptions options) {
  if (!has_efficiencies_over_time(results)) return {};
  const ScenarioResult& run = results.scenarios.front();
  WindowMarks marks = window_marks(source.definitions(), run);
  options.verify = false;
  options.wait_states = false;
  options.observers = {&marks};
  run_replay(source, {scenario}, options);
  return efficiencies_over_time(source, marks, run, options);
}

}  // namespace rubato
