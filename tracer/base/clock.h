#pragma once

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <cstdint>
#include <ctime>
#include <string>

namespace rubato {
inline namespace tracing {

/// The source of time stamps: the time-stamp counter of x86-64 if it runs at a constant rate and
/// the kernel trusts it, else CLOCK_MONOTONIC. All ranks of a job use the same source, so ranks of
/// one node share a clock without synchronising.
class Clock {
 public:
  static bool tsc_usable();

  /// Before the first stamp.
  static void choose(bool tsc) { tsc_ = tsc; }
  static bool uses_tsc() { return tsc_; }

  static uint64_t now() { return tsc_ ? counter() : monotonic(); }

  /// The time-stamp counter; 0: the processor has none.
  static uint64_t counter() {
#ifdef __x86_64__
    return __rdtsc();
#else
    return 0;
#endif
  }

  static uint64_t monotonic() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
  }

 private:
  static inline bool tsc_ = false;
};

/// The counter and the system clock read as near to each other as can be.
struct ClockPair {
  uint64_t ticks;
  uint64_t nanoseconds;  ///< CLOCK_MONOTONIC
  static ClockPair sample();
};

/// A text that stays the same until the next boot, which restarts the clocks.
std::string boot_id();

/// Ticks per second between two samples, which should lie 20 ms or more apart.
double ticks_per_second(const ClockPair& first, const ClockPair& last);

}  // namespace tracing
}  // namespace rubato
