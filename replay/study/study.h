#pragma once

// A study of one recorded run is a list of variants of scenarios, replayed in as few passes as
// possible: variants that differ in numbers only are lanes of common passes (scenario_groups.h).
// What is special about a study is which variants it makes, and what it concludes from their
// results:
//
//   dr=fit          ratios of the model degradation; which one gives the recorded time
//   --sweep         a number times many factors; from which on it matters
//   tolerance       numbers made worse; up to which factor the run takes as long
//   intervals       numbers and compute with their errors; how much longer the run may take
//   advise, place   changes and placements; which one saves most

#include <functional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

class Study {
 public:
  /// Replays as `options` say, without what they observe. Scenarios have no dr=fit. `source` and
  /// `options.progress` are used during the lifetime. `purpose`: named in errors about deadlocks,
  /// together with the scenario.
  Study(EventSource& source, const ReplayOptions& options, std::string purpose = {});
  /// Completes the progress.
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// Elapsed seconds, in the order of `variants`, which are replayed kAtATime at a time: the
  /// tables of their ranks are never in memory all together. Errors: as run_replay(), and
  /// InputError if the program deadlocks on one of them.
  std::vector<double> elapsed(const std::vector<Scenario>& variants);
  /// The maximum number that elapsed() replays together.
  static constexpr size_t kAtATime = 128;  // eight passes of the widest lanes

  /// All results of `variants`, which may be deadlocks. `part`: of a step of the study, for its
  /// progress. Errors: as run_replay().
  Results replay(const std::vector<Scenario>& variants, double part = 1);
  /// All results of one scenario, with observers and, if asked for, the compute of functions.
  /// Errors: as run_replay(), and InputError in a deadlock.
  Results observe(const Scenario& scenario, const std::vector<Observer<1>*>& observers,
                  bool total_functions = false);

  /// Seconds. Errors: InputError in a deadlock.
  double elapsed_of(const ScenarioResult& result) const;
  /// How many scenarios were replayed.
  size_t replays() const { return replays_; }
  /// The first result, without its ranks.
  const ScenarioResult& first() const { return first_; }

 private:
  Results replay(const std::vector<Scenario>& variants, double part, const ReplayOptions& options);

  EventSource* source_;
  ReplayOptions options_;
  std::string purpose_;
  size_t replays_ = 0;
  double shown_ = 0;  ///< progress after the complete steps
  double parts_ = 0;  ///< of the present step
  ScenarioResult first_;
};

}  // namespace rubato
