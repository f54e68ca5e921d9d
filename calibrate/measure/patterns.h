#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "calibrate/measure/characterise.h"
#include "models/fit/message_pattern.h"

namespace rubato {

/// Planned time of one pattern, seconds.
double pattern_seconds(const Pace& pace);

/// Measures patterns among all ranks of a communicator, at a few lengths each; every rank of it
/// calls this with the same patterns. Rank 0 gets the times of a step: for a ping-pong or bisection
/// half a round trip of the slowest rank, else all messages that a rank exchanges at once, of the
/// mean rank. If the list in `effort` has lengths for `level`, these are used.
std::vector<Series> measure_patterns(MPI_Comm comm, const std::vector<MessagePattern>& patterns,
                                     std::optional<Level> level, const Effort& effort);

}  // namespace rubato
