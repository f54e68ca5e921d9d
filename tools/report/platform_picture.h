#pragma once

#include <map>
#include <string>
#include <vector>

namespace rubato {

/// A measured time and what the fitted curve says there.
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

/// The drawing of one level: the one-way time of a message over its size, overheads included, and
/// the samples behind it.
struct LevelPicture {
  std::string level;
  std::vector<CurvePoint> curve;
  std::vector<SamplePoint> samples;  ///< empty where the platform has no file of samples beside it
};

/// A platform file as a report shows it.
struct PlatformPicture {
  std::string name;
  std::string file;
  std::map<std::string, std::string> measured;  ///< how it was measured
  std::vector<LevelPicture> levels;
};

/// Reads a platform file and the samples beside it (FILE.csv for FILE.toml, as `rubato calibrate`
/// writes them). A missing file of samples is no error, an unreadable platform file is.
PlatformPicture picture_of_platform(const std::string& file);

}  // namespace rubato
