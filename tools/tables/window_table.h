#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "replay/analyse/run_windows.h"

namespace rubato {

/// The efficiencies of a scenario over time, a row per window, with its smallest factor. "" without
/// windows.
std::string over_time_text(const EfficienciesOverTime& over_time, const std::string& scenario,
                           int width);
/// An object per window.
nlohmann::ordered_json over_time_json(const EfficienciesOverTime& over_time);

}  // namespace rubato
