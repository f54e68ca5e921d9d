#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/network_costs.h"
#include "replay/judge/roles.h"
#include "replay/observe/kept_losses.h"
#include "replay/observe/results.h"
#include "replay/observe/site_profile.h"
#include "replay/observe/wait_patterns.h"
#include "replay/observe/wait_places.h"
#include "replay/observe/waited.h"
#include "replay/run/replay_options.h"
#include "replay/study/advice.h"
#include "replay/study/intervals.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Facts behind findings that Results do not have.
struct Diagnosis {
  /// What is found in place of a kind: kChains by what ranks wait for on a perfect interconnect
  /// besides unequal compute, in each call (the longest first); kLateReceiver with the call of
  /// Roles::judged that has most of the waits for receivers beyond those of `perfect`. Each if it
  /// costs time, and with the root cause and place of all waits in the call, but no root cause and
  /// place of late receivers where most waits are of another kind.
  std::map<FindingKind, std::vector<Finding>> parts;
  /// The function of Roles::judged with most of the time in messages and collectives, if these cost
  /// time.
  std::optional<CostlyFunction> function;
  std::optional<NetworkCosts> network;
  /// Changes of Roles::judged with balanced work, as `rubato advise` tries them; if unequal compute
  /// or its waits cost time.
  std::vector<TriedCandidate> remedies;
  bool has_waits = false;    ///< kChains was looked for
  double least_elapsed = 0;  ///< elapsed_by_least_times() beside an implausible_cost(); else 0
};

/// What a diagnosis wants to know of the waits in one scenario: their patterns, and the places of
/// the waits and of their causes. About 1 KiB a rank.
class WaitObservers {
 public:
  /// `source` may not be loaded yet. `kept`: losses that the scenario keeps.
  explicit WaitObservers(const EventSource& source, KeptLosses kept = {});
  WaitObservers(const WaitObservers&) = delete;
  WaitObservers& operator=(const WaitObservers&) = delete;

  /// For ReplayOptions::observers.
  std::vector<Observer<1>*> all();

  WaitPatterns patterns;
  WaitPlaces places;
  SiteProfile sites;

 private:
  bool has_sites_;
};

/// Lets the replay of these scenarios with `options` observe the waits of `perfect`. Null, and
/// nothing changes, if `perfect` is not among them or cannot be observed beside others.
std::unique_ptr<WaitObservers> observe_perfect(const EventSource& source,
                                               const std::vector<Scenario>& scenarios,
                                               ReplayOptions& options);

/// True if there is something to diagnose: unequal compute, dependency chains, late receivers or
/// messages take at least 2 % of the elapsed time, or there is an implausible_cost() or a
/// costly_network().
bool needs_diagnosis(const Roles& roles);

/// Replays `perfect` (unless these observers have seen it), Roles::judged and a platform again, as
/// far as needed; else the diagnosis is empty. `scenarios`: those of Roles::results, in their
/// order; there may be more results. Names functions only if note_places() was called on the
/// source. Errors: as run_replay().
Diagnosis diagnose(EventSource& source, const Roles& roles, const std::vector<Scenario>& scenarios,
                   ReplayOptions options, const WaitObservers* perfect = nullptr);

/// What judge() needs of a recorded run.
struct JudgedRun {
  Results results;      ///< `measured`, `perfect`, platforms, and `undisturbed` if ranks lost cores
  Intervals intervals;  ///< of their elapsed times, but not of an added `undisturbed`
  Diagnosis diagnosis;
};

/// Replays the run in these scenarios and those of `others` that model a machine. Observers in
/// `options` are not used. Errors: as run_replay().
JudgedRun judged_run(EventSource& source, ReplayOptions options,
                     const std::vector<Scenario>& others = {});

}  // namespace rubato
