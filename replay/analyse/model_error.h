#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// A part of the elapsed time of the mean rank, in seconds: as recorded, and as predicted by the
/// model of the machine of the recording.
struct ModelError {
  std::string part;  ///< a call, "compute", or OtherRow::key
  double recorded = 0;
  double predicted = 0;

  double difference() const { return recorded - predicted; }
};

/// The parts that differ between `recorded` and `model`, two of the scenarios, the largest
/// difference first. The differences add up to that of the elapsed times. Empty if either is null,
/// or several threads of a rank call MPI.
std::vector<ModelError> model_errors(const Results& results, const ScenarioResult* recorded,
                                     const ScenarioResult* model);

/// The share of the MPI time of `model`, of the mean rank, that the calls' differences make up
/// together, each counted as positive. Nothing if the two cannot be compared.
std::optional<double> error_of_calls(const Results& results, const ScenarioResult* recorded,
                                     const ScenarioResult* model);

}  // namespace rubato
