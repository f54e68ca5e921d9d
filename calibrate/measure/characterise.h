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
#include "calibrate/plan/partner_list.h"
#include "calibrate/plan/time_plan.h"
#include "models/fit/protocol_fit.h"

namespace rubato {

/// One pattern of messages over its lengths.
struct Series {
  std::string pattern;  ///< name in the file of samples
  Timings timings;
};

/// The series of a level.
struct LevelSeries {
  Level level = Level::kNode;
  std::vector<Series> series;
  ProtocolProbe probe = {};
};

/// The user's options, and the signal to stop a run.
struct Effort {
  Pace pace;
  OfLoops of_loops = OfLoops::kLeast;  ///< the statistic that counts and has to be repeatable
  size_t max_bytes = 4 << 20;
  size_t cold_bytes = 0;  ///< of each buffer that cold patterns and copies walk through
  // Of every sweep (SweepOptions).
  double loop_seconds = SweepOptions{}.loop_seconds;
  double threshold = SweepOptions{}.threshold;
  size_t separation = SweepOptions{}.separation;
  std::vector<size_t> listed;  ///< lengths instead of those by the rules; empty: by the rules
  unsigned seed = 1;
  bool adaptive_patterns = false;  ///< ping-pongs in further modes refine their own lengths
  LengthList lengths;              ///< given lengths of patterns
  PartnerList partners;            ///< of kPartners; on the rank that measures
  std::function<bool()> stop;
  std::function<void(const std::string&)> progress;
  /// Called at the begin of each part with its budget in seconds; returns how long the part may
  /// continue if the machine is busy (TimePlan::begin). On the rank that measures.
  std::function<double(double)> begin = [](double budget) { return 2 * budget; };
  /// Receives the parts that a quick run leaves out to end in time. On the rank that measures.
  std::function<void(const std::string&)> leave_out = [](const std::string&) {};
  /// Receives what was measured, part by part: from then on it survives a kill of the run. On the
  /// rank that measures.
  std::function<void(const LevelSeries&)> keep = [](const LevelSeries&) {};
};

/// Shuffles items in an order that depends on the seed only, the same on all ranks.
template <typename Item>
void shuffle_in_order_of(unsigned seed, std::vector<Item>& items) {
  std::mt19937 random(seed);
  std::shuffle(items.begin(), items.end(), random);
}

/// The rules of a sweep of `budget` seconds, without more time on a busy machine.
SweepOptions sweep_options(const Effort& effort, double budget);

/// Makes a sweep measure the listed lengths, up to its longest, if there are some.
void take_listed(SweepOptions& options, const Effort& effort);

/// Makes a sweep report the lengths of `what` that it leaves out.
void tell_left_out(SweepOptions& options, const Effort& effort, const std::string& what);

/// Planned time of all parts of a level, seconds.
double planned_seconds(Level level, const Pace& pace);

/// Measures one level, into effort.keep; called on rank 0 while the partner serves. Errors:
/// InputError when a payload arrives damaged.
void characterise(Pair& pair, Level level, int partner, const Effort& effort);

}  // namespace rubato
