#pragma once

#include "replay/judge/diagnosis.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What judge() needs of a recorded run.
struct JudgedRun {
  Results results;  ///< `measured`, `perfect`, and `undisturbed` if ranks lost cores
  Diagnosis diagnosis;
};

/// Replays the run in these scenarios; observers in `options` are not used. Errors: as
/// run_replay().
JudgedRun judged_run(EventSource& source, ReplayOptions options);

}  // namespace rubato
