#pragma once

#include <string>
#include <vector>

#include "replay/judge/network_costs.h"
#include "replay/judge/roles.h"
#include "replay/observe/site_profile.h"
#include "replay/observe/wait_patterns.h"
#include "replay/observe/wait_places.h"
#include "replay/observe/waited.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Facts behind findings that take further replays: what ranks wait for on a perfect interconnect
/// besides unequal compute (dependency chains, late roots, synchronisation), and what the network
/// of a platform costs.
struct Diagnosis {
  /// Waits in the calls of one name.
  struct Waits {
    std::string call;
    WaitPattern pattern = WaitPattern::kLateSender;  ///< of most of them
    double share = 0;                                ///< of all these waits, 0 to 1
    int rank = -1;          ///< root cause of most of them (wait_causes.h); -1: none
    double rank_share = 0;  ///< of the waits in these calls
    /// "solve (app.c:12)": the function in which the rank spends most of that time; "": not
    /// recorded, or no single one.
    std::string function;
    /// The call path of the function with most of these waits, as SiteRow::path; empty: not
    /// recorded, or none has most of them.
    std::vector<std::string> path;
  };
  std::vector<Waits> waits;  ///< the longest first; shares add up to 1 if there are any
  /// The calls of Roles::judged with most of the waits for receivers beyond those of `perfect`, if
  /// these cost time. Without rank and place where most waits of these calls are of another kind.
  std::optional<Waits> late_receivers;
  /// Likewise, if messages or collectives cost time.
  std::optional<CostlyFunction> function;
  std::optional<NetworkCosts> network;
};

/// The waits of one scenario, seen by observers.
class SeenWaits {
 public:
  /// `source` may not be loaded yet. `kept`: losses that the scenario keeps.
  explicit SeenWaits(const EventSource& source, KeptLosses kept = {});
  SeenWaits(const SeenWaits&) = delete;
  SeenWaits& operator=(const SeenWaits&) = delete;

  /// Lets a replay with these options observe `perfect`, if that is among the scenarios and can be
  /// observed beside others.
  void watch_perfect(const std::vector<Scenario>& scenarios, ReplayOptions& options);
  bool watches() const { return watches_; }
  std::vector<Observer<1>*> observers();

  WaitPatterns patterns;
  WaitPlaces places;
  SiteProfile sites;

 private:
  bool has_sites_;
  bool watches_ = false;
};

/// True if a diagnosis takes further replays: dependency chains or messages take at least 2 % of
/// the elapsed time, or there is a costly_network().
bool needs_diagnosis(const Roles& roles);

/// Replays `perfect`, Roles::judged and a platform again, as far as needed; else the
/// diagnosis is empty. `scenarios`: those of Roles::results, in their order; there may be more
/// results. `seen`: the waits of `perfect`, if they were watched. Names functions if note_places()
/// was called on the source. Errors: as run_replay().
Diagnosis diagnose(EventSource& source, const Roles& roles, const std::vector<Scenario>& scenarios,
                   ReplayOptions options, const SeenWaits* seen = nullptr);

}  // namespace rubato
