#pragma once

#include <cstdint>
#include <limits>

namespace rubato {

/// What a time follows from: `timeline` until it entered a call at `at`, and nothing that came
/// later, but for what the machine takes. With one lane.
struct Origin {
  int32_t timeline = -1;  ///< -1: not known
  double at = 0;          ///< ticks
};

/// A time, and what it follows from.
struct Dated {
  double time = -std::numeric_limits<double>::infinity();
  Origin origin;

  /// The later of both; of two at once the first.
  void raise(double other, const Origin& by) {
    if (other > time) *this = {other, by};
  }
};

}  // namespace rubato
