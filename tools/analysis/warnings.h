#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// Anomalies found when reading and matching an archive, one sentence each. They limit the accuracy
/// of every scenario.
std::vector<std::string> warnings_about(const TraceSummary& trace);

/// True if the clocks of the ranks were so far apart that recorded waits between ranks are
/// meaningless.
bool has_unsynchronised_clocks(const TraceSummary& trace);

/// Anomalies of one scenario, one sentence each, without its name.
std::vector<std::string> warnings_about(const ScenarioResult& scenario);

}  // namespace rubato
