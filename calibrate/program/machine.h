#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/measure/characterise.h"
#include "models/placement/placement.h"

namespace rubato {

/// Memory operations at some lengths, on one rank. Copies by memcpy: "copy" within the caches, and
/// "copy_cold" between two arrays of effort.cold_bytes. "combine": MPI_Reduce_local of two
/// operands, sums of doubles. "pack": of a block of that length, beyond contiguous data.
std::vector<Series> measure_memory(const Effort& effort);

/// Planned time of measure_memory(), seconds.
double memory_seconds(const Pace& pace);

/// The largest cache of a processor, in bytes, as the system states it; at least 4 MiB (also if the
/// system does not state it) and at most 1 GiB.
size_t largest_cache();

/// The largest of all ranks, since nodes may differ. Collective.
size_t largest_cache_of_all(MPI_Comm comm);

/// cold_buffer() for all ranks: from the largest of their caches and the least memory left for one
/// of them. Collective.
size_t cold_buffer_of_all(MPI_Comm comm, const Placement& places);

/// Repeats the same work of about a millisecond; returns the seconds of each repetition. Other
/// activities of the processor show as longer repetitions.
std::vector<double> fixed_work(const Effort& effort);

}  // namespace rubato
