#pragma once

// The operations of a logged timeline, comparable between two runs of a program: a run of polls is
// one operation, whatever its length, and activities of the tracer are no operations.

#include <array>
#include <cstdint>
#include <span>

#include "replay/compare/call_log.h"

namespace rubato {

/// Time of a timeline outside of MPI calls.
enum class OutsidePart : uint8_t {
  kCompute,
  kOff,     ///< measurement was switched off
  kFlush,   ///< the tracer wrote its buffer
  kStolen,  ///< the thread had no core
};
inline constexpr int kOutsideParts = 4;
inline constexpr std::array<const char*, kOutsideParts> kOutsideNames = {
    "compute", "switched off", "tracer's flushes", "lost core"};

/// An MPI call, or a run of polls, with the time before it. Seconds.
struct Operation {
  LoggedCall call;                              ///< the first one, of polls
  std::array<double, kOutsideParts> outside{};  ///< since the previous operation, and between polls
  double inside = 0;                            ///< in the call, or the polls
  double leave = 0;                             ///< of the last one
  uint32_t calls = 1;
  bool polls = false;
  bool is_end = false;  ///< no call, but the end of the window
};

class OperationReader {
 public:
  OperationReader(const CallLog& log, int timeline);

  /// The next operation of the timeline's window; the last one is its end. False after it.
  bool next(Operation& operation);

  const CallLog& log() const { return *log_; }
  /// The begin of the window: the leave of MPI_Init, else the first record.
  double begin() const { return begin_; }

 private:
  bool is_poll(const LoggedCall& call) const;
  /// Reads the next MPI call, or the end, into ahead_.
  void read_ahead();

  const CallLog* log_;
  CallLog::Reader reader_;
  double begin_ = 0;
  double clock_ = 0;  ///< leave of the previous call
  Operation ahead_;
  bool has_ahead_ = false;
  bool ended_ = false;
};

}  // namespace rubato
