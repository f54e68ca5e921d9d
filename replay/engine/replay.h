#pragma once

// Replays the calls of all ranks: the interface. The main loop, and its explanation, are in
// engine.h.

#include <functional>
#include <set>
#include <vector>

#include "replay/cluster/division.h"
#include "replay/engine/replay_outcome.h"
#include "replay/observe/observer.h"
#include "replay/trace/trace.h"

namespace rubato {

class Coverage;
class LockOrder;
class ReceivedSends;
class TakenRuns;
class Team;
template <int K>
class ComputeChanges;
template <int K>
class Profile;
template <int K>
class WaitStates;

/// The processes that share a replay; none: this process has all ranks.
struct TeamShare {
  Team* team = nullptr;
  const Division* division = nullptr;
};

/// What a replay has beside its source and its rules. Null pointers: not known, or not wanted.
template <int K>
struct ReplaySetup {
  std::vector<Observer<K>*> observers = {};
  /// Recipients of every call beside the observers. They are called in nearly every pass, so they
  /// are not observers.
  Profile<K>* profile = nullptr;
  Coverage* coverage = nullptr;
  WaitStates<K>* waits = nullptr;  ///< where the waiting times of calls are summed up
  std::function<void(double)> progress = {};

  const LockOrder* locks = nullptr;           ///< null: locks are not waited for
  const ReceivedSends* received = nullptr;    ///< matched sends and receives
  const std::set<Route>* in_order = nullptr;  ///< as Matcher::match_in_order()
  const TakenRuns* runs = nullptr;  ///< calls that may take the receives that complete first
  /// As start_shifts(): by how many ticks the timelines of each rank begin later.
  const std::vector<double>* start_shifts = nullptr;
  const ComputeChanges<K>* compute_changes = nullptr;  ///< beyond the rules
  TeamShare share = {};
};

/// Replays all calls of `source` by `rules`. Compiled for certain rules only: engine/compiled.
/// Errors: InputError.
template <class Rules>
ReplayOutcome replay_calls(EventSource& source, Rules& rules,
                           const ReplaySetup<Rules::kLanes>& setup);

}  // namespace rubato
