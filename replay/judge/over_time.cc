#include "replay/judge/over_time.h"

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/study/run_replay.h"

namespace rubato {

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
