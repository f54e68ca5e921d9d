#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/study/tolerance.h"

namespace rubato {

/// The result in a sentence, then a row for each parameter with an effect, with a column for each
/// of `percents`. `no_conclusion`: why the recording allows none about the network, or "".
std::string tolerance_text(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents, int width,
                           const std::string& no_conclusion = "");

/// The same in JSON and CSV: share/doc/json.md, *rubato tolerance --json*.
std::string tolerance_json(const Tolerances& found, const Scenario& scenario,
                           const std::vector<double>& percents,
                           const std::string& no_conclusion = "");
std::string tolerance_csv(const Tolerances& found, const Scenario& scenario,
                          const std::vector<double>& percents,
                          const std::string& no_conclusion = "");

}  // namespace rubato
