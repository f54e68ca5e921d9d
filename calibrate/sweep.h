#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/fit/level_fit.h"

namespace rubato {

/// What a length was measured to take, over all loops. Seconds.
struct Timing {
  double min = 0;  ///< the minimum of averages: the number that a second run gives again
  double max = 0;
  double sum = 0;
  int loops = 0;
  int round_trips = 0;      ///< averaged over in the last loop
  std::vector<double> all;  ///< of each loop

  double average() const { return loops ? sum / loops : 0; }
  /// The median is for waits, too, which a disturbance may make shorter as well as longer.
  double seconds(OfLoops of_loops) const;
  /// Of the even (0) or of the odd loops (1): what a repetition would give. 0 with less than two.
  double half(OfLoops of_loops, size_t which) const;
  void add(double seconds, int round_trips_of_loop);
};

using Timings = std::map<size_t, Timing>;

/// One loop: `round_trips` exchanges of `bytes`; returns the seconds of one, averaged over the
/// loop.
using Loop = std::function<double(size_t bytes, int round_trips)>;

struct SweepOptions {
  size_t max_bytes = 4 << 20;
  double budget = 3;       ///< seconds; may be passed by what the least number of cycles takes
  double busy_budget = 6;  ///< goes on so long while repetitions differ by more than kRepeatable
  double loop_seconds = 50e-6;  ///< a loop's length: far above what reading the clock takes
  int min_round_trips = 2;
  int max_round_trips = 5000;
  int first_cycles = 8;     ///< over the starting lengths before any of them is refined
  int max_cycles = 400;     ///< over all lengths, then it is good enough
  double threshold = 0.05;  ///< relative error of linear interpolation that asks for another length
  size_t max_lengths = 200;
  unsigned seed = 1;          ///< of the order of lengths inside a cycle
  std::vector<size_t> extra;  ///< lengths known to matter (both sides of an eager limit)
  bool refine = true;
  OfLoops of_loops = OfLoops::kLeast;  ///< what has to be the same in both halves
  std::set<size_t> only;  ///< these lengths instead of the starting lengths, where there are any
  /// Exactly these lengths, whatever the rules above say; empty: as they say. So that several
  /// launches can be compared length by length.
  std::vector<size_t> lengths;
  std::function<bool()> stop;  ///< asked between loops; true ends the sweep with what there is
  std::function<void(const std::string&)> progress;  ///< told now and then what is going on
};

/// 0, 1, 2, 3, 4, 6, 8, 12, ... max_bytes: powers of two and the lengths halfway between; and 73,
/// 289, 1153, ...: an eighth and a byte above the powers of four from 64 on.
std::set<size_t> starting_lengths(size_t max_bytes);

/// Lengths that should be measured as well, the most needed first: mpptest's rule. Where a straight
/// line between the neighbours of a length misses it by more than `threshold` (relative), the
/// middles of the intervals on both sides, unless they are closer together than max(4 bytes, 1/64
/// of the length), for a miss of three thresholds 1/512: a large step is worth knowing exactly.
std::vector<size_t> refinement(const Timings& timings, double threshold);

/// Two halves of a sweep that differ by more than this (relative) were disturbed.
inline constexpr double kRepeatable = 0.02;

/// What counts of a sweep, and of its even and odd loops.
std::vector<TimedLength> timed_lengths(const Timings& timings, OfLoops of_loops = OfLoops::kLeast);

/// Lengths whose time stands out above both neighbours by more than 10 %, the shortest above its
/// only one: a property of the system or a moment of load, which only another measurement tells
/// apart.
std::vector<size_t> anomalies(const Timings& timings);

/// The measuring loop of mpptest (Gropp and Lusk 1999): repetitions outside, lengths inside, so
/// that a disturbance of some milliseconds never owns a length; the minimum of averages counts;
/// several cycles before lengths are refined; anomalies measured again.
Timings sweep(const Loop& loop, const SweepOptions& options);

/// The same with several loops that are to be compared: each visit of a length runs all of them,
/// one after the other, so that the machine is in the same state for them (two processors that
/// share a core for some seconds, and then do not). They are as repeatable as the worst of them;
/// lengths are refined by the first.
std::vector<Timings> sweep_in_turn(const std::vector<Loop>& loops, const SweepOptions& options);

/// The largest length for which `eager` holds, by doubling and then halving down to one byte.
/// `eager` may be wrong when it says no (a lost processor), so the answer is asked again.
std::optional<size_t> find_eager_limit(const std::function<bool(size_t)>& eager, size_t max_bytes);

}  // namespace rubato
