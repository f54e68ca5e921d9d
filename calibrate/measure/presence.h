#pragma once

#include <mpi.h>

#include <vector>

#include "models/placement/placement.h"

namespace rubato {

/// A barrier that leaves the processor to the measuring ranks. Collective.
void sleep_until_all_are_here(MPI_Comm comm);

/// The node of each rank, numbered by its lowest rank. Ranks that can share memory are on one node.
/// Collective; all ranks get the list.
std::vector<int> nodes_of_ranks(MPI_Comm comm);

/// The nodes of ranks, numbered likewise, and the sockets of ranks bound to one. Collective.
Placement places_of_ranks(MPI_Comm comm);

}  // namespace rubato
