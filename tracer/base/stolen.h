#pragma once

#include <cstdint>

/// Stolen time of a thread: it could run but had no core. The kernel counts it (second field of
/// /proc/thread-self/schedstat). Reading it takes some microseconds, so it is read now and then,
/// and behind each stretch that may have lost its core while the thread loses cores
/// (Recorder::record_stolen()); only if there was a context switch of the thread since, without
/// which nothing can be stolen: that takes less time to find out.
namespace rubato {
inline namespace tracing {

/// The stolen time of one thread. Never allocates, prints or changes errno.
class StolenTime {
 public:
  /// Counts for the calling thread, from now on. If the kernel does not count, take() returns 0.
  void open();
  void close();

  /// Nanoseconds stolen since the last take() or open(). Call it on the same thread.
  uint64_t take();

  /// The next take() returns `stolen` nanoseconds more.
  void put_back(uint64_t stolen) { put_back_ += stolen; }

  bool known() const { return file_ >= 0; }

 private:
  bool read(uint64_t& nanoseconds);
  /// False if there was no context switch of this thread since the last call.
  bool was_switched();

  int file_ = -1;
  uint64_t last_ = 0;
  uint64_t put_back_ = 0;
  long switches_ = -1;  ///< context switches so far
};

/// What the kernel counts of threads: the first two of the three numbers of such a file.
struct ThreadTimes {
  uint64_t ran = 0;     ///< nanoseconds on a core
  uint64_t waited = 0;  ///< nanoseconds in which they could run but had no core

  ThreadTimes& operator+=(const ThreadTimes& more) {
    ran += more.ran;
    waited += more.waited;
    return *this;
  }
};

/// Reads the text of such a file; false if it is something else, or all zero: the kernel does not
/// count.
bool parse_schedstat(const char* text, ThreadTimes& times);

/// Of the thread of this process with this number of the kernel; zeros if unknown. 0: the calling
/// thread.
ThreadTimes times_of_thread(int thread);

}  // namespace tracing
}  // namespace rubato
