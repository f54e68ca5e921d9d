#pragma once

#include <string>
#include <vector>

#include "tracer/mpi/pmpi.h"

/// Moves the reports of ranks to rank 0 and the results back.
namespace rubato {
inline namespace tracing {

/// The bytes of every rank, at rank 0; empty elsewhere. Collective.
std::vector<std::string> gather(MPI_Comm comm, const std::string& mine);
/// The bytes of rank 0, everywhere. Collective.
std::string broadcast(MPI_Comm comm, const std::string& at_root);

}  // namespace tracing
}  // namespace rubato
