#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "models/cost/platform_file.h"
#include "models/cost/platform_presets.h"
#include "models/error.h"
#include "models/units.h"
#include "tools/commands.h"
#include "tools/install_paths.h"
#include "tools/options.h"
#include "tools/standard_streams.h"
#include "tools/text_table.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kHelp = {"rubato check FILE...",
                           "Reads platform files, or networks by name, and says what is wrong with "
                           "them, or what a message\n"
                           "takes one way there, overheads included.",
                           "  rubato check cluster.toml\n"
                           "The least that a platform file holds:\n"
                           "  format = 1\n"
                           "  [level.network]\n"
                           "  latency = \"2us\"\n"
                           "  bandwidth = \"10Gbit/s\"\n"
                           "All of it: share/doc/platform-files.md"};

constexpr double kSizes[] = {0, 8, 64, 512, 4096, 32768, 1 << 18, 1 << 21, 1 << 24};  // bytes
constexpr int kBar = 40;                                                              ///< columns

double one_way(const LevelModel& level, double bytes) {
  return level.transfer(bytes) + level.send_overhead(bytes) + level.receive_overhead(bytes);
}

/// Time by size, with bars on a logarithmic axis that all levels share.
std::string drawing(const LevelModel& level, double least, double most, int width) {
  TextTable table({"  Size", "One way", "Bandwidth", ""});
  const double decades = std::max(1.0, std::log10(most / least));
  for (const double bytes : kSizes) {
    const double seconds = one_way(level, bytes);
    const double height = seconds > 0 ? 1 + (kBar - 1) * std::log10(seconds / least) / decades : 0;
    std::string bar(static_cast<size_t>(std::clamp(height, 0.0, 1.0 * kBar)), '#');
    bar.resize(kBar, ' ');
    table.add_row({"  " + brief_bytes(bytes), brief_seconds(seconds),
                   bytes > 0 && seconds > 0 ? brief_bandwidth(bytes / seconds) : "-", bar});
  }
  return table.format(width);
}

std::string report(const Platform& platform, const std::string& path) {
  std::string text = fmt::format("{}: {}\n", path, platform.name);
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
                        drawing(*platform.levels[i], std::min(least, most), most, page_width()));
  }
  return text;
}

}  // namespace

int command_check(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kHelp, options, "file", false, values)) return 0;
  if (!values.count("file")) throw UsageError("which file? usage: " + kHelp.usage);
  std::string text;
  for (const std::string& name : values["file"].as<std::vector<std::string>>()) {
    std::error_code ignored;
    std::string path = name;
    if (!std::filesystem::exists(name, ignored)) {
      path = preset_path(platforms_dir(), name);
      if (path.empty()) {
        throw InputError(fmt::format("there is no platform file '{}'{}", name,
                                     did_you_mean(name, preset_names(platforms_dir()))));
      }
    }
    const Platform platform = load_platform(path);
    for (const std::string& line : load_platform_warnings(path))
      print_to_stderr("rubato: warning: " + line);
    text += (text.empty() ? "" : "\n") + report(platform, path);
  }
  print_to_stdout(text);
  return 0;
}

}  // namespace rubato
