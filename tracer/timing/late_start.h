#pragma once

#include <cstdint>

#include "tracer/mpi/pmpi.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {

/// When a rank left the barrier that ends MPI_Init, and which part of its delay is due to the
/// scheduler.
///
/// Ranks that share cores leave a barrier one after the other, each when it gets a core, while
/// others compute already. With a core each, they would have left it with the first one. The delay
/// after the first rank, as far as it was stolen (stolen.h), therefore counts as stolen before the
/// rank's first call, not as part of MPI_Init. Otherwise 32 ranks on two cores begin up to 100 ms
/// apart.
struct LateStart {
  uint64_t left = 0;    ///< tick; 0: no cores were shared, and the barrier ends when MPI_Init does
  uint64_t stolen = 0;  ///< ticks stolen since the first rank left
  uint64_t told = 0;    ///< tick at which that was known
};

/// Collective over `comm`, the communicator of the barrier, and `sharers`, the ranks that share
/// this rank's clock. `log` is the log of this thread, begun before the ranks' last common work.
LateStart leave_barrier(MPI_Comm comm, MPI_Comm sharers, ThreadLog* log, double ticks_per_second);

}  // namespace tracing
}  // namespace rubato
