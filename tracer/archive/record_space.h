#pragma once

#include <string>

#include "tracer/base/settings.h"
#include "tracer/layout/segment.h"
#include "tracer/mpi/pmpi.h"

/// The directories of one recording: of the archive, and of the records until it is written.
namespace rubato {
inline namespace tracing {

struct RecordSpace {
  uint64_t job = 0;       ///< number of the job, the same on all ranks
  std::string directory;  ///< of this process's records; empty: they do not outlive it
  std::string overflow;   ///< where full memory is emptied to; empty: recording stops instead
  SegmentSpace segments;  ///< the same for the recorder; refers to the strings above

  /// Creates the directories. Rank 0 creates that of the archive, with a file INCOMPLETE that names
  /// the places of each rank's records, and `settings.output` becomes its name: the first that is
  /// free (output_name.h); of a job started by MPI_Comm_spawn, beside that of its parent job.
  /// False, after a message of rank 0, if there is none. Collective.
  bool make(MPI_Comm comm, Settings& settings, const std::string& host);

  /// The same without communication: the first rank creates the directory of the archive, and each
  /// adds a line to INCOMPLETE. False, after a message, if that fails.
  bool make_alone(int rank, int size, Settings& settings, const std::string& host);

  /// Removes everything but the archive, which is complete. Collective.
  void remove(MPI_Comm comm, const Settings& settings) const;

 private:
  void choose_directory(int rank, const Settings& settings);
};

}  // namespace tracing
}  // namespace rubato
