#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/cost/scenario.h"

namespace rubato {

/// A text that differs whenever results of these scenarios could (replay/checkpoint.h): this
/// program, the archive's anchor, definitions and files of events, the `inputs` that scenarios were
/// made of (paths; names, sizes and times of change count), names of scenarios, and `words`, the
/// options that say how the archive is replayed.
std::string checkpoint_key(const std::string& archive, const std::vector<Scenario>& scenarios,
                           const std::set<std::string>& inputs, const std::string& words);

}  // namespace rubato
