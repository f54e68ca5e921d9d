#pragma once

#include "tracer/archive/archive_definitions.h"
#include "tracer/session/job.h"

/// What recording costs: measured when recording starts, and in the program itself until its end.
namespace rubato {
inline namespace tracing {

/// Starts the counters that rubato trace has tried; they may be missing on another node, which is
/// reported. Call it before Recorder::start().
void start_counters(const Job& job, ArchiveInfo& info);

/// Measures the overhead, when recording is on; `has_places`: calls have call sites or paths.
void measure_costs(const Job& job, bool has_places, Overhead& overhead);

/// Reports threads without counters.
void report_missing_counters(const Job& job);

/// Replaces costs by what was measured in the program, on all ranks. Collective, when recording has
/// ended.
void complete_costs(const Job& job, ArchiveInfo& info);

}  // namespace tracing
}  // namespace rubato
