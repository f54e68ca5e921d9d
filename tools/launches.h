#pragma once

#include <string>
#include <vector>

#include "tools/sample_fit.h"

namespace rubato {

/// What `rubato calibrate --launches N ... -- LAUNCHER` was asked to do.
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
/// experiments in another random order and with the lengths that the first one chose; strings the
/// samples together and fits the platform to the medians (or least) over launches. Launches that
/// fail are left out, and a run that is told to stop keeps those that it has, which stands under
/// [measured] and on standard error. The exit code; InputError when the launcher cannot be started
/// or no launch worked.
int calibrate_in_launches(const LaunchPlan& plan);

/// What of a program's output says best why it failed: Rubato's own complaint, else the first line
/// with words in it; "" for an empty one.
std::string complaint_in(const std::string& output);

}  // namespace rubato
