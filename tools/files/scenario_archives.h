#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Refuses recordings that are no OTF2 archives, and so cannot be copied as such. Errors:
/// InputError.
void refuse_other_formats(const std::string& archive);

/// Names of directories for scenarios: their own names, with a '_' for each character that is not
/// safe in a file name, and a number behind those that would be equal.
std::vector<std::string> directory_names(const std::vector<Scenario>& scenarios);

/// Writes for each scenario that came to its end a copy of the archive below `directory`, every
/// record at its time in that scenario. Each is replayed once more. `source`, an OTF2 archive, must
/// keep records (EventSource::keep_records()); `results` are those of `scenarios`. Errors: as
/// run_replay() and copy_archive().
void write_scenario_archives(EventSource& source, const std::vector<Scenario>& scenarios,
                             const Results& results, ReplayOptions options,
                             const std::string& directory);

}  // namespace rubato
