#pragma once

#include <optional>
#include <vector>

#include "models/cost/scenario.h"
#include "models/network/rank_mapping.h"
#include "replay/observe/call_profile.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What pairs of ranks would save on one node, seconds, were all their messages waited for: by
/// messages and one-sided operations, at their mean length. Takes the peers of `seen`, that of a
/// replay of `scenario`; `fallback`: ReplayOptions::fallback_level.
std::vector<PairWeight> pair_weights(CallProfile& seen, const TraceDefinitions& trace,
                                     const Scenario& scenario, std::optional<Level> fallback);

}  // namespace rubato
