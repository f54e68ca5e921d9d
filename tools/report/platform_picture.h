#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/platform/platform.h"

namespace rubato {

/// A measured time and the fitted curve at its size.
struct SamplePoint {
  double bytes = 0;
  double seconds = 0;
  double fitted = 0;
};

/// A point of the fitted curve.
struct CurvePoint {
  double bytes = 0;
  double seconds = 0;
};

/// The drawing of one level: one-way time over message size, overheads included, and the fitted
/// samples.
struct LevelPicture {
  std::string level;
  std::vector<CurvePoint> curve;
  std::vector<SamplePoint> samples;
};

/// A platform file as shown in a report.
struct PlatformPicture {
  std::string name;
  std::string file;
  std::map<std::string, std::string> measured;  ///< how it was measured
  std::vector<LevelPicture> levels;             ///< those with samples
};

/// Reads a platform file and the samples next to it (FILE.csv for FILE.toml, as written by `rubato
/// calibrate`). A missing sample file is no error, an unreadable platform file is.
PlatformPicture picture_of_platform(const std::string& file);

/// Seconds from the call of the sender to the return of the receiver for a message of so many
/// bytes: half a round trip.
double one_way(const LevelModel& level, double bytes);

/// One-way times, overheads included, and bandwidths of messages of some sizes on each level of a
/// platform, with bars on a logarithmic axis shared by all levels: a heading and a table per level,
/// for a page of `width` columns.
std::string curves_of(const Platform& platform, int width);

}  // namespace rubato
