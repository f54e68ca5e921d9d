#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "replay/study/intervals.h"
#include "replay/study/sweep.h"

namespace rubato {

/// The results as JSON with a stable schema: share/doc/json.md and share/doc/replay.schema.json. A
/// change that could break a reader raises kJsonFormat; new keys do not.
inline constexpr int kJsonFormat = 1;

nlohmann::ordered_json results_to_json(const Results& results, const Intervals& intervals = {},
                                       const std::vector<Sweep>& sweeps = {});
/// The cures of cures.h: what, seconds, command or null.
nlohmann::ordered_json cures_to_json(const Results& results);
nlohmann::ordered_json trace_to_json(const TraceSummary& trace);

/// The text of the file `--json` writes.
std::string report_json(const Results& results, const Intervals& intervals = {},
                        const std::vector<Sweep>& sweeps = {});

/// What `rubato info --json` prints: the head of report_json with the object "trace" alone.
std::string info_json(const TraceSummary& trace);

/// The file `--csv` writes: a row per scenario, rank and what the time went to. Of `kind` compute,
/// mpi and other add up to Elapsed, once for each thread of a rank that calls MPI; wait is a part
/// of mpi. Of kind sweep is a row for each point of `sweeps`.
std::string report_csv(const Results& results, const std::vector<Sweep>& sweeps = {});

}  // namespace rubato
