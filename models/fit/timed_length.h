#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/fit/fit.h"

namespace rubato {

/// The statistic of the loops over a length that counts.
enum class OfLoops : uint8_t {
  kLeast,   ///< mpptest's: undisturbed and reproducible
  kMedian,  ///< the usual time, on this machine with its other work
};

/// Names in options and [measured]: "min", "median".
const char* name_of(OfLoops of_loops);

/// The statistic of that name. Errors: UsageError.
OfLoops of_loops_named(const std::string& name);

/// The measured time of a length of one pattern.
struct TimedLength {
  double bytes = 0;
  int messages = 1;    ///< at once; more than 1 in a burst
  double seconds = 0;  ///< the minimum of averages, or their median
  /// Of two halves of the measurements, each like a repetition; 0 = not known.
  double half[2] = {0, 0};
  int launches = 1;  ///< number of launches behind the time; its weight
  /// Relative standard error of `seconds` from the differences between launches; 0 with one launch.
  /// With two numbers only: error_of_halves().
  double launch_error = 0;
};

/// Two halves of a launch that differ by more than this (relative) were disturbed.
inline constexpr double kRepeatable = 0.02;

/// Two halves that differ by less (relative) were measured without disturbances: in a simulator.
inline constexpr double kExact = 1e-6;
/// True if nearly all lengths were measured like that.
bool are_exact(const std::vector<TimedLength>& timings);

/// Relative distance of two independent minima of one length, median over the lengths; an upper
/// bound for the error of the minimum of all. 0 if unknown.
double repeatability(const std::vector<TimedLength>& timings);

/// The relative standard error of `seconds` from its two halves. One difference is a poor estimate:
/// it is scaled so that the median over many lengths is right. Half a difference has the standard
/// deviation of the mean of both, and the median of its magnitude is 0.6745 (1 / 1.4826) of that,
/// the probable error. 0 if the halves are unknown.
double error_of_halves(const TimedLength& timing);

/// The relative standard error of `seconds`: launch_error with several launches, that of its halves
/// with one. 0 if unknown.
double relative_error(const TimedLength& timing);

/// Relative standard error of a single launch, from the variation between launches: Hunold and
/// Carpen-Amarie, "Reproducible MPI Benchmarking Is Still Not As Easy As You Think", section 4.2,
/// find the means of launches of the same job to differ by 3 to 5 %, and a difference of two has
/// sqrt(2) times the error of either.
inline constexpr double kLaunchSpread = 0.04 / 1.41421356;

/// The relative standard error of the lengths from `low` up to `high`, exclusive, median over them:
/// from the differences between launches, or with one launch from its halves and kLaunchSpread. It
/// includes errors common to all lengths of a launch, since another calibration would differ by
/// them. 0 if unknown.
double reproducibility(const std::vector<TimedLength>& timings, double low, double high);

/// Adds reproducibility() to the uncertainty of each segment: the samples of a launch share errors
/// that no residual shows.
void add_reproducibility(SegmentedFit& fit, const std::vector<TimedLength>& timings);

}  // namespace rubato
