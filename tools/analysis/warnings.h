#pragma once

#include <string>
#include <vector>

#include "replay/observe/results.h"

namespace rubato {

/// What reading and matching found odd about an archive, a sentence each: how far the numbers of
/// every scenario can be trusted.
std::vector<std::string> warnings_about(const TraceSummary& trace);

/// The clocks of the ranks were so far apart that nothing is known of who waited for whom.
bool has_unsynchronised_clocks(const TraceSummary& trace);

/// What is odd about one scenario, a sentence each, without its name.
std::vector<std::string> warnings_about(const ScenarioResult& scenario);

}  // namespace rubato
