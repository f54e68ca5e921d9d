#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tracer/mpi_headers.h"
#include "tracer/overhead.h"

namespace rubato {

struct ThreadLog;

/// What recording a function costs where the program calls it (`rubato trace --probe-overhead`).
///
/// A loop that does nothing but record does not tell: next to the program's own work a processor
/// does part of the recording for nothing, or with cold caches. So now and then some functions pass
/// by unrecorded, between two windows of as many that are recorded, and all three are timed. What
/// the recorded windows took longer is the cost of their records. Windows in which anything but
/// functions went on record do not count.
///
/// The hot path knows of it by two things: ThreadLog::limit, which lies before the end of the
/// segment where a window ends, and functions::pass(). Used by the thread of its log.
class FunctionProbe {
 public:
  /// Threads that get a new segment have a probe from here on.
  static void want() { wanted_ = true; }
  static bool wanted() { return wanted_; }

  /// `log` has a new segment.
  void begin_segment(ThreadLog& log);
  /// ThreadLog::limit is reached by a function or an MPI call. False: the segment is full.
  bool step(ThreadLog& log, size_t words, bool in_function);
  /// The last of those that pass by unrecorded has done so.
  void passed(ThreadLog& log);

  /// Ticks that a record took more than a function that passed by, and of how many samples; call it
  /// when recording has ended.
  double ticks();
  uint64_t samples() const { return samples_; }
  /// Functions that were entered or left without a record.
  uint64_t unrecorded() const { return unrecorded_; }

  /// Mean of the middle half: a sample may hold an interrupt.
  static double middle_mean(double* samples, size_t count);

 private:
  enum class State { kIdle, kBefore, kPassing, kAfter };
  static constexpr uint32_t kWindow = 128;       ///< records of a window
  static constexpr size_t kPeriodWords = 16384;  ///< between two samples, about: 8192 records
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

/// Puts what functions cost on all ranks in place of Overhead::function, where enough passed by
/// unrecorded (function_probe.h): the mean of all samples. Collective over `comm`, when recording
/// has ended. Returns how many functions of all ranks went unrecorded.
uint64_t take_probes(MPI_Comm comm, Overhead& overhead);

}  // namespace rubato
