#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/length_list.h"
#include "calibrate/pair.h"
#include "calibrate/sweep.h"
#include "calibrate/time_plan.h"
#include "models/fit/level_fit.h"

namespace rubato {

/// One pattern of messages over its lengths.
struct Series {
  std::string pattern;  ///< what the file of samples calls it
  Timings timings;
};

/// A measured level: the samples, and the model fitted to them.
struct LevelResult {
  Level level = Level::kNode;
  int partner = 0;  ///< the rank that rank 0 talked to
  std::vector<Series> series;
  ProtocolProbe probe;
  OfLoops of_loops = OfLoops::kLeast;  ///< what the fit is made of
  LevelFit fit;                        ///< without curves when interrupted before there was enough

  /// The timings of a pattern; null if none were taken.
  const Timings* timings_of(const std::string& pattern) const;
  /// The same, created if missing.
  Timings& timings_for(const std::string& pattern);
  /// The samples for the fit, as `rubato fit` reads them from the file of samples.
  LevelSamples samples() const;
};

/// The user's options, and the signal to stop a run.
struct Effort {
  Pace pace;
  OfLoops of_loops = OfLoops::kLeast;  ///< what curves are made of
  size_t max_bytes = 4 << 20;
  size_t cold_bytes = 0;  ///< of each buffer that cold patterns and copies walk through
  unsigned seed = 1;
  LengthList lengths;  ///< of patterns whose lengths were chosen before
  std::function<bool()> stop;
  std::function<void(const std::string&)> progress;
  /// Called at the begin of each part with its budget in seconds; returns how long the part may
  /// continue if the machine is busy (TimePlan::begin). On the rank that measures.
  std::function<double(double)> begin = [](double budget) { return 2 * budget; };
  /// Receives the finished series of a level, without its fit: from then on they survive a kill of
  /// the run. On the rank that measures.
  std::function<void(const LevelResult&)> keep = [](const LevelResult&) {};
};

/// The rules of a sweep that takes `budget` seconds, and no longer if the machine is busy.
SweepOptions sweep_options(const Effort& effort, double budget);

/// What the parts of a level are planned to take together, seconds.
double planned_seconds(Level level, const Pace& pace);

/// Measures and fits one level; called on rank 0 while the partner serves. Errors: InputError when
/// a payload arrives damaged.
LevelResult characterise(Pair& pair, Level level, int partner, const Effort& effort);

}  // namespace rubato
