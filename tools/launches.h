#pragma once

#include <string>
#include <vector>

#include "tools/sample_fit.h"

namespace rubato {

/// The request of `rubato calibrate --launches N ... -- LAUNCHER`.
struct LaunchPlan {
  int launches = 1;
  std::vector<std::string> launcher;  ///< "mpirun", "-n", "2": `rubato calibrate` goes behind
  std::vector<std::string> options;   ///< that every launch gets
  std::string toml, csv;              ///< what is written in the end
  std::string html;                   ///< and a page, unless empty
  std::string name;                   ///< of the platform
  std::string command;                ///< for [measured]
  unsigned seed = 1;                  ///< of the first launch; the next one has the next number
  bool given_lengths = false;         ///< `options` say which lengths are measured
  OfLaunches of_launches = OfLaunches::kMedian;  ///< which of the times of a message counts
};

/// ReproMPI's Algorithm 2: starts the launcher once per launch, one after the other, each with its
/// experiments in another random order and with the lengths that the first one chose; concatenates
/// the samples and fits the platform to the medians (or least) over launches. Failed launches are
/// left out, and a stopped run keeps its finished launches; [measured] and standard error say so.
/// Returns the exit code. Errors: InputError when the launcher cannot be started or no launch
/// worked.
int calibrate_in_launches(const LaunchPlan& plan);

/// The line of a program's output that best explains its failure: Rubato's own complaint, else the
/// first line with words in it; "" for an empty output.
std::string complaint_in(const std::string& output);

}  // namespace rubato
