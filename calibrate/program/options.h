#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calibrate/measure/collectives.h"
#include "calibrate/measure/sweep.h"
#include "models/fit/message_pattern.h"
#include "models/fit/timed_length.h"
#include "models/platform/platform.h"

namespace rubato {

/// The request of `rubato calibrate`, already checked, to the calibrator.
struct Options {
  std::string csv;                ///< the file of samples
  std::string raw;                ///< the file of single observations; may be empty
  std::string toml, html;         ///< the files made from it afterwards; may be empty
  std::vector<std::string> then;  ///< words of the command that makes them
  std::string command;            ///< for [measured]
  CollectivesEffort collectives;
  std::optional<ProcessSync> sync;  ///< of collectives; unset: as the cores allow
  std::string lengths;              ///< samples whose lengths are to be measured again
  std::string partners;             ///< file of the partners of kPartners; may be empty
  OfLoops of_loops = OfLoops::kLeast;
  bool quick = false;
  double seconds = 0;  ///< of the whole run; 0: the default
  bool force = false;
  size_t max_bytes = 4 << 20;
  int launch = 1;         ///< of several
  unsigned seed = 1;      ///< of the random order; the launch plus what the plan says
  size_t cold_bytes = 0;  ///< Effort::cold_bytes; 0: by the caches
  // Of every sweep (SweepOptions).
  double loop_seconds = SweepOptions{}.loop_seconds;
  double threshold = SweepOptions{}.threshold;
  size_t separation = SweepOptions{}.separation;
  std::vector<size_t> listed;  ///< Effort::listed
  bool cold_collectives = false;
  std::vector<MessagePattern> patterns;
  bool adaptive_patterns = false;  ///< Effort::adaptive_patterns
  std::vector<Level> levels;       ///< to be measured; empty: all levels between ranks
};

/// Reads `--key=value` words; a key may be given several times if it is a list. Errors: UsageError
/// if `rubato calibrate` did not write them.
Options read_options(int argc, char** argv);

}  // namespace rubato
