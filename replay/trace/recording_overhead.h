#pragma once

#include <cstdint>

namespace rubato {

/// Seconds that recording added to each MPI call, and to the compute between them. All 0 when
/// nobody says.
struct RecordingOverhead {
  double outside = 0;        ///< before the enter stamp and after the leave stamp
  double inside_before = 0;  ///< between the enter stamp and the MPI call
  double inside_after = 0;   ///< between the MPI call and the leave stamp, with the call site
  // For what a call has on record, also between the MPI call and the leave stamp:
  double message = 0;     ///< each message of a blocking call
  double request = 0;     ///< each message that a nonblocking call posts
  double completion = 0;  ///< each request that completes
  double collective = 0;  ///< each collective
  double function = 0;    ///< for each enter or leave of a function between calls

  bool any() const {
    return outside > 0 || inside_before > 0 || inside_after > 0 || message > 0 || request > 0 ||
           completion > 0 || collective > 0 || function > 0;
  }
};

/// Overhead that was not subtracted: a gap or call recorded shorter than its overhead never becomes
/// negative.
struct ClippedOverhead {
  uint64_t count = 0;  ///< of such gaps and calls
  double ticks = 0;    ///< that were left in

  void add(double too_much) {
    ++count;
    ticks += too_much;
  }
};

}  // namespace rubato
