#pragma once

#include <string>

#include "tools/calibration/platform_fit.h"

namespace rubato {

/// The HTML page with every curve and formula of a calibration: samples, residuals, breakpoints,
/// goodness of fit; see fill_page().
std::string calibration_html(const FittedPlatform& fitted);

}  // namespace rubato
