#pragma once

#include <memory>

#include "tracer/layout/topology.h"
#include "tracer/mpi/pmpi.h"

namespace rubato {
inline namespace tracing {

/// Asks MPI for the neighbours of this process; null where the communicator has no topology.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, int rank);

}  // namespace tracing
}  // namespace rubato
