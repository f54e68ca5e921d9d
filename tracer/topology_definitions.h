#pragma once

#include "tracer/definitions.h"

namespace rubato {

/// Tells rank 0 the neighbours of every rank in every communicator with a topology, after
/// communicators have their numbers. Collective over `comm`, which holds all ranks.
void collect_topologies(MPI_Comm comm, Definitions& definitions);

/// A list of neighbours as the archive has it: ranks in the communicator, "-" for MPI_PROC_NULL.
std::string neighbours_text(const Topology& topology);

}  // namespace rubato
