#pragma once

#include <optional>
#include <vector>

#include "models/fit/collective_fit.h"

namespace rubato {

/// The algorithms that explain the measured times of a collective.
struct ExplainedCollective {
  std::vector<AlgorithmRule> rules;  ///< by payload, for every number of processes
  double worst = 0;                  ///< the largest relative error of a measured time
};

/// Compares the times with the cost of each algorithm of `op` between ranks of `level` on the
/// platform, and keeps for each range of payloads the one that explains all numbers of processes:
/// unlike a formula, it extrapolates to many more. None if that leaves an error above 10 %, or if
/// fewer than two numbers of processes, or none above 3, were measured (two and three processes do
/// not distinguish algorithms).
std::optional<ExplainedCollective> explain_collective(CollectiveOp op,
                                                      const std::vector<CollectiveTimes>& times,
                                                      Level level, const Platform& platform);

}  // namespace rubato
