#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// The faults of a calibration, and the additional uncertainty of its predictions.
struct Grade {
  std::string faults;  ///< "other programs took 53 % of the time; it was interrupted"; empty: none
  double error = 0;    ///< additional relative standard error of message costs
};

/// From the entries of [measured]: time taken by other programs, an interruption, halves of the run
/// that differ, a network that is not explained, parts that were left out.
Grade grade_calibration(const Provenance& measured);

/// Writes the grade into the platform, and the model's error (`model_error`) combined with that of
/// the grade.
void add_grade(Platform& platform, double model_error);

}  // namespace rubato
