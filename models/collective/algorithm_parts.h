#pragma once

#include <bit>
#include <cmath>

namespace rubato {

// Shared by the two views of collective algorithms: closed forms (collective_algorithms.cc) and
// lists of messages (collective_schedule.cc).

inline constexpr int kRadix = 4;   ///< of Open MPI's k-nomial broadcast
inline constexpr int kBatch = 32;  ///< concurrent messages of MPICH's scattered all-to-all

inline int floor_log2(int p) {
  return std::bit_width(static_cast<unsigned>(p)) - 1;
}

/// How a vector is cut into equal segments.
struct Segments {
  double count = 1;
  double bytes = 0;

  Segments(double n, double segment)
      : count(segment > 0 && n > segment ? std::ceil(n / segment) : 1), bytes(n / count) {}
};

}  // namespace rubato
