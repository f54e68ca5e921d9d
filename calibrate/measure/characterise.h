#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measure/pair.h"
#include "calibrate/measure/sweep.h"
#include "calibrate/plan/length_list.h"
#include "calibrate/plan/time_plan.h"
#include "models/fit/protocol_fit.h"

namespace rubato {

/// One pattern of messages over its lengths.
struct Series {
  std::string pattern;  ///< what the file of samples calls it
  Timings timings;
};

/// What was measured on a level.
struct LevelSeries {
  Level level = Level::kNode;
  std::vector<Series> series;
  ProtocolProbe probe = {};
};

/// The user's options, and the signal to stop a run.
struct Effort {
  Pace pace;
  OfLoops of_loops = OfLoops::kLeast;  ///< what counts, and what has to be repeatable
  size_t max_bytes = 4 << 20;
  size_t cold_bytes = 0;  ///< of each buffer that cold patterns and copies walk through
  // Of every sweep (SweepOptions).
  double loop_seconds = SweepOptions{}.loop_seconds;
  double threshold = SweepOptions{}.threshold;
  size_t separation = SweepOptions{}.separation;
  unsigned seed = 1;
  bool adaptive_patterns = false;  ///< ping-pongs in further modes have lengths of their own choice
  LengthList lengths;              ///< of patterns whose lengths were chosen before
  std::function<bool()> stop;
  std::function<void(const std::string&)> progress;
  /// Called at the begin of each part with its budget in seconds; returns how long the part may
  /// continue if the machine is busy (TimePlan::begin). On the rank that measures.
  std::function<double(double)> begin = [](double budget) { return 2 * budget; };
  /// Receives what a quick run leaves out: it ends in time on any network. On the rank that
  /// measures.
  std::function<void(const std::string&)> leave_out = [](const std::string&) {};
  /// Receives what was measured, part by part: from then on it survives a kill of the run. On the
  /// rank that measures.
  std::function<void(const LevelSeries&)> keep = [](const LevelSeries&) {};
};

/// In a random order that follows from the seed, the same on all ranks.
template <typename Item>
void shuffle_in_order_of(unsigned seed, std::vector<Item>& items) {
  std::mt19937 random(seed);
  std::shuffle(items.begin(), items.end(), random);
}

/// The rules of a sweep that takes `budget` seconds, and no longer if the machine is busy.
SweepOptions sweep_options(const Effort& effort, double budget);

/// Has a sweep tell what it leaves out, as lengths of `what`.
void tell_left_out(SweepOptions& options, const Effort& effort, const std::string& what);

/// What the parts of a level are planned to take together, seconds.
double planned_seconds(Level level, const Pace& pace);

/// Measures one level, into effort.keep; called on rank 0 while the partner serves. Errors:
/// InputError when a payload arrives damaged.
void characterise(Pair& pair, Level level, int partner, const Effort& effort);

}  // namespace rubato
