#include "replay/study/fit_degradation.h"

#include <algorithm>
#include <cmath>

#include "replay/study/study.h"

namespace rubato {
namespace {

/// Elapsed times with at most this relative difference count as equal.
constexpr double kSame = 1e-7;
/// And with this difference, where the ratio itself cannot be determined more exactly.
constexpr double kNear = 1e-3;

/// `scenario` has the model degradation.
DegradationFit fit_ratio(Study& study, Scenario scenario) {
  scenario.fits_degradation = false;
  const auto at = [&](double ratio) {
    scenario.platform.contention.numbers["degradation_ratio"] = ratio;
    return study.elapsed({scenario})[0];
  };
  DegradationFit fit;
  fit.measured = study.elapsed({parse_scenario("measured")})[0];
  double low = kLeastDegradation;
  double high = kMostDegradation;
  fit.least = at(low);
  fit.most = at(high);
  if (fit.measured < fit.least || fit.measured > fit.most || fit.least == fit.most) return fit;
  while (high / low > 1 + 1e-9) {
    const double middle = std::sqrt(low * high);
    const double found = at(middle);
    if (std::abs(found - fit.measured) <= kSame * fit.measured) {
      fit.ratio = middle;
      return fit;
    }
    (found < fit.measured ? low : high) = middle;
  }
  // The elapsed time may jump, because messages then go in another order.
  if (std::abs(at(low) - fit.measured) <= kNear * fit.measured) fit.ratio = low;
  return fit;
}

}  // namespace

bool any_fits_degradation(const std::vector<Scenario>& scenarios) {
  return std::any_of(scenarios.begin(), scenarios.end(),
                     [](const Scenario& scenario) { return scenario.fits_degradation; });
}

std::vector<std::optional<DegradationFit>> fit_degradations(EventSource& source,
                                                            std::vector<Scenario>& scenarios,
                                                            const ReplayOptions& options) {
  std::vector<std::optional<DegradationFit>> fits(scenarios.size());
  Study study(source, options, "dr=fit");
  for (size_t i = 0; i < scenarios.size(); ++i) {
    Scenario& scenario = scenarios[i];
    if (!scenario.fits_degradation) continue;
    fits[i] = fit_ratio(study, scenario);
    const double ratio = fits[i]->ratio.value_or(1);
    scenario.platform.contention.numbers["degradation_ratio"] = ratio;
    scenario.fits_degradation = false;
    // Commands in reports ask for the ratio itself.
    for (std::string& change : scenario.changes) {
      if (change.ends_with("=fit")) change = change_by("dr", '=', ratio);
    }
  }
  return fits;
}

}  // namespace rubato
