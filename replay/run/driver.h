#pragma once

#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Replays the calls of `source` in each scenario, in as few passes as possible. Scenarios have no
/// dr=fit, and options no other jobs: run_replay() resolves both (study/run_replay.h). Errors:
/// InputError; UsageError where they are not resolved; NeedsOneProcess.
Results replay_in_passes(EventSource& source, const std::vector<Scenario>& scenarios,
                         const ReplayOptions& options);

}  // namespace rubato
