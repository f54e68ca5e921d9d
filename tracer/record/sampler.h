#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

struct ThreadLog;

/// Samples the program between its MPI calls: a timer per thread, which counts the thread's
/// processor time, so that it does not interrupt a sleeping thread. Its signal is a real-time
/// signal without a handler. The kernel looks at such timers at its tick (1 to 10 ms), so
/// a sample may count for several periods.
class Sampler {
 public:
  /// From now on, this thread and later ones with a log are sampled. 0: never.
  static void start(uint64_t period_nanoseconds);
  /// Removes all timers and gives the signal back.
  static void stop();

  /// The calling thread has got a log; the thread of a log ends.
  static void begin_thread(ThreadLog& log);
  static void end_thread(ThreadLog& log);
};

}  // namespace tracing
}  // namespace rubato
