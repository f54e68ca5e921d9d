#include "replay/judge/judged_run.h"

#include "models/scenario/scenario.h"
#include "replay/judge/lost_cores.h"
#include "replay/study/run_replay.h"

namespace rubato {

JudgedRun judged_run(EventSource& source, ReplayOptions options) {
  options.observers.clear();
  options.wait_states = true;
  options.total_functions = true;
  options.verify = false;
  JudgedRun run;
  run.results =
      run_replay(source, {parse_scenario("measured"), parse_scenario("perfect")}, options);
  find_undisturbed(source, run.results, options);
  run.diagnosis = diagnose(source, run.results, options);
  return run;
}

}  // namespace rubato
