#pragma once

// Differences between two runs of the same program, recorded or predicted, before and after a
// change: all operations of all ranks, aligned (alignment.h), and the gap between their times
// (after less before) summed up by call, level, rank and function. The rows of a table add up to
// the mean window of a rank in each run.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "replay/compare/call_log.h"

namespace rubato {

/// Time that each of two runs spent on something, over all ranks. Seconds.
struct TimePair {
  double before = 0;
  double after = 0;
  uint64_t before_calls = 0;
  uint64_t after_calls = 0;
  /// Half-widths of the 95 % intervals of a function's times, if these are from samples; else 0.
  double before_error = 0, after_error = 0;

  double gap() const { return after - before; }
};

/// The description of one of two aligned operations.
struct OperationPlace {
  uint64_t event = 0;  ///< 0: there is none
  std::string what;    ///< "MPI_Send of 8 KiB to 0", "the end of the run"
};

/// A place where two aligned runs diverge.
struct Divergence {
  int rank = 0;
  int thread = 0;
  OperationPlace before, after;
  double time = 0;  ///< since the beginning of the run: of `after` if it has the operation
};

/// An operation that takes longer in one run than in the other. Seconds.
struct OperationGap : Divergence {
  double before_seconds = 0;
  double after_seconds = 0;

  double gap() const { return after_seconds - before_seconds; }
};

/// The first place where a rank is ahead or behind by more than a threshold.
struct Drift : Divergence {
  double drift = 0;    ///< time up to the end of the operation: after less before
  double inside = 0;   ///< the part in this operation
  double outside = 0;  ///< the part between the previous operation and this one
  /// Where the larger part ends: the enter of the operation, or its leave; as `time`.
  double since = 0;
};

struct RunDifference {
  /// By name of the call, or OutsidePart.
  std::map<std::string, TimePair> by_call;
  std::array<TimePair, kLevels + 1> by_level{};  ///< of MPI time; last: of calls without a peer
  /// Of MPI time: call, level, and bytes rounded down to a power of two.
  std::map<std::tuple<std::string, uint8_t, uint64_t>, TimePair> by_size;
  std::vector<TimePair> by_rank;  ///< of the whole window
  /// Compute in functions and what they call; not set by difference_of().
  std::map<std::string, TimePair> by_function;
  uint64_t same = 0;       ///< aligned operations
  uint64_t different = 0;  ///< aligned by their names alone
  uint64_t only_before = 0;
  uint64_t only_after = 0;
  std::optional<Divergence> first_difference;
  std::optional<Drift> first_drift;
  std::vector<OperationGap> largest;  ///< in MPI, the largest first
};

/// Aligns both runs. `threshold`: seconds of the first drift; `largest`: number of operations to
/// list. Errors: InputError if the numbers of ranks differ.
RunDifference difference_of(const CallLog& before, const CallLog& after, double threshold,
                            size_t largest);

}  // namespace rubato
