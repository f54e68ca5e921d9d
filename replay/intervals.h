#pragma once

// In which interval a predicted elapsed time lies with 95 % confidence, as far as anybody can say.
//
// A prediction is off for three reasons, which have nothing to do with each other; their
// half-widths are combined as the root of the sum of squares.
//
//   network    The platform file says how far its curves may be off. The scenario is replayed once
//              more with all of them kErrors standard errors longer. Messages that nobody waits for
//              count for nothing in that, and those on the longest path in full.
//   recording  The program computes as long as recorded; another run on the same machine would
//              differ (kComputeError). The scenario is replayed once more with that much more
//              compute. Of the overhead that was taken out of the rank with the most of it,
//              kOverheadError may have been wrong: it is that of one place in the program.
//   model      What the model leaves out: kModelError of the time in MPI.
//
// Scenarios beside the asked ones are lanes of the same passes, so they add little; where messages
// need somebody inside MPI, or in the order of time, each is a pass. The interval is symmetric:
// what makes times shorter is taken to do as much as what makes them longer.
//
// There is no interval for `measured` (that is no prediction), in a deadlock, and on platforms that
// do not say how far they may be off: presets, most files written by hand, bandela and loggps.
// `perfect` is exact by definition: its interval holds what the recording leaves open, and no model
// error. What it does not hold: stolen time that was not read, another placement of processes, a
// machine that was busy with something else.

#include <optional>
#include <string>
#include <vector>

#include "models/cost/scenario.h"
#include "replay/observe/results.h"
#include "replay/trace/recording_overhead.h"

namespace rubato {

/// Standard errors to either side that hold 95 % of a normal distribution.
inline constexpr double kErrors = 1.96;
/// By how much another run computes longer or shorter, as a relative standard error.
inline constexpr double kComputeError = 0.01;
/// Relative standard error of the overhead that is taken out.
inline constexpr double kOverheadError = 0.25;
/// Relative standard error of time in MPI for what models leave out.
inline constexpr double kModelError = 0.02;

struct ElapsedInterval {
  double low = 0;  ///< seconds
  double high = 0;
  /// The platform file; what intervals of one file hold is common to them. "" where there is none.
  std::string platform_file;
};
/// By scenario, as asked; none where nobody can say.
using Intervals = std::vector<std::optional<ElapsedInterval>>;

/// What has to be replayed beside the asked scenarios, and what follows from that.
class IntervalPlan {
 public:
  explicit IntervalPlan(const std::vector<Scenario>& asked);

  /// The asked ones, and then those beside them.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// Takes the results of the others away; the intervals of the asked ones. `overhead` is what was
  /// taken out of each call.
  Intervals settle(Results& results, const RecordingOverhead& overhead) const;

 private:
  /// Of one asked scenario; numbers are those of scenarios(), 0 where there is none.
  struct Variants {
    bool has_interval = false;
    bool models = false;  ///< MPI time comes from a model that may be wrong
    bool compensated = false;
    size_t network = 0;
    size_t compute = 0;
  };

  std::vector<Scenario> scenarios_;
  std::vector<Variants> variants_;
};

}  // namespace rubato
