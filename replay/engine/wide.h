#pragma once

// Replays of many models at once.
//
// The engine for more than four of them is compiled once: on x86-64 for processors with AVX2
// (2013 and later; others replay fewer at once), elsewhere for any. Each lane's numbers are the
// same at any width, bit for bit, as no operation is contracted or reordered.

#include "replay/engine/replay.h"
#include "replay/rules/model_rules.h"

namespace rubato {

/// Runs a replay of as many lanes as widest_lanes() (scenario_groups.h) allows.
ReplayOutcome replay_wide(EventSource& source, ModelRules<16>& rules, const ReplaySetup<16>& setup);

}  // namespace rubato
