#pragma once

#include <vector>

#include "replay/analyse/model_error.h"
#include "replay/observe/results.h"

namespace rubato {

/// The scenarios of a run by their role in its report; nullptr for one that is absent or deadlocks.
/// They point into the results, which must outlive them.
struct Roles {
  Roles(const Results& of);

  const Results* results;
  const ScenarioResult* measured = nullptr;     ///< as recorded
  const ScenarioResult* perfect = nullptr;      ///< free messages
  const ScenarioResult* undisturbed = nullptr;  ///< without lost cores and tracing
  const ScenarioResult* judged = nullptr;       ///< `undisturbed`, else `measured`
  /// The first with a platform file that was measured on the archive's own machine.
  const ScenarioResult* own_machine = nullptr;
  const ScenarioResult* platform = nullptr;  ///< `own_machine`, else the first platform
  /// The one that others are compared with: "measured", or `undisturbed` if ranks lost cores, else
  /// the first. (It may deadlock.)
  const ScenarioResult* reference = nullptr;
};

/// What the model of the recorded machine misses; empty without `own_machine`.
std::vector<ModelError> model_errors(const Roles& roles);

/// True if one thread of one rank calls MPI: no network changes the run.
bool is_alone(const Results& results);

/// True for a scenario, complete, that models a machine other than the perfect interconnect.
bool is_platform(const ScenarioResult& scenario);

}  // namespace rubato
