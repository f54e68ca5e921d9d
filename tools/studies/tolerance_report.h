#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/study/tolerance.h"

namespace rubato {

/// The answer in a sentence, then a row for each number that has an effect, with the percentages
/// that `found` is for.
std::string tolerance_text(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents, int width);

/// The same for programs: share/doc/json.md, *rubato tolerance --json*.
std::string tolerance_json(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents);

}  // namespace rubato
