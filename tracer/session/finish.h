#pragma once

#include "tracer/session/job.h"

namespace rubato {
inline namespace tracing {

/// Records the call of MPI_Finalize, ends recording, and writes the archive or the sums.
/// Collective.
void finish_recording(const Job& job, CallId finalize, const void* call_site);

}  // namespace tracing
}  // namespace rubato
