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
  /// Of the options or the archive (infinite: unknown), then of survey().
  const EagerLimits& limits() const { return limits_; }
  /// True if the options or the archive give all limits, and no replay of this source contradicted
  /// them: `measured` needs no survey.
  bool may_follow() const {
    return eager_.node.bytes && eager_.network.bytes && !passes_->source().contradicts_itself();
  }

  /// Finds the minima and the eager limits, from scratch. If a limit is unknown, it is inferred
  /// from sends that waited for their receivers, and the minima are found again with it. Errors:
  /// InputError if the recording cannot be replayed.
  void survey();
  bool is_surveyed() const { return is_surveyed_; }
  /// `measured` is replayed with the known limits, without a survey.
  void note_followed() { is_followed_ = true; }
  /// Without survey(), after a replay of `measured` that `was_followed` (MeasuredRules::follow())
  /// and had this outcome: true if it shows that survey() and repair() are necessary. All processes
  /// call it.
  bool needs_survey(const ReplayOutcome& outcome, bool was_followed);
  /// Compares a replay of the recording with its records. Errors: NeedsOneProcess.
  IdentityResult verify();
  /// If effects were recorded before their causes, by clocks that may differ: from here on all
  /// times are those of the logical clock, so that durations of messages are positive. Remaining
  /// violations are counted again. After survey().
  void repair();
  /// Finds the matched sends and receives: a pass that needs them stopped, and will be repeated.
  void find_receivers();

  /// Sets the facts about the archive, after a complete pass.
  void summarize(TraceSummary& summary) const;

 private:
  void take_known_limits();
  void find_minima();
  /// True if violations of the order of cause and effect, as many as in a replay with that outcome,
  /// are to be repaired.
  bool is_to_repair(const ReplayOutcome& outcome) const;
  bool learn(EagerLimit& limit, Level level, const std::set<double>& waited, double done);

  Passes* passes_;
  const ReplayOptions* options_;
  const TraceDefinitions* trace_;
  Placement placement_;
  RecordedMinima minima_;
  EagerLimits limits_;
  EagerSummary eager_;
  bool is_surveyed_ = false, is_followed_ = false;
  ClockViolations violations_;         ///< before the repair
  std::optional<ClockShifts> shifts_;  ///< if times had to be repaired
  std::optional<ShiftedSource> shifted_;
  std::optional<ClockRepair> repaired_;
};

}  // namespace rubato
