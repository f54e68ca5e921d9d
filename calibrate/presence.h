#pragma once

#include <mpi.h>

#include <vector>

#include "models/cost/placement.h"

namespace rubato {

/// A barrier that leaves the processor to those who are measuring. Collective.
void sleep_until_all_are_here(MPI_Comm comm);

/// A number of the node that each rank runs on: the lowest rank there. Ranks that can share memory
/// are on one node. Collective; all ranks get the list.
std::vector<int> nodes_of_ranks(MPI_Comm comm);

/// The nodes of ranks, so numbered, and the sockets of those that may run on one only. Collective.
Placement places_of_ranks(MPI_Comm comm);

}  // namespace rubato
