#pragma once

#include <string>
#include <vector>

#include "models/platform.h"

namespace rubato {

/// The experimental factors that a program can see by itself (ReproMPI, section 4): date, MPI
/// library, compiler, processor and its governor, environment settings of the MPI library.
Provenance local_factors();

/// "nodeA, nodeB" without repetitions, in the order of ranks.
std::string host_list(const std::vector<std::string>& host_of_rank);

}  // namespace rubato
