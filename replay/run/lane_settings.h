#pragma once

#include <vector>

#include "models/placement/placement.h"
#include "models/scenario/scenario.h"
#include "replay/rules/lane_machines.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/run/replay_options.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/trace.h"

// Settings of the rules of a pass (replay/rules/) from the scenarios in its lanes. `overhead`: the
// cost of recording; its seconds are converted to ticks.

namespace rubato {

/// For `measured` or `undisturbed`.
MeasuredLane measured_lane(const Scenario& scenario, const ReplayOptions& options,
                           const RecordingOverhead& overhead, double ticks_per_second);

/// What the scenario subtracts for each enter or leave of a function.
double function_ticks(const Scenario& scenario, const ReplayOptions& options,
                      const RecordingOverhead& overhead, double ticks_per_second);

/// For scenarios with one structure and this placement; without `looks_at_posts`.
LaneMachines lane_machines(const std::vector<const Scenario*>& lanes, const Placement& placement,
                           const ReplayOptions& options, const RecordingOverhead& overhead,
                           double ticks_per_second);

/// The scenario whose platform file gives the costs that the archive does not bound: that of the
/// archive's own machine, else the first; null if there is none.
const Scenario* pricing_scenario(const std::vector<Scenario>& scenarios,
                                 const TraceDefinitions& trace);

/// The receiver's overhead of a message in that scenario, ticks.
MeasuredRules<1>::OwnPrice receiver_price(const Scenario& scenario, double ticks_per_second);

}  // namespace rubato
