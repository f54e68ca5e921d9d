#pragma once

#include <cstdint>

#include "tracer/mpi/mpi_headers.h"

/// Facts beyond the MPI standard about the MPI library whose mpi.h the tracer is compiled with. Two
/// are elsewhere: Open MPI's predefined handles are addresses of data (pmpi.cc), and its
/// MPI_Waitall hides failed persistent requests (ignored_statuses.h).
namespace rubato {
inline namespace tracing {
namespace library {

#if defined(OPEN_MPI)
inline constexpr char kName[] = "Open MPI", kOtherName[] = "MPICH";
inline constexpr char kTracer[] = "librubato-trace-openmpi.so";
inline constexpr char kOtherTracer[] = "librubato-trace-mpich.so";
/// A symbol that only the MPI library of the other tracer has.
inline constexpr char kOtherSymbol[] = "MPIR_Dup_fn";
/// MPI_Isendrecv fills the status of what it received. MPICH 4.0 does not.
inline constexpr bool kSendrecvHasStatus = true;
/// MPI_Comm_get_parent and MPI_Topo_test exist. SMPI ends the program that calls them.
inline constexpr bool kHasParentsAndTopologies = true;
/// Each rank has a kernel thread, so its stolen time is known. All ranks of SMPI share one thread.
inline constexpr bool kRanksHaveThreads = true;

/// Bytes that arrived.
inline uint64_t received_bytes(const MPI_Status& status) {
  return status._ucount;
}
/// Bytes of a predefined type, from its handle; 0 if unknown.
inline uint64_t size_in_handle(MPI_Datatype) {
  return 0;
}

#elif defined(MPICH_NAME)
inline constexpr char kName[] = "MPICH", kOtherName[] = "Open MPI";
inline constexpr char kTracer[] = "librubato-trace-mpich.so";
inline constexpr char kOtherTracer[] = "librubato-trace-openmpi.so";
inline constexpr char kOtherSymbol[] = "ompi_mpi_comm_world";
inline constexpr bool kSendrecvHasStatus = false;
inline constexpr bool kHasParentsAndTopologies = true;
inline constexpr bool kRanksHaveThreads = true;

inline uint64_t received_bytes(const MPI_Status& status) {
  return static_cast<uint64_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1) << 32 |
         static_cast<unsigned>(status.count_lo);
}
inline uint64_t size_in_handle(MPI_Datatype type) {
  const auto bits = static_cast<unsigned>(type);  // 0x4c00SSxx
  return (bits & 0xff000000u) == 0x4c000000u ? bits >> 8 & 0xff : 0;
}

#elif defined(SMPI_H)
// SimGrid's simulated MPI, for the virtual laboratory (tests/lab/virtual). The tracer is linked
// into the programs there, so it is never exchanged for another one.
inline constexpr char kName[] = "SMPI", kOtherName[] = "another MPI";
inline constexpr char kTracer[] = "librubato-trace-smpi.so";
inline constexpr char kOtherTracer[] = "librubato-trace-openmpi.so";
inline constexpr char kOtherSymbol[] = "ompi_mpi_comm_world";
inline constexpr bool kSendrecvHasStatus = true;
inline constexpr bool kHasParentsAndTopologies = false;
inline constexpr bool kRanksHaveThreads = false;

inline uint64_t received_bytes(const MPI_Status& status) {
  return static_cast<uint64_t>(status.count);
}
inline uint64_t size_in_handle(MPI_Datatype) {
  return 0;
}

#else
#error "The tracer does not know this MPI library"
#endif

}  // namespace library
}  // namespace tracing
}  // namespace rubato
