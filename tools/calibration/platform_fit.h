#pragma once

#include <string>
#include <vector>

#include "models/fit/level_fit.h"
#include "models/platform/platform.h"
#include "models/platform/platform_file.h"
#include "tools/calibration/call_formulas.h"
#include "tools/calibration/sample_fit.h"
#include "tools/files/sample_file.h"

namespace rubato {

/// A level of a fitted platform.
struct FittedLevel {
  Level level = Level::kNode;
  LevelSamples samples;
  LevelFit fit;  ///< with a curve
};

/// A platform made of samples, with comments and a report.
struct FittedPlatform {
  Platform platform;
  std::vector<FittedLevel> levels;
  std::vector<FittedCall> calls;
  PlatformComments comments;  ///< for the file
  std::string report;         ///< tables for a terminal
  std::string remarks;        ///< lines for a terminal: quality of each level's curve, and noise
};

/// A warning about a curve with a segment whose relative uncertainty is 50 % or more: from which
/// length on, and by how much; "" for other curves.
std::string uncertain_curve(const SegmentedFit& fit);

/// Fits all curves and formulas to the samples of one file, with at most `max_segments` segments
/// per curve. `file`: its name in messages and under [measured]. Errors: InputError if no level has
/// enough samples for a curve.
FittedPlatform fit_platform(const SampleFile& samples, const std::string& file,
                            const std::string& name, int page_width,
                            OfLoops of_loops = OfLoops::kLeast,
                            int max_segments = kSegmentsOfLevel);

}  // namespace rubato
