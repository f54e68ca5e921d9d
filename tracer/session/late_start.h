#pragma once

#include <cstdint>

#include "tracer/hooks/pmpi.h"
#include "tracer/record/recorder.h"

namespace rubato {
inline namespace tracing {

/// When a rank left the barrier that ends MPI's beginning, and how much of that is the scheduler's.
///
/// Ranks that share cores come out of a barrier one after the other, each when it gets a core,
/// while others compute already. With a core each they would have come out with the first one. So
/// what is later than that, and was stolen (stolen.h), belongs to what was stolen before the rank's
/// first call, and not into MPI_Init: 32 ranks on two cores begin up to 100 ms apart otherwise.
struct LateStart {
  uint64_t left = 0;    ///< tick; 0: nobody shared a core, and the barrier ends when MPI_Init does
  uint64_t stolen = 0;  ///< ticks of that, from the first rank's on
  uint64_t told = 0;    ///< tick at which that was known
};

/// Collective on `comm`, which is the barrier's, and `sharers`, the ranks with this rank's clock.
/// `log` is that of this thread, begun when ranks had some more to do together.
LateStart leave_barrier(MPI_Comm comm, MPI_Comm sharers, ThreadLog* log, double ticks_per_second);

}  // namespace tracing
}  // namespace rubato
