#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracer/layout/overhead.h"
#include "tracer/mpi/mpi_headers.h"

namespace rubato {
inline namespace tracing {

struct ThreadLog;

/// Measures the cost of recording functions where the program calls them.
///
/// A loop of records alone does not show this cost: beside the program's own work, recording partly
/// overlaps with it, or runs with cold caches. Therefore some functions pass unrecorded from time
/// to time, between two windows of as many recorded ones, and all three are timed. The recorded
/// windows take longer by the cost of their records. Windows with any other record do not count.
///
/// The hot path depends on it in two places: ThreadLog::limit is lowered to the end of a window,
/// and functions::pass(). Used by the thread of its log.
class FunctionProbe {
 public:
  /// From now on, threads that get a new segment have a probe.
  static void want() { wanted_ = true; }
  static bool wanted() { return wanted_; }

  /// A sample is under way.
  bool is_sampling() const { return state_ != State::kIdle; }
  /// `log` has a new segment.
  void begin_segment(ThreadLog& log);
  /// ThreadLog::limit is reached by a function or an MPI call. False: the segment is full.
  bool step(ThreadLog& log, size_t words, bool in_function);
  /// The last unrecorded function of a sample has passed.
  void passed(ThreadLog& log);

  /// Ticks of a record beyond an unrecorded function, and the number of samples; call it when
  /// recording has ended.
  double ticks();
  uint64_t samples() const { return samples_; }
  /// Functions that were entered or left without a record.
  uint64_t unrecorded() const { return unrecorded_; }

  /// Mean of the middle half: a sample may hold an interrupt.
  static double middle_mean(double* samples, size_t count);

 private:
  enum class State { kIdle, kBefore, kPassing, kAfter };
  static constexpr uint32_t kWindow = 128;       ///< records of a window
  static constexpr size_t kPeriodWords = 16384;  ///< mean between two samples: 8192 records
  static constexpr size_t kLeastSamples = 8;     ///< in a block
  void wait(ThreadLog& log, size_t words);
  void begin_window(ThreadLog& log, uint32_t records);
  bool whole(const ThreadLog& log) const;
  void add(double sample);
  void end_block();

  static inline bool wanted_ = false;
  State state_ = State::kIdle;
  uint64_t* end_ = nullptr;    ///< of the segment
  uint64_t* begin_ = nullptr;  ///< of the window
  uint32_t records_ = 0;       ///< that the window is to have
  uint64_t since_ = 0;
  double before_ = 0;
  double passing_ = 0;
  std::array<double, 64> block_{};  ///< the machine's speed changes: each block has its own mean
  size_t in_block_ = 0;
  double sum_ = 0;  ///< of the means, times samples
  uint64_t samples_ = 0;
  uint64_t unrecorded_ = 0;
  uint32_t random_ = 1;
};

/// Replaces Overhead::function by the mean of all samples of all ranks, if there are enough of
/// them. Collective over `comm`, when recording has ended. Returns the number of unrecorded
/// functions of all ranks.
uint64_t take_probes(MPI_Comm comm, Overhead& overhead);

}  // namespace tracing
}  // namespace rubato
