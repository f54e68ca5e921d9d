#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/finding_rows.h"
#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What the network of a platform costs the run, by its properties (kFindingRows): how much less
/// time it takes with one property at its best and all else unchanged. Contention, links, progress
/// and bandwidth are removed one after the other, so these add up; the other costs overlap.
struct NetworkCosts {
  std::string scenario;           ///< name of the platform's scenario
  double elapsed = 0;             ///< seconds on it
  std::vector<Finding> findings;  ///< of at least 1 % of `elapsed`, the costliest first
};

/// The platform whose network is worth a finding: Roles::platform, else the first other one, on
/// which the run takes at least 2 % longer than on a perfect interconnect with its processors;
/// without dr=fit. Null: there is none.
const ScenarioResult* costly_network(const Roles& roles);

/// Replays `platform`, the scenario of `known`, once for each property; once more if the archive
/// tells which functions make calls. Errors: as run_replay().
NetworkCosts network_costs(EventSource& source, const Scenario& platform,
                           const ScenarioResult& known, const std::vector<std::string>& calls,
                           const ReplayOptions& options);

}  // namespace rubato
