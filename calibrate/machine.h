#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/characterise.h"
#include "models/load_fit.h"

namespace rubato {

/// Copies of some lengths by memcpy: "copy", from and to the caches, and "copy_cold", through
/// memory of twice the size of the largest cache. On one rank.
std::vector<Series> measure_copies(const Effort& effort);

/// The bytes of each of the two arrays that they copy from and to.
size_t copied_bytes(size_t max_bytes);

/// The largest cache of a processor, in bytes, within reasonable bounds.
size_t largest_cache();

/// That of all ranks, since those of two nodes may differ. Collective.
size_t largest_cache_of_all(MPI_Comm comm);

/// Does the same work of about a millisecond again and again; seconds of each time. What the
/// processor does besides shows in those that take longer.
std::vector<double> fixed_work(const Effort& effort);

}  // namespace rubato
