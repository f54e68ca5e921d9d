#pragma once

#include <cstdint>
#include <limits>

namespace rubato {

/// What determines a time: the enter of a call by `timeline` at `at`; later than that, only the
/// speed of the machine matters. With one lane.
struct Origin {
  int32_t timeline = -1;  ///< -1: not known
  double at = 0;          ///< ticks
};

/// A time and its origin.
struct Dated {
  double time = -std::numeric_limits<double>::infinity();
  Origin origin;

  /// The later of both; the first on a tie.
  void raise(double other, const Origin& by) {
    if (other > time) *this = {other, by};
  }
};

}  // namespace rubato
