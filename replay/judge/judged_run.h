#pragma once

#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/diagnosis.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/study/intervals.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What judge() needs of a recorded run.
struct JudgedRun {
  Results results;      ///< `measured`, `perfect`, platforms, and `undisturbed` if ranks lost cores
  Intervals intervals;  ///< of their elapsed times, but not of an added `undisturbed`
  Diagnosis diagnosis;
};

/// Replays the run in these scenarios and those of `others` that model a machine. Observers in
/// `options` are not used. Errors: as run_replay().
JudgedRun judged_run(EventSource& source, ReplayOptions options,
                     const std::vector<Scenario>& others = {});

}  // namespace rubato
