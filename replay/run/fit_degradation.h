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

/// Finds the ratio by bisection, on its logarithm, with one pass per step. `scenario` has the model
/// degradation. Errors: InputError.
DegradationFit fit_degradation(EventSource& source, const Scenario& scenario,
                               const ReplayOptions& options);

/// Sets the ratio of every scenario with dr=fit to the fitted one; returns the fits by scenario.
/// Errors: InputError.
std::vector<std::optional<DegradationFit>> fit_degradations(EventSource& source,
                                                            std::vector<Scenario>& scenarios,
                                                            const ReplayOptions& options);

}  // namespace rubato
