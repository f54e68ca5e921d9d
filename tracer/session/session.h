#pragma once

#include <cstdint>
#include <string>

#include "tracer/mpi/pmpi.h"

/// From MPI_Init to MPI_Finalize: what happens once per process. In programs that have MPI's own
/// sessions and no MPI_Init, from the first MPI_Session_init on.
namespace rubato {
inline namespace tracing {

/// The time MPI_Init was entered, on both clocks: the ranks agree on one of them only afterwards.
struct InitStamp {
  uint64_t tsc;
  uint64_t monotonic;
  const void* call_site;  ///< where the program calls it
};
InitStamp before_init(const void* call_site);

/// Tells other ranks that this one is traced (roll_call.h). Call it before MPI_Init.
void announce_rank();

/// MPI is up: choose the clock, measure what recording costs, start to record. Collective.
void start_session(CallId init, const InitStamp& stamp);

/// The program is about to finalise MPI: write the archive. Collective.
void finish_session(CallId finalize, const void* call_site);

/// The program has opened one of MPI's sessions. The first one starts recording if MPI_Init did not
/// yet. Nothing here communicates, since ranks may open sessions at any time or never. So clocks
/// are not compared, the first rank to create the archive's directory owns it, and `rubato recover`
/// makes the archive, unless MPI_Init and MPI_Finalize follow.
void mpi_session_opened(CallId init, const InitStamp& stamp);
/// It is about to close one, and has done so. When it has closed all, the records are complete.
void mpi_session_closing();
void mpi_session_closed(bool good);

/// The program is about to end by MPI_Abort, which may be called in a signal handler. One rank of
/// the job reports it, once.
void abort_session();
/// A rank of the job has reported it.
bool abort_is_said();

/// A line for the user of a program that did not reach MPI_Finalize; where no archive is wanted,
/// that there is no summary.
std::string how_to_recover(const std::string& what);

/// The message at the exit of rank 0, if this program used sessions only and closed them all; else
/// empty.
std::string sessions_report();

/// This process called MPI_Init or opened a session, and records.
bool session_started();
/// It also reached MPI_Finalize.
bool session_finished();

}  // namespace tracing
}  // namespace rubato
