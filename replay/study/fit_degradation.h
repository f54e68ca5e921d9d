#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"

namespace rubato {

class EventSource;

/// Bounds of the search.
inline constexpr double kLeastDegradation = 1e-3;
inline constexpr double kMostDegradation = 1e4;

/// True if some scenario has dr=fit.
bool any_fits_degradation(const std::vector<Scenario>& scenarios);

/// Sets the ratio of every scenario with dr=fit to the fitted one; returns the fits by scenario. A
/// ratio is found by bisection, on its logarithm, with one pass per step. Errors: InputError.
std::vector<std::optional<DegradationFit>> fit_degradations(EventSource& source,
                                                            std::vector<Scenario>& scenarios,
                                                            const ReplayOptions& options);

}  // namespace rubato
