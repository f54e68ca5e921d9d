#pragma once

#include <string>

#include "tracer/timing/overhead.h"

namespace rubato {
inline namespace tracing {

/// Replaces the cost of recording in a loop (measure_overhead()) by the cost between other work:
/// ranks 0 and 1 of MPI_COMM_WORLD send each other messages, recorded and unrecorded, if they are
/// on one node. For all ranks, when MPI_COMM_WORLD is known and recording is on; takes some
/// milliseconds.
void measure_in_place(int rank, int size, const std::string& host, Overhead& overhead);

}  // namespace tracing
}  // namespace rubato
