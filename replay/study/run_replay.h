#pragma once

// The replay of a recorded run, with everything that scenarios and options may ask for: dr=fit is
// resolved first (fit_degradation.h), then other jobs (run/other_jobs.h), then scenarios are
// replayed in passes (run/driver.h).

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"

namespace rubato {

class EventSource;

/// Replays the archive (a directory or its anchor file) in each scenario. Errors: InputError.
Results run_replay(const std::string& archive, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options);

/// The same from any source of calls.
Results run_replay(EventSource& source, const std::vector<Scenario>& scenarios,
                   const ReplayOptions& options);

/// Reads the whole archive without replaying it, also its GPU streams. Errors: InputError.
TraceSummary summarize_archive(const std::string& archive, const ReplayOptions& options);

}  // namespace rubato
