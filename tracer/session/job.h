#pragma once

#include <string>

#include "tracer/archive/record_space.h"
#include "tracer/base/settings.h"
#include "tracer/mpi/pmpi.h"

/// This process as a rank of its job, and the state of its recording.
namespace rubato {
inline namespace tracing {

/// The settings and the place of this rank, from MPI_Init (or the first of MPI's sessions) on.
struct Job {
  Settings settings;       ///< where ranks have to agree, rank 0's
  std::string host;        ///< name of the node
  int rank = 0;            ///< in MPI_COMM_WORLD, or among the processes of the job
  int size = 1;            ///< number of ranks
  bool has_world = false;  ///< MPI_Init was called
  MPI_Comm comm{};         ///< a copy of MPI_COMM_WORLD for the tracer's own messages, if so
  RecordSpace space;
};

/// Null before the start.
Job* this_job();
/// The job at its start: settings from the environment, and the host. Once per process.
Job& make_job();
/// MPI_Init was called: sets the communicator, the rank and the size.
void enter_world(Job& job);

/// How far recording is. A signal handler may read it (MPI_Abort).
struct Stage {
  bool started = false;    ///< MPI_Init or a session was seen
  bool recording = false;  ///< not where there was no place for the archive
  bool finished = false;   ///< MPI_Finalize was entered, or the program runs untraced
};
inline Stage stage;

/// True if `mine` is true on all ranks; on at least one. Collective.
bool all_ranks(MPI_Comm comm, bool mine);
bool any_rank(MPI_Comm comm, bool mine);

}  // namespace tracing
}  // namespace rubato
