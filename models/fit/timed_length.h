#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/fit/fit.h"

namespace rubato {

/// What counts of the loops over a length.
enum class OfLoops : uint8_t {
  kLeast,   ///< mpptest's: the number that a second run gives again, what nothing disturbed
  kMedian,  ///< what a message takes most of the time, on this machine with what else it does
};

/// How options and [measured] call them: "min", "median".
const char* name_of(OfLoops of_loops);

/// The one of that name. Errors: UsageError.
OfLoops of_loops_named(const std::string& name);

/// What a length of one pattern was measured to take.
struct TimedLength {
  double bytes = 0;
  int messages = 1;    ///< at once; more than 1 in a burst
  double seconds = 0;  ///< the minimum of averages, or their median
  /// Of two halves of the measurements, each what a repetition would give; 0 = not known.
  double half[2] = {0, 0};
  int launches = 1;  ///< that the time comes from: it counts so many times
  /// Relative standard error of `seconds` as the launches differ; 0 with one, which cannot tell.
  /// Where two numbers are all that it comes from, error_of_halves().
  double launch_error = 0;
};

/// How far two independent minima of one length lie apart, relative, median over the lengths; an
/// upper bound for the minimum of all. 0 where nothing is known.
double repeatability(const std::vector<TimedLength>& timings);

/// The relative standard error of `seconds` as its two halves tell it. One difference tells little:
/// it is scaled so that the median over many lengths is right. Half a difference has the standard
/// deviation that the mean of both has, and the median of such a magnitude is 0.6745 (1 / 1.4826)
/// of it, the probable error. 0 where the halves are not known.
double error_of_halves(const TimedLength& timing);

/// The relative standard error of `seconds`: of several launches launch_error, of one that of its
/// halves. 0 where nothing is known.
double relative_error(const TimedLength& timing);

/// What launches of one program on one machine differ by, as a relative standard error of each,
/// where only one was measured: Hunold and Carpen-Amarie, "Reproducible MPI Benchmarking Is Still
/// Not As Easy As You Think", section 4.2, find the means of launches of the same job to differ by
/// 3 to 5 %, and a difference of two is off by sqrt(2) as much as either.
inline constexpr double kLaunchSpread = 0.04 / 1.41421356;

/// The relative standard error of the lengths from `low` up to `high`, exclusive, median over them:
/// of several launches what they differ by, of one what its two halves do, and kLaunchSpread. What
/// is common to all lengths of a launch stays in it: it is what another calibration would find. 0
/// where nothing is known.
double reproducibility(const std::vector<TimedLength>& timings, double low, double high);

/// Adds reproducibility() to the uncertainty of each segment: the samples of a launch are off
/// together, which no residual tells.
void add_reproducibility(SegmentedFit& fit, const std::vector<TimedLength>& timings);

}  // namespace rubato
