#pragma once

#include <map>
#include <vector>

#include "replay/cluster/team.h"
#include "replay/observe/results.h"

namespace rubato {

/// Distributes scenarios among processes, each of which reads the whole archive. Passes are
/// assigned in turn; process 0 needs the recorded facts, so it replays `measured`.
class SpreadRun {
 public:
  explicit SpreadRun(Team& team) : team_(&team) {}

  /// True if this process makes the next pass, which replays those scenarios. All processes call it
  /// in the same order.
  bool takes(bool measured, const std::vector<size_t>& scenarios) {
    const int owner = measured ? 0 : turn_++ % team_->processes();
    for (const size_t scenario : scenarios) owner_of_[scenario] = owner;
    return owner == team_->self();
  }

  /// Collects the results of all scenarios at process 0.
  void collect(std::vector<ScenarioResult>& results);

 private:
  Team* team_;
  int turn_ = 0;
  std::map<size_t, int> owner_of_;  ///< process, by scenario
};

}  // namespace rubato
