#pragma once

#include <string>

#include "models/base/units.h"
#include "models/fit/level_fit.h"

namespace rubato {

/// "310ns to 320ns", or a single text if both ends print the same.
template <typename Show>
std::string brief_range(const Interval& interval, Show show) {
  const std::string low = show(interval.low), high = show(interval.high);
  return low == high ? low : low + " to " + high;
}

/// The same for the bandwidths of a line with a slope in that interval, in reversed order.
inline std::string brief_bandwidths(const Interval& per_byte) {
  return brief_range({per_byte.high, per_byte.low}, brief_bandwidth_of_slope);
}

/// The 95 % ranges of a level's curves, as comment lines of a platform file: a line per segment of
/// the one-way time (o_s + T + o_r; T alone is a difference) and of the gaps. "" without a curve.
std::string curve_ranges(const LevelFit& fit);

/// Likewise for copies. "" if no copies were timed beside that level, or it has no curve itself.
std::string copy_ranges(const LevelFit& fit);

}  // namespace rubato
