#pragma once

#include <functional>
#include <vector>

#include "calibrate/measure/characterise.h"
#include "models/placement/placement.h"

namespace rubato {

/// Measures the resources that messages between nodes share: a series for each of
/// shifts_to_measure(), of a few long messages, on rank 0. All ranks of MPI_COMM_WORLD call it;
/// `wait` is a barrier for idle ones.
std::vector<Series> measure_sharing(const Placement& places, const Effort& effort,
                                    const std::function<void()>& wait);

/// Planned time of measure_sharing(), seconds.
double sharing_seconds(const Pace& pace, const Placement& places);

}  // namespace rubato
