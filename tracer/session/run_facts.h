#pragma once

#include <cstdint>

#include "tracer/archive/archive_writer.h"
#include "tracer/session/job.h"

/// Facts of the run besides its records: for the archive, and in the journal for `rubato recover`.
namespace rubato {
inline namespace tracing {

/// What the archive will hold besides records: filled at the start, completed at the end.
ArchiveTask& archive_task();

/// The present as the start of the archive's times.
void note_start_time();

/// Notes the facts that are known at the start, in archive_task() and in the journal, which has all
/// that is needed to read the records. `zero`: the tick that records count from.
void note_run_facts(const Job& job, uint64_t zero);

}  // namespace tracing
}  // namespace rubato
