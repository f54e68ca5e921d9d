#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/archive/archive_definitions.h"
#include "tracer/layout/clock_model.h"
#include "tracer/mpi/pmpi.h"

/// Writes the OTF2 archive of a job that is about to end, over MPI.
namespace rubato {
inline namespace tracing {

struct ArchiveTask {
  std::string output;     ///< directory that was made when recording began
  std::string records;    ///< where this rank's records are; empty: in memory of the process
  std::string host;       ///< of this rank
  Processors processors;  ///< of this rank, when recording began
  ArchiveInfo info;       ///< rank 0's counts
  std::string function_filter;
  std::vector<ClockOffset> offsets;
};

/// Totals of a complete archive, on rank 0.
struct Written {
  uint64_t calls = 0;      ///< to MPI, of all ranks
  uint64_t bytes = 0;      ///< of all files
  std::string early;       ///< why recording stopped before the end; empty: it did not
  bool functions = false;  ///< some of the program's are on record
};

/// Writes the records of all threads of all ranks. Collective over `comm`, which holds all ranks.
/// True everywhere when the archive is complete; otherwise rank 0 has printed one line, there is no
/// anchor file, and the records have to be kept.
bool write_archive(MPI_Comm comm, const ArchiveTask& task, Written& written);

}  // namespace tracing
}  // namespace rubato
