#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/characterise.h"
#include "models/cost/placement.h"
#include "models/fit/load_fit.h"

namespace rubato {

/// What a rank does to memory, at some lengths. Copies by memcpy: "copy", from and to the caches,
/// and "copy_cold", through two arrays of effort.cold_bytes, from one to the other. "combine": two
/// operands of so many bytes by MPI_Reduce_local, sums of doubles. On one rank.
std::vector<Series> measure_memory(const Effort& effort);

/// What that is planned to take, seconds.
double memory_seconds(const Pace& pace);

/// The largest cache of a processor, in bytes, as the system names it; at least 4 MiB, where it
/// does not, and at most 1 GiB.
size_t largest_cache();

/// That of all ranks, since those of two nodes may differ. Collective.
size_t largest_cache_of_all(MPI_Comm comm);

/// cold_buffer() for all ranks alike: the largest of their caches, and the least memory that is
/// left for one of them. Collective.
size_t cold_buffer_of_all(MPI_Comm comm, const Placement& places);

/// Does the same work of about a millisecond again and again; seconds of each time. What the
/// processor does besides shows in those that take longer.
std::vector<double> fixed_work(const Effort& effort);

}  // namespace rubato
