#pragma once

#include <memory>
#include <vector>

#include "tracer/pmpi.h"

namespace rubato {

/// The neighbours of this process in a communicator with a topology, as ranks of that communicator
/// in MPI's order; MPI_PROC_NULL at the edges of a grid.
struct Topology {
  std::vector<int> sources;
  std::vector<int> destinations;
  // Of a grid only:
  std::vector<int> dimensions;
  std::vector<int> periods;
  std::vector<int> coordinates;
};

/// Asks MPI; null where there is no topology.
std::shared_ptr<const Topology> topology_of(MPI_Comm comm, int rank);

}  // namespace rubato
