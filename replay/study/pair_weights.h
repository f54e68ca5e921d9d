#pragma once

#include <optional>
#include <vector>

#include "models/placement/rank_mapping.h"
#include "models/scenario/scenario.h"
#include "replay/observe/call_profile.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The traffic of pairs of ranks in messages and one-sided operations, in seconds at their mean
/// length.
struct PairTraffic {
  std::vector<PairWeight> extra;  ///< the saving on one node, if all of it were waited for
  std::vector<PairWeight> whole;  ///< the cost between nodes
};

/// Takes the peers of `seen`, from a replay of `scenario`.
PairTraffic pair_traffic(CallProfile& seen, const TraceDefinitions& trace,
                         const Scenario& scenario);

}  // namespace rubato
