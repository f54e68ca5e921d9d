#pragma once

#include "replay/observe/results.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Fills Results::root_cause if waits_in_turn(), by replaying `perfect` once more. Names the
/// function if note_places() was called on the source. Errors: as run_replay().
void find_root_cause(EventSource& source, Results& results, ReplayOptions options);

}  // namespace rubato
