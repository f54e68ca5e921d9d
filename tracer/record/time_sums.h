#pragma once

#include <array>
#include <cstdint>

#include "tracer/layout/record.h"

/// The time of a thread by activity, as sums over its records: for the line of `rubato trace
/// --summary` at the end of a run, also if the records themselves are not kept.
namespace rubato {
inline namespace tracing {

/// Calls that begin and end the time that counts, by CallId.
struct RunBounds {
  unsigned init = kFirstMark;
  unsigned init_thread = kFirstMark;
  unsigned finalize = kFirstMark;
};

/// Adds up records in their order. Times are ticks; what was stolen (stolen.h) is nanoseconds. The
/// definitions are those of the replay's profile (replay/observe/profile.h).
class TimeSums {
 public:
  /// Sums over the calls of one kind.
  struct CallSum {
    uint64_t count = 0;
    uint64_t ticks = 0;   ///< inside, less what asking for stolen time took
    uint64_t stolen = 0;  ///< nanoseconds of that without a core
  };

  /// What became of a record.
  struct Booked {
    enum Kind : uint8_t {
      kNoCall,   ///< a mark, a call of pthreads, a call that was not left
      kInit,     ///< MPI_Init: what was booked before is outside of the time that counts
      kOutside,  ///< MPI_Finalize
      kInside,
    };
    Kind kind = kNoCall;
    uint64_t ticks = 0;   ///< CallSum's
    uint64_t stolen = 0;  ///< likewise
  };

  explicit TimeSums(const RunBounds& bounds) : bounds_(bounds) {}

  Booked add(const record::Record& r);

  bool any() const { return last_ != 0; }
  /// MPI_Init's leave, else the first record.
  uint64_t start() const { return start_; }
  /// MPI_Finalize's enter, else the end of the last record.
  uint64_t end() const { return over_ ? end_ : last_; }

  /// By CallId, between start and end. Calls of pthreads are none: their time is the program's.
  const std::array<CallSum, kFirstMark>& calls() const { return calls_; }
  uint64_t tracer_ticks() const { return tracer_; }  ///< moving records, asking for stolen time
  uint64_t off_ticks() const { return off_; }        ///< recording was switched off
  uint64_t stolen() const { return stolen_; }        ///< nanoseconds, inside and outside of calls

 private:
  void mark(const record::Record& r, uint64_t enter);
  Booked call(const record::Record& r, uint64_t enter);

  RunBounds bounds_;
  bool over_ = false;
  uint64_t start_ = 0, end_ = 0;
  uint64_t last_ = 0;                        ///< when the latest record was left
  uint64_t off_since_ = 0;                   ///< 0: recording is on
  uint64_t asked_at_ = 0, asked_ticks_ = 0;  ///< the last time the kernel was asked, and how long
  uint64_t tracer_ = 0, off_ = 0, stolen_ = 0;
  std::array<CallSum, kFirstMark> calls_{};
};

}  // namespace tracing
}  // namespace rubato
