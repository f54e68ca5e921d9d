#pragma once

// The recording of a run, apart from any scenario: what it proves about its messages, whether it
// can be reproduced, and its times, repaired if they violate the order of cause and effect.

#include <optional>
#include <set>

#include "models/placement/placement.h"
#include "replay/compare/identity.h"
#include "replay/observe/results.h"
#include "replay/rules/recorded/clock_repair.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/run/passes.h"
#include "replay/run/replay_options.h"

namespace rubato {

class Recording {
 public:
  /// Both must outlive it.
  Recording(Passes& passes, const ReplayOptions& options);

  /// Of the ranks, as recorded.
  const Placement& placement() const { return placement_; }
  /// Of survey().
  const RecordedMinima& minima() const { return minima_; }
  const EagerLimits& limits() const { return limits_; }

  /// Finds the minima and the eager limits, from scratch. If a limit is unknown, it is inferred
  /// from sends that waited for their receivers, and the minima are found again with it. Errors:
  /// InputError if the recording cannot be replayed.
  void survey();
  /// Compares a replay of the recording with its records. Errors: NeedsOneProcess.
  IdentityResult verify();
  /// True if survey() found effects that were recorded before their causes.
  bool violates_order() const { return passes_->first()->clock_violations.total() > 0; }
  /// From here on all times are those of the logical clock. Remaining violations are counted again.
  void repair();
  /// Finds the matched sends and receives: a pass that needs them stopped, and will be repeated.
  void find_receivers();

  /// Sets the facts about the archive, after a complete pass.
  void summarize(TraceSummary& summary) const;

 private:
  void find_minima();
  bool learn(EagerLimit& limit, Level level, const std::set<double>& waited, double done);

  Passes* passes_;
  const ReplayOptions* options_;
  const TraceDefinitions* trace_;
  Placement placement_;
  RecordedMinima minima_;
  EagerLimits limits_;
  EagerSummary eager_;
  ClockViolations violations_;         ///< before the repair
  std::optional<ClockShifts> shifts_;  ///< if times had to be repaired
  std::optional<ShiftedSource> shifted_;
  std::optional<ClockRepair> repaired_;
};

}  // namespace rubato
