#pragma once

// The interval that contains a predicted elapsed time with 95 % confidence.
//
// A prediction has four independent sources of error; their half-widths are combined as the root of
// the sum of squares.
//
//   network    The platform file contains the standard error of its curves. The scenario is
//              replayed once more with all curves kErrors standard errors longer. In that replay
//              messages that no rank waits for do not matter, messages on the longest path count in
//              full.
//   recording  The program computes as long as recorded; another run on the same machine would
//              differ (kComputeError). The scenario is replayed once more with that much more
//              compute. The subtracted overhead has the standard error kOverheadError: it was
//              measured at few places of the program. `undisturbed` is replayed once more with less
//              of it subtracted; elsewhere the sum counts, of the rank with the most. (That of
//              functions is known only if `measured` is replayed beside the prediction.)
//   losses     Ranks lost their cores for some time, which predictions exclude. A rank that waited
//              for one without a core may keep some of that wait, and processes share caches:
//              kLossErrorRecorded and kLossErrorModel of the mean rank's loss in the recording, if
//              `measured` is replayed beside the prediction. If that is more than kManyLosses of
//              the run, kLossErrorOfMany: three programs beside a busy one were off by 14 to 35 %.
//   model      Effects that the model leaves out: the scenario is replayed once more with all costs
//              of messages longer by kErrors largest_model_error(), of which model_error_of()
//              counts in proportion. At least kModelErrorInSimulator and at most model_error_of()
//              of the time in MPI, which contains waits that no network shortens; and
//              kGuessedAlgorithmError of the time in blocking collectives for which there are no
//              data. The unchanged file of the recorded machine, beside the recording, has the
//              error that it shows on this run instead: what it misses call by call
//              (error_of_calls()), or of the elapsed time if that is more, at least
//              kModelErrorInSimulator; not where cores were lost for 1 % of the run. Changes of
//              that file have no less.
//
// The additional scenarios are lanes of the same passes, so they add little. Where ranks share
// links each scenario would be a pass of its own in the order of time. There they are replayed
// without the network, and what sharing adds to the elapsed time counts as costs do:
//
//     longer by costs (1 + e)     t_e - t + e (T - t)       T, t: elapsed with and without it
//
// and by longer curves in proportion, at most 20 times that, since waits may hide one of the two
// (networks whose links have numbers of their own are replayed as they are). The interval is
// symmetric: shorter times are assumed to change the result as much as longer ones.
//
// There is no interval for `measured` (it is no prediction), in a deadlock, and on platforms
// without stated uncertainties: presets, most files written by hand, bandela and loggps. `perfect`
// is exact by definition: its interval covers the errors of the recording only. No interval covers
// stolen time that was not recorded, or another placement of processes.

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/trace/recording_overhead.h"

namespace rubato {

class Study;

/// Number of standard errors to either side for 95 % of a normal distribution.
inline constexpr double kErrors = 1.96;
/// Relative standard error of compute from run to run.
inline constexpr double kComputeError = 0.01;
/// Relative standard error of the subtracted overhead.
inline constexpr double kOverheadError = 0.25;
/// Relative standard errors of the time without lost cores, on `undisturbed` and on models. Quantum
/// ESPRESSO, CP2K, NWChem and OpenFOAM on two cores beside two busy programs differed from their
/// undisturbed runs by 1 to 8 %, and 1 to 4 %, of the lost time, in two runs each: the values are
/// chosen on these.
inline constexpr double kLossErrorRecorded = 0.08, kLossErrorModel = 0.04;
inline constexpr double kManyLosses = 0.1, kLossErrorOfMany = 0.25;
struct ElapsedInterval {
  double low = 0;  ///< seconds
  double high = 0;
  /// The platform file, "" if there is none; intervals of one file share its errors.
  std::string platform_file;
  /// The parts of its half-width, see above: the root of the sum of their squares.
  double model = 0;  ///< network and model, which predictions for one platform share
  double compute = 0;
  double overhead = 0;
  double losses = 0;
  double elapsed = 0;  ///< seconds, as predicted
};
/// By scenario, as requested; none if there is no interval.
using Intervals = std::vector<std::optional<ElapsedInterval>>;

/// Half the width of the interval of the difference between two predictions of one study: they have
/// the same errors, so only their differences count.
double half_of_difference(const ElapsedInterval& a, const ElapsedInterval& b);

/// The part that the model has in half_of_ratio(), from those of both predictions, relative to
/// their times.
double model_of_ratio(double a, double b, bool is_one_file);

/// Half the width of the interval of the logarithm of the ratio of two predictions of one study, a
/// to b: for small errors that of the ratio, relative to it. They share their errors, of the model
/// half if their platform files are the same, else nothing. Both must take time.
double half_of_ratio(const ElapsedInterval& a, const ElapsedInterval& b);

/// The scenarios to replay in addition to the requested ones, and the resulting intervals.
class IntervalPlan {
 public:
  /// Of a scenario, with itself.
  static constexpr int kMostReplays = 5;

  /// `of_recording`: `measured` without changes has an interval as well, for differences.
  explicit IntervalPlan(const std::vector<Scenario>& asked, bool of_recording = false);

  /// The requested scenarios, then the additional ones.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// Removes the results of the additional scenarios and returns the intervals of the requested
  /// ones. `overhead`: subtracted from each call.
  Intervals settle(Results& results, const RecordingOverhead& overhead) const;

 private:
  /// For one requested scenario; numbers are those of scenarios(), 0: none.
  struct Variants {
    bool has_interval = false;
    bool models = false;  ///< MPI time comes from a model with errors
    bool compensated = false;
    size_t alone = 0;  ///< without the shared network; `network`, `model`, `compute` vary it
    size_t network = 0;
    size_t model = 0;
    size_t compute = 0;
    size_t recording = 0;
  };

  std::vector<Scenario> scenarios_;
  std::vector<Variants> variants_;
};

/// Study::elapsed(), and appends the intervals to `intervals`, which takes up to
/// IntervalPlan::kMostReplays replays of each variant.
std::vector<double> elapsed_with_intervals(Study& study, const std::vector<Scenario>& variants,
                                           const RecordingOverhead& overhead, Intervals& intervals);

}  // namespace rubato
