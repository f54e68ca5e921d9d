#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "calibrate/measure/characterise.h"

namespace rubato {

/// Number of series of measure_load() for this number of pairs.
int load_series(size_t pairs);

/// Ping-pongs of 1, 2, 4, ... and all of these pairs of ranks at once (MPI_COMM_WORLD; rank 0 is in
/// the first pair): series "pairs_1", "pairs_2", ... on rank 0. All ranks call it; `wait` is a
/// barrier for idle ranks.
std::vector<Series> measure_load(const std::vector<std::pair<int, int>>& pairs,
                                 const Effort& effort, const std::function<void()>& wait);

}  // namespace rubato
