#pragma once

// How much longer a program takes after a change, and how sure that is.
//
//     slowdown = after / before - 1, of the mean elapsed times
//     half-width² = r² (runs² + (o_after - o_before)² + losses² + losses² + model² + model²)
//
// with r = after / before and all errors relative to the elapsed time of their side, with 95 %
// confidence:
//
//   runs     With several runs of a side: t s sqrt(1/n + 1/m), s the standard deviation of the runs
//            about the means of their sides, t of Student's distribution with n + m - 2 degrees of
//            freedom. With a single run of each: the assumed variation of compute
//            (replay/study/intervals.h) of both.
//   o        Subtracted overhead: the same error on both sides, so that its difference counts.
//   losses   Lost cores (intervals.h). The spread of repeated runs contains what varies of this
//            error, so of the rest the difference counts as well, once.
//   model    Of a prediction's platform (intervals.h). Predictions in one scenario share this
//            error, so it does not count between them; those of one platform file share most of it
//            (model_of_ratio()).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rubato {

/// The elapsed time of one run, and the half-widths of its errors with 95 % confidence. Seconds.
struct RunTime {
  double elapsed = 0;
  double compute = 0;  ///< assumed variation from run to run
  double overhead = 0;
  double losses = 0;
  double model = 0;
  std::string platform_file = {};  ///< of a prediction
};

struct Slowdown {
  double before = 0;  ///< seconds, mean of the runs
  double after = 0;
  double share = 0;  ///< 0.03: 3 % longer
  double half = 0;   ///< half-width of its 95 % interval
  bool repeated = false;
  size_t runs_before = 0, runs_after = 0;
  double spread = 0;  ///< relative standard deviation from run to run; of repeated runs
  double other = 0;   ///< half-width without the part of the runs
  /// Ranks lacked cores for so much of their time that nothing follows (replay/judge/lost_cores.h).
  bool lacks_cores = false;

  double low() const { return share - half; }
  double high() const { return share + half; }
  /// True if the difference is larger than its uncertainty.
  bool is_certain() const { return !lacks_cores && (low() > 0 || high() < 0); }
};

/// REQUIRES a run on each side, with positive elapsed times. `one_scenario`: both sides are
/// predictions in the same one.
Slowdown slowdown_of(const std::vector<RunTime>& before, const std::vector<RunTime>& after,
                     bool one_scenario);

enum class GateResult : uint8_t { kPassed, kFailed, kUndecided };

/// kFailed only if the whole interval is above `limit`; kPassed if none of it is. Where ranks
/// lacked cores neither.
GateResult gate_result(const Slowdown& slowdown, double limit);

/// The number of runs of each side, at most kMostRuns, after which an interval of runs that vary as
/// these do will exclude `limit`, if the slowdown stays. None: no number does, or the variation is
/// not known.
inline constexpr size_t kMostRuns = 30;
std::optional<size_t> runs_to_decide(const Slowdown& slowdown, double limit);

}  // namespace rubato
