#pragma once

#include <string>
#include <vector>

#include "tools/launch/calibration_plan.h"

namespace rubato {

/// The request of `rubato calibrate ... -- LAUNCHER`.
struct LaunchPlan {
  int launches = 1;
  std::vector<std::string> launcher;    ///< "mpirun", "-n", "2": `rubato calibrate` goes behind
  std::vector<std::string> options;     ///< that every launch gets
  CalibrationPlan experiments;          ///< of every launch
  std::string csv;                      ///< the samples of all launches
  std::string raw;                      ///< the single observations of all launches; "": none
  std::vector<std::string> made_of_it;  ///< files that are made of them afterwards
  std::string command;                  ///< for [measured]
};

/// ReproMPI's Algorithm 2: starts the launcher once per launch, one after the other, each with its
/// experiments in another random order and with the lengths that the first one chose; concatenates
/// the samples, for `rubato fit`. Failed launches are left out, and a stopped run keeps its
/// finished launches; [measured] and standard error say so. Errors: InputError when the launcher
/// cannot be started, no launch worked, or a file cannot be written.
void calibrate_in_launches(const LaunchPlan& plan);

/// The line of a program's output that best explains its failure: Rubato's own complaint, else the
/// first line with words in it; "" for an empty output.
std::string complaint_in(const std::string& output);

}  // namespace rubato
