#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/placement/placement.h"
#include "models/scenario/scenario.h"
#include "replay/trace/function_times.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The number of models that one pass evaluates: on any processor, and with wide vector
/// instructions.
inline constexpr size_t kNarrowLanes = 4, kWideLanes = 16;
/// The number for this processor: see engine/wide.h.
size_t widest_lanes();
/// The number that passes use; tests set both.
extern size_t lanes_in_use;

/// Scenarios that one pass evaluates together: they have the same dependency structure.
struct ScenarioGroup {
  bool measured = false;
  bool local = false;        ///< Scenario::local
  bool needs_order = false;  ///< needs the order of time, one at a time: see time_order.h
  Placement placement;
  std::vector<size_t> scenarios;  ///< indices into the requested ones

  /// The maximum number of scenarios in a pass.
  size_t lanes() const { return needs_order ? 1 : measured ? kNarrowLanes : lanes_in_use; }
};

/// Groups scenarios for a run with this placement of ranks; `by_arrival`: receives are matched by
/// arrival. Errors: InputError for a placement or processors that do not fit the run.
std::vector<ScenarioGroup> group_scenarios(const std::vector<Scenario>& scenarios,
                                           const Placement& recorded, bool by_arrival);

/// A pass for some scenarios of a group.
struct PlannedPass {
  const ScenarioGroup* group = nullptr;
  std::vector<size_t> scenarios;  ///< indices into the requested ones
};

/// The passes for `groups`, which must outlive them.
std::vector<PlannedPass> plan_passes(const std::vector<ScenarioGroup>& groups);

/// The functions that scenarios change, each once. Errors: InputError for one that is not among the
/// `known` ones of the archive, and for too many.
std::vector<std::string> functions_to_time(const std::vector<Scenario>& scenarios,
                                           const std::vector<FunctionName>& known,
                                           const TraceDefinitions& trace);

}  // namespace rubato
