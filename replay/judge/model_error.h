#pragma once

#include <string>
#include <vector>

#include "replay/judge/roles.h"

namespace rubato {

/// A part of the elapsed time of the mean rank, in seconds: as recorded, and as predicted by the
/// model of the machine of the recording.
struct ModelError {
  std::string part;  ///< a call, "compute", or OtherRow::key
  double recorded = 0;
  double predicted = 0;

  double difference() const { return recorded - predicted; }
};

/// The parts that differ, the largest difference first. The differences add up to that of the
/// elapsed times. Empty without Roles::own_machine, or if several threads of a rank call MPI.
std::vector<ModelError> model_errors(const Roles& roles);

}  // namespace rubato
