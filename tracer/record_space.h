#pragma once

#include <string>

#include "tracer/pmpi.h"
#include "tracer/segment.h"
#include "tracer/settings.h"

/// The directories of one recording: where the archive will be, and where the records are until
/// then.
namespace rubato {

struct RecordSpace {
  uint64_t job = 0;       ///< a number that all ranks of the job know it by
  std::string directory;  ///< of this process's records; empty: they do not outlive it
  std::string overflow;   ///< where full memory is emptied to; empty: recording stops instead
  SegmentSpace segments;  ///< the same for the recorder; refers to the strings above

  /// Makes them. Rank 0 makes the directory of the archive, and a file INCOMPLETE in it that tells
  /// where the records of each rank are. A job that MPI_Comm_spawn started gets one beside that of
  /// the job it was started by, and `settings.output` is set to it. False, and rank 0 has said why,
  /// when there is already something of that name. Collective.
  bool make(MPI_Comm comm, Settings& settings, const std::string& host);

  /// The same by a rank that talks to nobody: whoever is first makes the directory of the archive,
  /// and each adds a line to INCOMPLETE. False, and why is said, when that is not possible.
  bool make_alone(int rank, int size, const Settings& settings, const std::string& host);

  /// The archive is written: nothing but it stays. Collective.
  void remove(MPI_Comm comm, const Settings& settings);

 private:
  void choose_directory(int rank, const Settings& settings);
};

}  // namespace rubato
