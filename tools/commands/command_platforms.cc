#include <fmt/core.h>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/standard_streams.h"
#include "tools/format/table.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kPlatformsHelp = {
    "rubato platforms [NAME]",
    "Lists the built-in platform files of common networks, or prints the one called NAME. They\n"
    "are based on published figures, with sources in each file; a file that 'rubato calibrate'\n"
    "measures on your machine is more accurate.",
    "Use them by name, with changes where you know better values, or copy one and edit it:\n"
    "  rubato replay run.otf2dir --on infiniband-hdr:latency*0.5,ppn=64\n"
    "  rubato platforms infiniband-hdr >cluster.toml"};

/// Latency and asymptotic bandwidth of messages between nodes.
std::vector<Cell> row(const std::string& name, const Platform& platform) {
  Json latency = "", bandwidth = "";
  if (const auto& level = platform.level(Level::kNetwork)) {
    const double slope = level->transfer.empty() ? 0 : level->transfer.segments().back().per_byte;
    latency = level->transfer(0);
    bandwidth = slope > 0 ? Json(1 / slope) : "inf";
  }
  return {{"Name", name},
          {"Latency", latency, As::kSeconds},
          {"Bandwidth", bandwidth, As::kRate},
          {"Network", platform.name}};
}

}  // namespace

int command_platforms(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kPlatformsHelp, options, "name", false, values)) return 0;
  const std::string directory = platforms_dir();
  const std::vector<std::string> names = preset_names(directory);
  if (names.empty()) throw InputError(directory + ": there are no platform files");
  if (values.count("name")) {
    const auto asked = values["name"].as<std::vector<std::string>>();
    if (asked.size() > 1) throw UsageError("too many arguments; usage: " + kPlatformsHelp.usage);
    const std::string path = preset_path(directory, asked[0]);
    if (path.empty()) {
      throw InputError(fmt::format("there is no platform '{}'{}; 'rubato platforms' lists them",
                                   asked[0], did_you_mean(asked[0], names)));
    }
    print_data(text_of_file(path, "a platform file", size_t{16} << 20));
    return 0;
  }
  Table table;
  for (const std::string& name : names)
    table.add(row(name, load_platform(preset_path(directory, name))));
  print_to_stdout(fmt::format("{}\nFiles with sources: {}\n", table.text(page_width()), directory));
  return 0;
}

}  // namespace rubato
