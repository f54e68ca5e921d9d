#pragma once

#include <string>
#include <vector>

#include "calibrate/collectives.h"
#include "models/fit/collective_fit.h"

namespace rubato {

/// A file of samples with the collectives in it: columns of theirs at the end, which other rows
/// leave empty, and a row per experiment behind the other rows. A row's times are global ones where
/// the members were brought together by windows, else local ones (ReproMPI's Algorithm 1), after
/// Tukey's filter but for the extremes. Limits become rows without times: pattern "held bcast".
std::string with_collectives(const std::string& samples, const CollectiveResults& results,
                             int launch);

/// The same as what is fitted.
MeasuredCollectives measured_by(const CollectiveResults& results);

/// The short table for people: the medians of some payloads by operation and number of processes,
/// in microseconds.
std::string collectives_table(const CollectiveResults& results);

}  // namespace rubato
