#include "tools/report/platform_curves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/format/numbers.h"
#include "tools/format/text_table.h"

namespace rubato {
namespace {

constexpr double kSizes[] = {0, 8, 64, 512, 4096, 32768, 1 << 18, 1 << 21, 1 << 24};  // bytes
constexpr int kBar = 40;                                                              ///< columns

/// A table of times by size, with bars on a logarithmic axis shared by all levels.
std::string drawing(const LevelModel& level, double least, double most, int width) {
  TextTable table({"  Size", "One way", "Bandwidth", "One way, logarithmic"});
  const double decades = std::max(1.0, std::log10(most / least));
  for (const double bytes : kSizes) {
    const double seconds = one_way(level, bytes);
    const double height = seconds > 0 ? 1 + (kBar - 1) * std::log10(seconds / least) / decades : 0;
    std::string bar(static_cast<size_t>(std::clamp(height, 0.0, 1.0 * kBar)), '#');
    table.add_row({"  " + show_bytes(bytes), SecondsCell{seconds},
                   bytes > 0 && seconds > 0 ? RateCell{bytes / seconds} : TableCell("-"), bar});
  }
  return table.format(width);
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
