#pragma once

#include <string>

#include "models/platform/platform.h"

namespace rubato {

/// What is wrong with a calibration, and by how much its predictions are less certain.
struct Grade {
  std::string faults;  ///< "other programs took 53 % of the time; it was interrupted"; empty: none
  double error = 0;    ///< relative standard error that comes on top, of time in MPI
};

/// Of what [measured] says: time that other programs took, an interruption, halves of
/// the run that differ, parts that were left out.
Grade grade_calibration(const Provenance& measured);

/// Writes the grade into the platform, and the model's error: kModelError, or
/// kModelErrorInSimulator where no two loops over a length differed (`exact`), and that of the
/// grade.
void add_grade(Platform& platform, bool exact);

}  // namespace rubato
