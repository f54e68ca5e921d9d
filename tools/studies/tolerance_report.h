#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/study/tolerance.h"

namespace rubato {

/// The result in a sentence, then a row for each parameter with an effect, with a column for each
/// of `percents`.
std::string tolerance_text(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents, int width);

/// The same in JSON and CSV: share/doc/json.md, *rubato tolerance --json*.
std::string tolerance_json(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents);
std::string tolerance_csv(const Tolerances& found, const Scenario& scenario,
                          const std::vector<double>& percents);

}  // namespace rubato
