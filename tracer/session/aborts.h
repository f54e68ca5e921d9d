#pragma once

#include "tracer/session/job.h"

namespace rubato {
inline namespace tracing {

/// Prepares the line about MPI_Abort (abort_session()), since a signal handler may not allocate.
void prepare_abort(const Job& job);

}  // namespace tracing
}  // namespace rubato
