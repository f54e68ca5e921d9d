#pragma once

#include "tracer/session/job.h"
#include "tracer/session/session.h"
#include "tracer/timing/late_start.h"

/// The start of recording, in the order of its steps: the job, its place, the clock,
/// begin_records(), comparison of the clocks, the call of MPI_Init, begin_options().
namespace rubato {
inline namespace tracing {

/// Starts recording in MPI_Init. Collective.
void start_with_world(CallId init, const InitStamp& stamp);

/// Starts recording in MPI_Init if this rank or another has opened sessions, and records: from here
/// on those sessions do not matter (mpi_sessions.cc). Collective.
void join_world(CallId init, const InitStamp& stamp);

/// Everything before the first record, once the place for records and the clock are chosen.
/// `threads`: the program may call MPI from several threads at once. `everybody`: the group of all
/// processes, where MPI has no MPI_COMM_WORLD; else null.
void begin_records(Job& job, const InitStamp& stamp, bool threads, const MPI_Group* everybody);

/// Records the call of MPI_Init, with which the world begins.
void record_init_call(CallId init, const InitStamp& stamp, const LateStart& late = {});

/// Begins what is recorded besides MPI calls, and the window. Call it behind the first recorded
/// call; further calls do nothing.
void begin_options(const Settings& settings);

}  // namespace tracing
}  // namespace rubato
