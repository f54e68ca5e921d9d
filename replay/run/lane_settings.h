#pragma once

#include <vector>

#include "models/placement/placement.h"
#include "models/scenario/scenario.h"
#include "replay/rules/lane_machines.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/run/replay_options.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/trace.h"

// What the rules of a pass (replay/rules/) have to know of the scenarios in its lanes. `overhead`:
// what recording cost; its seconds become ticks.

namespace rubato {

/// Of `measured` or `undisturbed`.
MeasuredLane measured_lane(const Scenario& scenario, const ReplayOptions& options,
                           const RecordingOverhead& overhead, double ticks_per_second);

/// Of scenarios on platforms that have one structure, and this placement; not `looks_at_posts`.
LaneMachines lane_machines(const std::vector<const Scenario*>& lanes, const Placement& placement,
                           const ReplayOptions& options, const RecordingOverhead& overhead,
                           double ticks_per_second);

/// The scenario whose platform file prices what the archive does not bound: that of the archive's
/// own machine, else the first; null where there is none.
const Scenario* pricing_scenario(const std::vector<Scenario>& scenarios,
                                 const TraceDefinitions& trace);

/// What a message costs its receiver there, ticks.
MeasuredRules<1>::OwnPrice receiver_price(const Scenario& scenario, double ticks_per_second);

}  // namespace rubato
