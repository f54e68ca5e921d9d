#pragma once

// The functions of the program between MPI calls, from samples. A gap between two calls is mostly
// shorter than the period of the samples:
//
//   calls     Allreduce        Irecv        Waitall        Allreduce        Irecv
//   gaps      │ assemble ····s· │            │ solve ······ │ assemble ····· │
//                            └ a sample
//
// All gaps of a timeline between the same two calls (of the same lines, if these are recorded) are
// of one kind, and the functions in a gap have the shares that they have of the samples of its
// kind: an estimate for strata of known size. A gap with kOwnShares samples is a kind of its own,
// in which functions come in the order of the samples.
//
// Samples count processor time. A kind's gaps may last longer, if the program sleeps: time beyond
// twice that of the samples and one period more belongs to no function. (Where a thread often loses
// its core, the kernel misses samples: the kind with the most samples for its time shows how many.)

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/trace/function_times.h"

namespace rubato {

/// The gaps of one timeline. Times in ticks.
class SampledGaps {
 public:
  /// The thread was found in the last one of `path`, not empty, `since` after the gap began;
  /// functions may occur several times. `ticks`: the processor time for which the sample counts.
  void sample(std::span<const CalledFunction> path, double ticks, double since);
  /// The gap before a call at `site` (kNoPlace: not recorded) ends; `call` tells calls apart.
  /// Returns the number of its kind.
  uint32_t end_gap(uint32_t site, uint32_t call, double ticks);
  /// The gap goes on behind a flush of the tracer. Returns the number of a kind, which is that of
  /// the whole gap.
  uint32_t end_piece(double ticks);
  /// Only gaps between these two calls count in tree().
  void begin_window();
  void end_window() { in_window_ = false; }

  // After the last gap, settle() first.
  void settle();
  const CallTree& paths() const { return paths_; }
  /// By kind, see PlaceSink.
  std::vector<std::vector<FunctionPart>> shares() const;
  /// Replaces the number of a kind in FunctionTime::functions by functions and their times.
  void resolve(std::vector<FunctionTime>& times) const;
  /// The compute by call path, with the intervals of Agresti and Coull for each kind's shares.
  CallTree tree() const;

 private:
  static constexpr size_t kOwnShares = 10;
  // Samples in order: if neighbours with the same path are combined, so many for a gap and for a
  // timeline.
  static constexpr size_t kMostInGap = 255, kMostInOrder = 1 << 18;

  /// Samples of a kind with the same path; if a gap is a kind, only neighbours are combined.
  struct Found {
    uint32_t node = 0;  ///< of paths_
    double ticks = 0;
    double since = 0;  ///< sum over samples
    uint64_t samples = 0;
  };
  struct Kind {
    double gaps = 0;       ///< ticks
    double in_window = 0;  ///< of them, between MPI_Init and MPI_Finalize
    double sampled = 0;
    uint64_t samples = 0;
    double known = 0;  ///< part of the gaps that belongs to functions
    std::vector<Found> found;
    uint32_t same_as = kNoPlace;  ///< of pieces: the kind of the gap
  };

  /// Adds to the samples with the same path behind the first `begin`, or as another one.
  static void add(std::vector<Found>& found, const Found& more, size_t begin = 0);
  std::vector<Found> in_order();

  CallTree paths_;
  std::vector<uint64_t> chosen_ = {0};  ///< by node: the bits of all functions on its path
  std::vector<Found> open_;             ///< samples in the current gap
  std::vector<Kind> kinds_;
  size_t in_order_ = 0;                                        ///< Found of gaps of their own
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> numbers_;  ///< by the calls around the gap
  uint64_t before_ = 0;                                        ///< the call before the gap
  bool in_window_ = true;
  uint32_t pieces_ = kNoPlace;  ///< kind of the pieces of the current gap; kNoPlace: none
  double before_piece_ = 0;     ///< ticks of these
};

}  // namespace rubato
