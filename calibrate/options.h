#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calibrate/collectives.h"
#include "models/cost/platform.h"
#include "models/fit/message_pattern.h"
#include "models/fit/timed_length.h"

namespace rubato {

/// The request of `rubato calibrate`, already checked, to the calibrator.
struct Options {
  std::string toml, csv, name, command;
  std::string html, rubato;  ///< the page to be made by `rubato fit`, and the path of rubato
  CollectivesEffort collectives;
  std::string lengths;  ///< samples whose lengths are to be measured again
  OfLoops of_loops = OfLoops::kLeast;
  bool quick = false;
  double seconds = 0;  ///< of the whole run; 0: the default
  bool force = false;
  size_t max_bytes = 4 << 20;
  unsigned seed = 1;
  int launch = 1;
  std::vector<MessagePattern> patterns;
  std::vector<Level> levels;  ///< to be measured; empty: those that the ranks show
  double stress = 0;          ///< seconds; greater than 0: nothing is measured
};

/// Reads `--key=value` words. Errors: UsageError that names the word.
Options read_options(int argc, char** argv);

}  // namespace rubato
