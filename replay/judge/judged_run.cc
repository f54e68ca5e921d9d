#include "replay/judge/judged_run.h"

#include "models/scenario/scenario.h"
#include "replay/judge/lost_cores.h"
#include "replay/study/run_replay.h"

namespace rubato {

JudgedRun judged_run(EventSource& source, ReplayOptions options,
                     const std::vector<Scenario>& others) {
  options.observers.clear();
  options.wait_states = true;
  options.total_functions = true;
  options.verify = false;
  std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
  for (const Scenario& scenario : others) {
    if (scenario.basis == Basis::kModel) scenarios.push_back(scenario);
  }
  source.note_places();
  const IntervalPlan plan(scenarios);
  JudgedRun run;
  ReplayOptions observing = options;
  const auto perfect = observe_perfect(source, plan.scenarios(), observing);
  run.results = run_replay(source, plan.scenarios(), observing);
  run.intervals = plan.settle(run.results, options.subtracted(source.definitions().overhead));
  find_undisturbed(source, run.results, options);
  run.diagnosis = diagnose(source, run.results, scenarios, options, perfect.get());
  return run;
}

}  // namespace rubato
