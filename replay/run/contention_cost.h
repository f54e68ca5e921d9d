#pragma once

// What contention costs: the same scenario is replayed once more, with each flow as if it were the
// only one, at the rate of its narrowest link, and everything else alike (routes and their
// latencies, collectives as the messages of their algorithm). The difference is what calls lose,
// directly and by waiting for calls that did.

#include <cstddef>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"

namespace rubato {

/// True where transfers of a scenario share something: contention may cost it, and other jobs
/// matter. `placement`: of its ranks; empty where that is not known yet. Errors: InputError where
/// the network does not fit it.
bool has_shared_network(const Scenario& scenario, const Placement& placement);

/// The scenarios to replay beside the planned ones.
class ContentionPlan {
 public:
  /// The first `asked` of `planned` are told what contention costs them.
  ContentionPlan(const std::vector<Scenario>& planned, size_t asked);

  /// The planned scenarios, then the additional ones.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

  /// Removes the results of the additional scenarios, and sets ScenarioResult::contention where
  /// both came to their end.
  void settle(Results& results) const;

 private:
  std::vector<Scenario> scenarios_;
  std::vector<size_t> alone_;  ///< of each asked one, the scenario without contention; 0: none
  size_t planned_ = 0;
};

}  // namespace rubato
