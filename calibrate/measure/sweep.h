#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/fit/timed_length.h"

namespace rubato {

/// The measured time of a length, over all loops. Seconds.
struct Timing {
  double min = 0;  ///< the minimum of averages: the reproducible number
  double max = 0;
  double sum = 0;
  int loops = 0;
  int round_trips = 0;      ///< averaged over in the last loop
  std::vector<double> all;  ///< of each loop
  /// Of each loop: when it ended, by the clock of the sweep, and its number of round trips.
  std::vector<double> ended;
  std::vector<int> round_trips_of;

  double average() const { return loops ? sum / loops : 0; }
  /// The median is also used for waits, which a disturbance may shorten as well as lengthen.
  double seconds(OfLoops of_loops) const;
  /// Of the even (0) or the odd loops (1): like a repetition. 0 with fewer than two.
  double half(OfLoops of_loops, size_t which) const;
  void add(double seconds, int round_trips_of_loop, double ended_at);
};

using Timings = std::map<size_t, Timing>;

/// One loop: `round_trips` exchanges of `bytes`; returns the average seconds of one.
using Loop = std::function<double(size_t bytes, int round_trips)>;

struct SweepOptions {
  size_t max_bytes = 4 << 20;
  double budget = 3;            ///< seconds; exceeded if the least number of cycles takes longer
  double busy_budget = 6;       ///< seconds, while repetitions differ by more than kRepeatable
  double loop_seconds = 50e-6;  ///< a loop's duration: far above the cost of reading the clock
  int min_round_trips = 2;
  int max_round_trips = 5000;
  int first_cycles = 8;  ///< over the starting lengths before any of them is refined
  int max_cycles = 400;  ///< over all lengths
  /// SKaMPI's rule: a length whose mean has a smaller relative standard error, after Tukey's
  /// filter, is settled, and measured in every fourth cycle only, to save time for the others. 0:
  /// no rule.
  double settled_at = 0;
  double threshold = 0.05;  ///< relative error of linear interpolation that adds another length
  double exact_threshold = 0.01;  ///< the same if loops over a length never differ
  size_t separation = 4;          ///< refinement adds no lengths closer together, in bytes
  size_t max_lengths = 200;
  unsigned seed = 1;          ///< of the order of lengths inside a cycle
  std::vector<size_t> extra;  ///< lengths of interest (both sides of an eager limit)
  bool refine = true;
  OfLoops of_loops = OfLoops::kLeast;  ///< statistic that both halves have to agree on
  std::set<size_t> only;  ///< if not empty: these lengths instead of the starting lengths
  /// Exactly these lengths instead of those by the rules above, so that several launches can be
  /// compared length by length; empty: by the rules.
  std::vector<size_t> lengths;
  /// A quick run: some visits of few lengths show the time of a loop, and lengths for which the
  /// budget is too short are left out (quick_plan.h). Ends in time even if a cycle takes long.
  bool planned = false;
  /// If some lengths are left out: receives all planned lengths, and the lengths that are measured.
  std::function<void(const std::set<size_t>&, const std::set<size_t>&)> left_out;
  std::function<double()> clock;  ///< seconds; unset: the system's
  std::function<bool()> stop;     ///< asked between loops; true ends the sweep with what there is
  std::function<void(const std::string&)> progress;  ///< receives the current state now and then
};

/// 0, 1, 2, 3, 4, 6, 8, 12, ... max_bytes: powers of two and the lengths halfway between; and 73,
/// 289, 1153, ...: an eighth and a byte above the powers of four from 64 on.
std::set<size_t> starting_lengths(size_t max_bytes);

/// Lengths to add, the most needed first, by mpptest's rule: if a straight line between the
/// neighbours of a length misses it by more than `threshold` (relative), the middles of the
/// intervals on both sides; unless they are closer together than `separation` bytes or 1/64 of the
/// length, or 1/512 for a miss of three thresholds: a large step is worth knowing exactly.
std::vector<size_t> refinement(const Timings& timings, double threshold, size_t separation = 4);

/// The statistic of a sweep, and of its even and odd loops.
std::vector<TimedLength> timed_lengths(const Timings& timings, OfLoops of_loops = OfLoops::kLeast);

/// Lengths whose time exceeds both neighbours' by more than 10 % (the shortest: its only
/// neighbour's): due to the system or to a moment of load, which only another measurement can show.
std::vector<size_t> anomalies(const Timings& timings);

/// The measuring loop of mpptest (Gropp and Lusk 1999): repetitions outside, lengths inside, so
/// that a disturbance of some milliseconds never affects all loops of a length; the minimum of
/// averages counts; several cycles before lengths are refined; anomalies are measured again.
Timings sweep(const Loop& loop, const SweepOptions& options);

/// The same with several loops to be compared: each visit of a length runs all of them, one after
/// the other, so that the machine is in the same state for all (two processors may share a core for
/// some seconds, and then not). The least repeatable loop decides on repetitions; lengths are
/// refined by the first one.
std::vector<Timings> sweep_in_turn(const std::vector<Loop>& loops, const SweepOptions& options);

/// The largest length for which `eager` is true, by doubling and then bisection down to one byte. A
/// false `eager` may be wrong (a lost processor), so it is called again.
std::optional<size_t> find_eager_limit(const std::function<bool(size_t)>& eager, size_t max_bytes);

}  // namespace rubato
