#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tracer/counters/kernel_events.h"
#include "tracer/counters/papi_events.h"

namespace rubato {
inline namespace tracing {

/// The counters of one thread, read where it enters and leaves an MPI call, so that what the
/// program does and what MPI does are counted apart. A reading is one system call for the kernel's
/// events (1 to 3 us) and one call of PAPI for all others. What the readings themselves count is
/// subtracted, and their time is summed up for the overhead. Never prints or changes errno;
/// allocates only where a thread begins.
class ThreadCounters {
 public:
  using Counts = std::array<uint64_t, kMaxCounters>;

  /// Before the first record: all threads count the events of this list. Returns "", or why this
  /// thread cannot count them.
  static std::string start(const std::string& list);
  /// The number of counters; 0: none are wanted.
  static size_t count() { return count_; }
  /// Opens the counters of this thread at the first call; null if there are none.
  static ThreadCounters* of_this_thread();
  /// To be called where a thread ends.
  static void end_thread();
  /// Readings in calls and functions, and their ticks, without readings that lost their core.
  struct Readings {
    uint64_t count = 0;
    uint64_t ticks = 0;
    double mean() const {
      return count == 0 ? 0 : static_cast<double>(ticks) / static_cast<double>(count);
    }
  };
  /// Of this thread; when it begins, those of a loop.
  const Readings& readings() const { return readings_; }
  /// Of threads that have ended.
  static Readings ended_readings();
  /// Ticks of a reading in a loop; 0 if nothing is counted.
  static double loop_ticks();

  /// Threads that could not open their counters.
  static uint64_t threads_without() { return threads_without_; }

  /// What was counted since the last reading: by the program (enter()), by MPI (leave()).
  void enter() { take(outside_); }
  void leave() { take(inside_); }
  const Counts& outside() const { return outside_; }
  const Counts& inside() const { return inside_; }

  /// From here on a stretch of the tracer's own work is not counted, up to end_own_work().
  void begin_own_work();
  void end_own_work();
  /// Discards what was counted since the last reading.
  void restart();

 private:
  bool open();
  void close();
  bool read(Counts& values);
  void take(Counts& counted);
  void measure_reading();

  static size_t count_;
  static uint64_t threads_without_;

  KernelCounters kernel_;
  PapiCounters papi_;
  Counts last_{};
  Counts outside_{};
  Counts inside_{};
  Counts reading_{};   ///< what a reading in a loop counts itself
  uint64_t loop_ = 1;  ///< its ticks
  Readings readings_;
  Counts paused_{};  ///< when the tracer's own work began
};

}  // namespace tracing
}  // namespace rubato
