#pragma once

#include <memory>

#include "replay/cluster/team.h"
#include "replay/trace/trace.h"

/// The calls of a generated program without an archive: a 3-D halo exchange among `ranks` (a power
/// of two), each on its own node. A rank makes 100 calls: MPI_Init, seven steps of 6 MPI_Irecv, 6
/// MPI_Isend, MPI_Waitall and MPI_Allreduce, MPI_Finalize. The calls of each step are generated on
/// demand, so memory does not depend on their number. Compute has random lengths, the same in every
/// run. The processes of a `team`, which all call this, share the definitions.
std::unique_ptr<rubato::EventSource> made_program(int ranks, rubato::Team* team = nullptr);
