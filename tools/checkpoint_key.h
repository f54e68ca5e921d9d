#pragma once

#include <string>
#include <vector>

#include "models/cost/scenario.h"

namespace rubato {

/// A text that differs whenever results of these scenarios could (replay/checkpoint.h): this
/// program, the archive's anchor, definitions and files of events, platform files and the files
/// that they and scenarios name (names, sizes, times of change), names of scenarios, and `words`,
/// the options that say how the archive is replayed.
std::string checkpoint_key(const std::string& archive, const std::vector<Scenario>& scenarios,
                           const std::string& words);

}  // namespace rubato
