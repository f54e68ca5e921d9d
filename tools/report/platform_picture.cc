#include "tools/report/platform_picture.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "models/fit/timed_length.h"
#include "models/platform/platform_file.h"
#include "tools/files/sample_file.h"
#include "tools/format/numbers.h"
#include "tools/format/table.h"

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
  double largest = 1;
  for (const Sample& sample : samples) {
    if (sample.level != name) continue;
    picture.samples.push_back({sample.bytes, sample.seconds, one_way(model, sample.bytes)});
    largest = std::max(largest, sample.bytes);
  }
  if (picture.samples.empty()) return picture;
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
    LevelPicture drawn = draw_level(name, *platform.level(level), samples);
    if (!drawn.samples.empty()) picture.levels.push_back(std::move(drawn));
  }
  return picture;
}

namespace {

constexpr double kSizes[] = {0, 8, 64, 512, 4096, 32768, 1 << 18, 1 << 21, 1 << 24};  // bytes
constexpr int kBar = 40;                                                              ///< columns

/// A table of times by size, with bars on a logarithmic axis shared by all levels.
std::string drawing(const LevelModel& level, double least, double most, int width) {
  Table table;
  const double decades = std::max(1.0, std::log10(most / least));
  for (const double bytes : kSizes) {
    const double seconds = one_way(level, bytes);
    const double height = seconds > 0 ? 1 + (kBar - 1) * std::log10(seconds / least) / decades : 0;
    std::string bar(static_cast<size_t>(std::clamp(height, 0.0, 1.0 * kBar)), '#');
    table.add({{"  Size", "  " + show_bytes(bytes)},
               {"One way", seconds, As::kSeconds},
               {"Bandwidth", bytes > 0 && seconds > 0 ? Json(bytes / seconds) : "-", As::kRate},
               {"One way, logarithmic", bar}});
  }
  return table.text(width);
}

}  // namespace

double one_way(const LevelModel& level, double bytes) {
  return level.transfer(bytes) + level.send_overhead(bytes) + level.receive_overhead(bytes);
}

std::string curves_of(const Platform& platform, int width) {
  std::string text;
  double least = INFINITY, most = 0;
  for (const auto& level : platform.levels) {
    if (!level) continue;
    for (const double bytes : kSizes) {
      const double seconds = one_way(*level, bytes);
      if (seconds > 0) least = std::min(least, seconds);
      most = std::max(most, seconds);
    }
  }
  for (int i = 0; i < kLevels; ++i) {
    if (!platform.levels[i]) continue;
    text += fmt::format("\nlevel.{}\n{}", kLevelNames[i],
                        drawing(*platform.levels[i], std::min(least, most), most, width));
  }
  return text;
}

}  // namespace rubato
