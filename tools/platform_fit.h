#pragma once

#include <string>

#include "models/fit.h"
#include "models/platform.h"
#include "tools/sample_file.h"

namespace rubato {

/// A platform made of samples, and what there is to say about it.
struct FittedPlatform {
  Platform platform;
  std::string report;  ///< tables for a terminal
};

/// Fits everything that the samples of one file tell about; `file` is its name in messages and
/// under [measured]. Errors: InputError where no level has enough samples for a curve.
FittedPlatform fit_platform(const SampleFile& samples, const std::string& file,
                            const std::string& name, Joints joints, int page_width);

}  // namespace rubato
