#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/cost/scenario.h"
#include "replay/driver.h"

namespace rubato {

class EventSource;

/// The degradation ratio (models/network/network_model.h) that reproduces the measured elapsed
/// time.
struct DegradationFit {
  std::optional<double> ratio;  ///< none between the bounds: empty
  double measured = 0;          ///< seconds, elapsed
  double least = 0;             ///< elapsed at the lower bound
  double most = 0;              ///< and at the upper one
};

inline constexpr double kLeastDegradation = 1e-3;
inline constexpr double kMostDegradation = 1e4;

/// Finds it by bisection, on the logarithm of the ratio, a pass for each step. `scenario` has the
/// model degradation. Errors: InputError.
DegradationFit fit_degradation(EventSource& source, const Scenario& scenario,
                               const ReplayOptions& options);

/// Sets the ratio of every scenario with the model degradation to the fitted one; returns the fits
/// by scenario. Errors: InputError.
std::vector<std::optional<DegradationFit>> fit_degradations(EventSource& source,
                                                            std::vector<Scenario>& scenarios,
                                                            const ReplayOptions& options);

/// What a fit found out, in one sentence.
std::string describe(const DegradationFit& fit);

}  // namespace rubato
