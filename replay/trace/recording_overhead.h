#pragma once

#include <algorithm>
#include <cstdint>

namespace rubato {

/// Seconds that recording added to each MPI call, and to the compute between calls. All 0 if
/// unknown.
struct RecordingOverhead {
  double outside = 0;        ///< before the enter stamp and after the leave stamp
  double inside_before = 0;  ///< between the enter stamp and the MPI call
  double inside_after = 0;   ///< between the MPI call and the leave stamp, with the call site
  // Per record of a call, also between the MPI call and the leave stamp:
  double message = 0;     ///< each message of a blocking call
  double request = 0;     ///< each message that a nonblocking call posts
  double completion = 0;  ///< each request that completes
  double collective = 0;  ///< each collective
  double function = 0;    ///< per enter or leave of a function between calls

  bool any() const {
    return outside > 0 || inside_before > 0 || inside_after > 0 || message > 0 || request > 0 ||
           completion > 0 || collective > 0 || function > 0;
  }
};

/// Overhead that was not subtracted: a gap or call recorded shorter than its overhead never becomes
/// negative.
class ClippedOverhead {
 public:
  /// Adds a gap or call of which `ticks` ticks are left.
  void add(double ticks) {
    ++count_;
    parts_ += static_cast<uint64_t>(std::min(kMostTicks, ticks) * kPartsOfTick + 0.5);
  }
  void add(const ClippedOverhead& other) {
    count_ += other.count_;
    parts_ += other.parts_;
  }
  uint64_t count() const { return count_; }
  double ticks() const { return static_cast<double>(parts_) / kPartsOfTick; }

 private:
  /// Integers, so that the sum does not depend on the order in which timelines run.
  static constexpr double kPartsOfTick = 1024;
  static constexpr double kMostTicks = 1e12;  ///< of one; a damaged archive may have more
  uint64_t count_ = 0;
  uint64_t parts_ = 0;
};

}  // namespace rubato
