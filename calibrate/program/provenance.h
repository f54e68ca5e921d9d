#pragma once

#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// The experimental factors that a program can determine itself (ReproMPI, section 4): date, MPI
/// library and version, compiler and flags, kernel, processor, its cores and their governor, load
/// average, environment settings of the MPI library. Called before anything is measured.
Provenance local_factors();

/// The processors that this process may run on, as "0-3,8"; "" if unknown.
std::string own_processors();

/// The processors of the ranks: "ranks 0-3: 0-7; rank 4: 1", from the list of each rank. Empty if
/// none is known.
std::string pinning(const std::vector<std::string>& processors_of_rank);

/// "nodeA, nodeB" without repetitions, in the order of ranks.
std::string host_list(const std::vector<std::string>& host_of_rank);

}  // namespace rubato
