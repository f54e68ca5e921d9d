#include "tracer/timing/late_start.h"

#include <algorithm>

#include "tracer/base/clock.h"

namespace rubato {
inline namespace tracing {

LateStart leave_barrier(MPI_Comm comm, MPI_Comm sharers, ThreadLog* log, double ticks_per_second) {
  const double ticks_per_nanosecond = ticks_per_second * 1e-9;
  // Ranks that share cores have lost time since the log was begun. If none has, the barrier is the
  // last common operation, so that all ranks begin together.
  int64_t lost = log != nullptr ? static_cast<int64_t>(log->stolen.take()) : 0;
  int64_t most = 0;
  PMPI(Allreduce)(&lost, &most, 1, handles.int64, handles.max, sharers);
  PMPI(Barrier)(comm);
  const uint64_t stolen = log != nullptr ? log->stolen.take() : 0;
  if (static_cast<double>(most) < Recorder::kStretchNanoseconds) return {};
  LateStart late;
  late.left = Clock::now();
  int64_t own = static_cast<int64_t>(late.left), first = 0;
  PMPI(Allreduce)(&own, &first, 1, handles.int64, handles.min, sharers);
  late.stolen = std::min(late.left - static_cast<uint64_t>(first),
                         static_cast<uint64_t>(static_cast<double>(stolen) * ticks_per_nanosecond));
  if (log != nullptr) log->stolen.take();  // lost in that call, which is not part of the program
  late.told = Clock::now();
  return late;
}

}  // namespace tracing
}  // namespace rubato
