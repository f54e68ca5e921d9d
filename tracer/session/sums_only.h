#pragma once

#include "tracer/session/job.h"

/// Runs without an archive: a line and, with --report, a file of sums instead of records.
namespace rubato {
inline namespace tracing {

/// Records become sums from now on. Call it before Recorder::start().
void keep_sums_only(const Settings& settings);

/// Writes the file of sums and reports the line, when recording has ended. Collective.
void write_sums(const Job& job);

}  // namespace tracing
}  // namespace rubato
