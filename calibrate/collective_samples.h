#pragma once

#include <string>
#include <vector>

#include "calibrate/collectives.h"
#include "models/fit/collective_fit.h"

namespace rubato {

/// A file of samples with collectives: their columns at the end, empty in other rows, and a row per
/// experiment behind the other rows. The times of a row are global ones if windows brought the
/// members together, else local ones (ReproMPI's Algorithm 1), after Tukey's filter except for the
/// extremes. Limits become rows without times: pattern "held bcast".
std::string with_collectives(const std::string& samples, const CollectiveResults& results,
                             int launch);

/// The same, for the fit.
MeasuredCollectives measured_by(const CollectiveResults& results);

/// The short table for people: the medians of some payloads by operation and number of processes,
/// in microseconds.
std::string collectives_table(const CollectiveResults& results);

}  // namespace rubato
