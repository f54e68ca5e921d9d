#pragma once

#include <map>
#include <vector>

#include "replay/cluster/team.h"
#include "replay/cluster/try_all.h"
#include "replay/observe/results.h"

namespace rubato {

/// Scenarios that processes share out among themselves; each of them has all of the archive.
/// Passes go round; what the recording says of itself process 0 has to know, so `measured` is its.
class SpreadRun {
 public:
  explicit SpreadRun(Team& team) : team_(&team) {}

  /// True if this process makes the next pass, which replays those scenarios. All processes ask in
  /// the same order.
  bool takes(bool measured, const std::vector<size_t>& scenarios) {
    const int owner = measured ? 0 : turn_++ % team_->processes();
    for (const size_t scenario : scenarios) owner_of_[scenario] = owner;
    return owner == team_->self();
  }

  /// Does what may fail in some processes, and then has the results of all scenarios at process 0.
  /// Errors: NeedsOneProcess in all of them.
  template <typename Work>
  void run(std::vector<ScenarioResult>& results, Work work) {
    try_all(*team_, work);
    collect(results);
  }

 private:
  void collect(std::vector<ScenarioResult>& results);

  Team* team_;
  int turn_ = 0;
  std::map<size_t, int> owner_of_;  ///< by scenario, a process
};

}  // namespace rubato
