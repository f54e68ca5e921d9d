#pragma once

#include <vector>

namespace rubato {

/// What a length of one pattern was measured to take.
struct TimedLength {
  double bytes = 0;
  int messages = 1;    ///< at once; more than 1 in a burst
  double seconds = 0;  ///< the minimum of averages
  /// Of two halves of the measurements, each what a repetition would give; 0 = not known.
  double half[2] = {0, 0};
  int launches = 1;  ///< that the time comes from: it counts so many times
};

/// How far two independent minima of one length lie apart, relative, median over the lengths; an
/// upper bound for the minimum of all. 0 where nothing is known.
double repeatability(const std::vector<TimedLength>& timings);

}  // namespace rubato
