#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Refuses recordings that are not OTF2 archives, which --otf2 cannot copy. Errors: InputError.
void refuse_other_formats(const std::string& archive);

/// Directory names for scenarios: their names, with '_' for each character that is unsafe in a file
/// name, and a number appended to duplicates.
std::vector<std::string> directory_names(const std::vector<Scenario>& scenarios);

/// Writes, for each scenario that does not deadlock, a copy of the archive below `directory` with
/// the times of that scenario. Replays each scenario once more. `source`, an OTF2 archive, must
/// keep records (EventSource::keep_records()); `results` are those of `scenarios`. Errors: as
/// run_replay() and copy_archive().
void write_scenario_archives(EventSource& source, const std::vector<Scenario>& scenarios,
                             const Results& results, ReplayOptions options,
                             const std::string& directory);

}  // namespace rubato
