#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/mpi/pmpi.h"

/// Moves the reports of ranks to rank 0 and the results back.
namespace rubato {
inline namespace tracing {

/// Bytes of a call to MPI, whose counts and displacements are int: 100,000 ranks with a report of
/// 22 kB each have more together. So many are also in memory twice.
inline constexpr uint64_t kMostAtOnce = uint64_t{1} << 24;

/// The bytes of every rank, at rank 0; empty elsewhere. Collective.
std::vector<std::string> gather(MPI_Comm comm, const std::string& mine,
                                uint64_t at_once = kMostAtOnce);
/// The bytes of rank 0, everywhere. Collective.
std::string broadcast(MPI_Comm comm, const std::string& at_root, uint64_t at_once = kMostAtOnce);

}  // namespace tracing
}  // namespace rubato
