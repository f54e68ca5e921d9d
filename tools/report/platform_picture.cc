#include "tools/report/platform_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "models/fit/timed_length.h"
#include "models/platform/platform_file.h"
#include "tools/files/sample_file.h"
#include "tools/report/platform_curves.h"

namespace rubato {
namespace {

/// Sizes at which a curve is drawn: 0, then eight per doubling, and both sides of every segment
/// border, where the curve may jump.
std::set<double> drawing_sizes(const LevelModel& model, double largest) {
  std::set<double> sizes = {0};
  for (double bytes = 1; bytes < largest; bytes *= std::exp2(0.125)) sizes.insert(bytes);
  sizes.insert(largest);
  for (const TransferCurve* curve :
       {&model.transfer, &model.send_overhead, &model.receive_overhead}) {
    for (const Segment& segment : curve->segments()) {
      if (segment.from < 1 || segment.from >= largest) continue;
      sizes.insert(segment.from);
      sizes.insert(std::nextafter(segment.from, 0.0));
    }
  }
  return sizes;
}

LevelPicture draw_level(const std::string& name, const LevelModel& model,
                        const std::vector<Sample>& samples) {
  LevelPicture picture{name, {}, {}};
  double largest = 4 << 20;
  for (const Segment& segment : model.transfer.segments()) {
    largest = std::max(largest, segment.from * 4);
  }
  for (const Sample& sample : samples) {
    if (sample.level != name) continue;
    picture.samples.push_back({sample.bytes, sample.seconds, one_way(model, sample.bytes)});
  }
  if (!picture.samples.empty()) {
    largest = 1;
    for (const SamplePoint& sample : picture.samples) largest = std::max(largest, sample.bytes);
  }
  for (const double bytes : drawing_sizes(model, largest)) {
    picture.curve.push_back({bytes, one_way(model, bytes)});
  }
  return picture;
}

}  // namespace

PlatformPicture picture_of_platform(const std::string& file) {
  const Platform platform = load_platform(file);
  std::vector<Sample> samples;
  const std::string beside = std::filesystem::path(file).replace_extension(".csv").string();
  const auto time = platform.measured.find("time");
  const bool median = time != platform.measured.end() && time->second == name_of(OfLoops::kMedian);
  if (std::filesystem::exists(beside))
    samples = read_samples(beside, median ? "seconds_median" : "seconds_min");

  PlatformPicture picture{
      platform.name.empty() ? file : platform.name, file, platform.measured, {}};
  // Messages of a rank to itself matter least.
  for (const Level level : {Level::kSocket, Level::kNode, Level::kNetwork, Level::kSelf}) {
    if (!platform.level(level)) continue;
    const char* name = kLevelNames[static_cast<int>(level)];
    picture.levels.push_back(draw_level(name, *platform.level(level), samples));
  }
  return picture;
}

}  // namespace rubato
