#pragma once

// The cost of contention: the same scenario is replayed once more with each flow as if it were the
// only one, at the rate of its narrowest link, and everything else unchanged (routes and their
// latencies, collectives as the messages of their algorithm). The difference is the loss of calls,
// directly and by waiting for others.

#include <cstddef>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"

namespace rubato {

/// True if transfers of a scenario share links: then contention may have a cost, and other jobs
/// have an effect. `placement`: of its ranks; empty if not known yet. Errors: InputError if the
/// network does not fit it.
bool has_shared_network(const Scenario& scenario, const Placement& placement);

/// The scenarios to replay beside the planned ones.
class ContentionPlan {
 public:
  /// The cost of contention is computed for the first `asked` of `planned`.
  ContentionPlan(const std::vector<Scenario>& planned, size_t asked);

  /// The planned scenarios, then the additional ones.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// Removes the results of the additional scenarios, and sets ScenarioResult::contention if both
  /// scenarios were replayed completely.
  void settle(Results& results) const;

 private:
  std::vector<Scenario> scenarios_;
  std::vector<size_t> alone_;  ///< by asked scenario: the scenario without contention; 0: none
  size_t planned_ = 0;
};

}  // namespace rubato
