#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/passes.h"
#include "replay/run/recording.h"
#include "replay/run/replay_options.h"
#include "replay/run/scenario_groups.h"

namespace rubato {

/// The functions whose compute is timed, and their recorded times; null before the archive is
/// loaded, and without functions.
struct TimedFunctions {
  std::vector<std::string> names;
  const FunctionTimes* times = nullptr;
};

/// The scenarios of a run, how they are replayed, and where their results are kept.
struct ReplayedScenarios {
  const std::vector<Scenario>& list;
  const ReplayOptions& options;
  bool by_arrival = false;  ///< receives from any source are matched by arrival
  TimedFunctions functions;
  Results& results;
};

/// Replays scenarios that share a pass and keeps their results. A pass is repeated when it turns
/// out to need more facts of the recording, and divided when its scenarios turn out to differ in
/// their dependency structure.
class GroupReplay {
 public:
  /// Both must outlive it.
  GroupReplay(Passes& passes, Recording& recording, const ReplayedScenarios& scenarios);

  /// Makes one of the planned passes. Errors: InputError; NeedsOneProcess if it is divided.
  void make(const PlannedPass& pass) { replay_together(*pass.group, pass.scenarios); }

 private:
  /// The results of a pass for its scenarios, beside profiles and waits.
  template <int K>
  struct Found {
    ReplayOutcome outcome;
    Outcomes<K> outcomes;
    ClippedOverhead clipped;
    std::optional<LinkLoads> links;
    std::vector<std::vector<CollectiveUse>> collectives{K};  ///< by lane
  };

  void replay_together(const ScenarioGroup& group, const std::vector<size_t>& chosen);
  template <int K>
  void replay_group(const ScenarioGroup& group, const std::vector<size_t>& chosen,
                    bool by_arrival_failed = false);
  template <int K>
  Found<K> replay_measured(const ScenarioGroup& group,
                           const std::vector<const Scenario*>& scenarios, Profile<K>& profile,
                           WaitStates<K>* waits);
  template <int K>
  Found<K> replay_models(const ScenarioGroup& group, const std::vector<const Scenario*>& scenarios,
                         bool by_arrival, Profile<K>& profile, WaitStates<K>* waits);
  template <int K>
  void keep_result(const ScenarioGroup& group, int lane, const Scenario& scenario, Found<K>& found,
                   const Profile<K>& profile, const WaitStates<K>* waits, ScenarioResult& result);
  template <int K>
  std::optional<ComputeChanges<K>> compute_changes(const std::vector<const Scenario*>& lanes,
                                                   const Placement& placement) const;
  template <int K>
  std::vector<Observer<K>*> observers() const;
  void note_priced_calls(uint64_t calls, const Scenario* pricing);

  Passes* passes_;
  Recording* recording_;
  ReplayedScenarios scenarios_;
  const TraceDefinitions* trace_;
  RecordingOverhead overhead_;
  bool tells_sockets_;  ///< some platform distinguishes sockets from nodes
};

}  // namespace rubato
