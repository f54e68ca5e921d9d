#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/observe/results.h"
#include "tools/report/report.h"

namespace rubato {

/// The results as JSON with a stable schema: share/doc/json.md and
/// share/doc/schemas/replay.schema.json. An incompatible change increments kJsonFormat; new keys do
/// not.
inline constexpr int kJsonFormat = 1;

/// The contents of a file of `--json`: the format, the version of Rubato, then `results`.
std::string json_file(const nlohmann::ordered_json& results);

nlohmann::ordered_json trace_to_json(const TraceSummary& trace);

/// The contents of the file of `--json`.
std::string report_json(const Report& report);

/// The output of `rubato info --json`: the head of report_json() and the object "trace".
std::string info_json(const TraceSummary& trace);

/// The contents of the file of `--csv`: a row per scenario, rank and category of time. The kinds
/// compute, mpi and other add up to Elapsed, once for each thread of a rank that calls MPI; wait is
/// part of mpi. Rows of kind sweep are the points of sweeps.
std::string report_csv(const Report& report);

}  // namespace rubato
