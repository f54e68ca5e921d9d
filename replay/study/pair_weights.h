#pragma once

#include <optional>
#include <vector>

#include "models/placement/rank_mapping.h"
#include "models/scenario/scenario.h"
#include "replay/observe/call_profile.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What pairs of ranks have to do with each other in messages and one-sided operations, at their
/// mean length, seconds.
struct PairTraffic {
  std::vector<PairWeight> extra;  ///< that they would save on one node, were all of it waited for
  std::vector<PairWeight> whole;  ///< between nodes
};

/// Takes the peers of `seen`, that of a replay of `scenario`.
PairTraffic pair_traffic(CallProfile& seen, const TraceDefinitions& trace,
                         const Scenario& scenario);

}  // namespace rubato
