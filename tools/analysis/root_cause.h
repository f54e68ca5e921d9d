#pragma once

#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Fills Results::root_cause where the verdict will ask for it: ranks wait for each other in turn
/// on `perfect`, which is replayed once more for that. Functions are named if the source was asked
/// to note_places(). Errors: as run_replay().
void find_root_cause(EventSource& source, Results& results, ReplayOptions options);

}  // namespace rubato
