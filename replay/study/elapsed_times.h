#pragma once

#include <functional>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/study/intervals.h"

namespace rubato {

/// Replays many variants of scenarios for their elapsed times only, some hundred at a time, so that
/// the tables of their ranks are never in memory all together. Variants that differ in numbers
/// share passes (scenario_groups.h).
class ElapsedTimes {
 public:
  /// `options`, without observation. `source` and `options.progress` are used during the lifetime.
  ElapsedTimes(EventSource& source, const ReplayOptions& options);
  /// Completes the progress.
  ~ElapsedTimes();
  ElapsedTimes(const ElapsedTimes&) = delete;
  ElapsedTimes& operator=(const ElapsedTimes&) = delete;

  /// Seconds, in the order of `variants`. Errors: as run_replay(), and InputError where the program
  /// deadlocks on one of them.
  std::vector<double> of(const std::vector<Scenario>& variants) {
    return of(variants, nullptr, nullptr);
  }
  /// The same, and appends their intervals, which takes up to three replays each. `overhead`:
  /// subtracted from each call.
  std::vector<double> of(const std::vector<Scenario>& variants, const RecordingOverhead& overhead,
                         Intervals& intervals) {
    return of(variants, &overhead, &intervals);
  }

  /// How many were replayed.
  size_t replays() const { return replays_; }
  /// The first result, without its ranks.
  const ScenarioResult& first() const { return first_; }

 private:
  std::vector<double> of(const std::vector<Scenario>& variants, const RecordingOverhead* overhead,
                         Intervals* intervals);

  EventSource* source_;
  ReplayOptions options_;
  std::function<void(double)> progress_;
  size_t replays_ = 0;
  double shown_ = 0;  ///< of the progress
  ScenarioResult first_;
};

}  // namespace rubato
