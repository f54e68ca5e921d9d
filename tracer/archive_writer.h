#pragma once

#include <string>
#include <vector>

#include "tracer/clock_model.h"
#include "tracer/definitions.h"
#include "tracer/overhead.h"
#include "tracer/pmpi.h"

/// From the records in memory to the OTF2 archive.
namespace rubato {

/// What the archive says besides its events.
struct ArchiveInfo {
  std::string output;
  std::string command;
  std::string mpi_library;
  double ticks_per_second = 1e9;
  uint64_t start_ticks = 0;     ///< a moment on rank 0's clock ...
  uint64_t start_realtime = 0;  ///< ... in nanoseconds since 1970
  ClockModel clock;             ///< this rank's
  Overhead overhead;
};

/// Writes what all threads of all ranks recorded. Collective over `comm`, which holds all ranks. On
/// trouble rank 0 prints one line and leaves a directory without an anchor file, and with a file
/// INCOMPLETE in it.
void write_archive(MPI_Comm comm, const ArchiveInfo& info);

}  // namespace rubato
