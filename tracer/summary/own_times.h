#pragma once

#include <string>
#include <vector>

#include "tracer/layout/clock_model.h"
#include "tracer/mpi/pmpi.h"
#include "tracer/record/time_sums.h"
#include "tracer/summary/run_summary.h"

/// The summary of a run, from the records of its ranks.
namespace rubato {
inline namespace tracing {

/// By this library's numbers of calls.
RunBounds run_bounds();

/// The line of summary_line() on rank 0, elsewhere nothing. Collective, after Recorder::stop();
/// `clock` is this rank's, and `per_second` its ticks.
std::string summarise_run(MPI_Comm comm, const ClockModel& clock, double per_second);

}  // namespace tracing
}  // namespace rubato
