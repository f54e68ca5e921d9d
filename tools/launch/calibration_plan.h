#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/fit/fit.h"
#include "models/platform/platform_file.h"
#include "models/statistics/statistics.h"

namespace rubato {

/// The experiments of `rubato calibrate --plan FILE`. Defaults, and what each key means:
/// share/help/plan.txt.
struct CalibrationPlan {
  size_t max_size = 4 << 20;  ///< bytes
  std::string time = "min";   ///< a name of OfLoops
  std::string patterns = "default";
  std::string partners;  ///< a file of ranks that exchange messages, for such patterns
  bool adaptive_patterns = false;
  std::string lengths;              ///< a file of samples; "": lengths are chosen, or
  std::vector<size_t> length_list;  ///< bytes, ascending
  double loop = 50e-6;              ///< seconds
  double threshold = 0.05;          ///< relative error of linear interpolation
  size_t separation = 4;            ///< bytes
  size_t cold_buffer = 0;           ///< bytes; 0: by the largest cache

  std::string collectives = "all";
  std::vector<size_t> collective_sizes;  ///< bytes; empty: up to 1 MiB, fewer of a quick run
  int collective_repetitions = 0;        ///< at most; 0: by the pace
  double tukey_factor = kTukeyFactor;
  bool cold_collectives = false;
  std::string sync = "auto";
  double window = 0;           ///< seconds; 0: by the longest call
  std::string clock = "hca3";  ///< a name of ClockMethod

  int launches = 0;  ///< 0: by the pace
  int seed = 0;      ///< each launch adds its number

  int segments = kSegmentsOfLevel;
  int digits = kMeasuredDigits;

  bool operator==(const CalibrationPlan&) const = default;
};

/// Reads a plan. `origin` names it in messages; `lengths` and `partners` are paths as seen from its
/// folder. Errors: InputError with the line, the key and what is allowed.
CalibrationPlan parse_calibration_plan(const std::string& text, const std::string& origin);
CalibrationPlan load_calibration_plan(const std::string& path);

/// The keys that are not as by default, each as a line of a plan: `max_size = "1KiB"`.
std::vector<std::string> changed_keys(const CalibrationPlan& plan);

/// The plan as words of the calibrator (calibrate/program/options.h).
std::vector<std::string> calibrator_words(const CalibrationPlan& plan);

}  // namespace rubato
