#pragma once

#include <memory>

#include "replay/cluster/team.h"
#include "replay/trace/trace.h"

/// The calls of a program that no archive holds: a 3-D halo exchange among `ranks` (a power of
/// two), each on a node of its own. A rank makes 100 calls: MPI_Init, seven steps of 6 MPI_Irecv, 6
/// MPI_Isend, MPI_Waitall and MPI_Allreduce, MPI_Finalize. Each step's calls are made when they are
/// asked for, so memory does not depend on their number. Compute is of a random length, the same in
/// every run. Processes of a `team`, who all call it, have the definitions in common.
std::unique_ptr<rubato::EventSource> made_program(int ranks, rubato::Team* team = nullptr);
