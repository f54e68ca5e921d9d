#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/cost/scenario.h"

namespace rubato {

/// Prints warnings about the platforms of scenarios, except presets.
void warn_of_platforms(const std::vector<Scenario>& scenarios);

/// Shows "WORD: 12 %" on a terminal, as the share that is done (0 to 1) grows; null where standard
/// error is none.
std::function<void(double)> progress_line(const std::string& word);

}  // namespace rubato
