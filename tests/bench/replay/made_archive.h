#pragma once

#include <cstdint>
#include <string>

// Archives for benchmarks, written as Score-P would write them. The same arguments give the same
// bytes.

enum class Workload {
  kHalo,          ///< 3-D halo exchange: 6 MPI_Irecv, 6 MPI_Isend, MPI_Waitall, MPI_Allreduce
  kRing,          ///< a token goes round: MPI_Recv, MPI_Send of 8 B
  kAlltoall,      ///< MPI_Alltoall of 1 KiB to each
  kMasterWorker,  ///< workers MPI_Send 64 B to rank 0 and MPI_Recv 4 KiB of work from it
};

struct MadeArchive {
  Workload workload = Workload::kHalo;
  int ranks = 64;              ///< of a halo a power of two
  uint64_t calls = 2000000;    ///< of all ranks together, about; made_calls() says how many
  uint64_t chunk = 256 << 10;  ///< bytes, of event files
  uint64_t bytes = 8192;       ///< of a halo's messages
  bool pending = false;        ///< each rank has a receive open from its begin to its end
};

/// How many MPI calls the archive has.
uint64_t made_calls(const MadeArchive& what);

/// Writes the archive `directory`/traces.otf2.
void make_archive(const MadeArchive& what, const std::string& directory);
