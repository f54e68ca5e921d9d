#pragma once

#include <string>

#include "tracer/layout/overhead.h"

namespace rubato {
inline namespace tracing {

/// Records a few thousand calls of an empty function into scratch memory. Recording must be on, and
/// this thread not inside a recorded call. Functions and call sites are measured only if they are
/// recorded.
Overhead measure_overhead(bool functions, bool call_sites);

/// Replaces the cost of recording in a loop by the cost between other work:
/// ranks 0 and 1 of MPI_COMM_WORLD send each other messages, recorded and unrecorded, if they are
/// on one node. For all ranks, when MPI_COMM_WORLD is known and recording is on; takes some
/// milliseconds.
void measure_in_place(int rank, int size, const std::string& host, Overhead& overhead);

}  // namespace tracing
}  // namespace rubato
