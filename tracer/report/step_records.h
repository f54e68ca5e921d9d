#pragma once

#include <cstdint>
#include <string>

#include "tracer/layout/record.h"
#include "tracer/record/time_sums.h"
#include "tracer/report/flat_table.h"

/// The records of some steps of a run without a trace, for a replay on other networks.
///
/// A step lies between two blocking collectives for which all members wait, and which have all
/// ranks as members; the first one begins behind MPI_Init, the last one ends at MPI_Finalize. All
/// ranks make these collectives in one order, so the steps have the same numbers everywhere, and
/// the ranks choose the same steps without a word to each other: those whose hash is divisible by
/// the stride, which doubles when the memory is full. At the end the largest stride of all ranks
/// counts. With a stride of 1 all steps are known, except steps that would fill half of the memory:
/// they are left out, and their sums are listed. Readers need the steps that all ranks have.
namespace rubato {
inline namespace tracing {

struct LocalObjects;

class StepRecords {
 public:
  static constexpr size_t kMostWords = size_t{1} << 18;   ///< of a rank
  static constexpr size_t kMostOfAll = size_t{1} << 22;   ///< of all ranks together
  static constexpr size_t kLeastWords = size_t{1} << 10;  ///< of a rank; with less nothing is kept
  static constexpr size_t kMostLeftOut = 256;  ///< steps that are listed; with more nothing is kept

  /// Call it before the first step.
  void set_ranks(int ranks);
  /// A step begins; `posted`: the thread's requests so far.
  void begin(uint64_t time, uint64_t posted);
  void end(uint64_t time);
  /// Before the next call: nanoseconds without a core, ticks of the tracer's.
  void lost(uint64_t nanoseconds) { lost_ += nanoseconds; }
  void tracer(uint64_t ticks) { tracer_ += ticks; }
  /// A call between MPI_Init and MPI_Finalize; `with_core`: ticks inside in which it had one.
  /// `keys`: of its messages that are sent or received, in order, as both sides compute them
  /// (wait_samples.h); 0: not known.
  void call(const record::Record& r, const TimeSums::Booked& booked, uint64_t with_core,
            const FlatArray<uint64_t>& keys);

  uint64_t stride() const { return stride_; }
  /// The steps to count at this stride, as share/doc/profile.md describes them. `name`: of a call.
  std::string text(uint64_t stride, double ticks_per_second, const LocalObjects& objects,
                   const char* (*name)(unsigned)) const;

 private:
  struct Step {
    uint64_t number;
    uint64_t posted;  ///< requests, before it
    uint64_t first;   ///< of its words
    uint64_t length;  ///< ticks; 0: it is open
    uint64_t rest;    ///< ticks behind its last call
  };
  /// Words of a call before those of its items.
  enum Head : uint8_t { kCall, kBefore, kInside, kLostBefore, kLostInside, kKeys, kHead };

  static bool wants(uint64_t number, uint64_t stride);
  /// The step is complete, and wanted.
  bool counts(size_t step, uint64_t stride) const {
    return steps_[step].length != 0 && wants(steps_[step].number, stride);
  }
  uint64_t end_of(size_t step) const;
  void keep(const record::Record& r, const TimeSums::Booked& booked,
            const FlatArray<uint64_t>& keys);
  bool put(uint64_t word);
  /// Makes space: leaves out the steps of every other hash.
  void thin();
  void leave_out();
  bool is_large(size_t words) const { return words > most_ / 2; }

  /// Those of the ended steps are at most `most_`; the present one, which may be left out, has
  /// half of that beside them.
  FlatArray<uint64_t> words_{kMostWords + kMostWords / 2};
  FlatArray<Step> steps_{kMostWords / 16};
  size_t most_ = kMostWords;  ///< words of steps that have ended
  uint64_t stride_ = 1;
  uint64_t number_ = 0;  ///< of the present step
  bool kept_ = false;    ///< the present step is the last of steps_
  uint64_t began_ = 0;   ///< tick; 0: no step is open
  uint64_t last_ = 0;    ///< tick of the last leave
  uint64_t lost_ = 0, tracer_ = 0;
  size_t size_ = 0;  ///< words of the present step, kept or not
  struct Sums {
    uint64_t number = 0, length = 0, mpi = 0;  ///< ticks
    uint64_t calls = 0;
  };
  Sums present_;                            ///< of the present step
  FlatArray<Sums> left_out_{kMostLeftOut};  ///< of steps
  bool off_ = false;                        ///< too many ranks, or steps that were left out
};

}  // namespace tracing
}  // namespace rubato
