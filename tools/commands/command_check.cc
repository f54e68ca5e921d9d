#include <fmt/core.h>

#include <filesystem>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/standard_streams.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/report/platform_picture.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kCheckHelp = {
    "rubato check FILE...",
    "Validates platform files, or built-in networks by name, and prints one-way message times,\n"
    "overheads included, or what is wrong with the file.",
    "  rubato check cluster.toml\n"
    "A minimal platform file:\n"
    "  format = 1\n"
    "  [level.network]\n"
    "  latency = \"2us\"\n"
    "  bandwidth = \"10Gbit/s\"\n"
    "Format: share/doc/platform-files.md"};

std::string report(const Platform& platform, const std::string& path) {
  const std::string grade =
      platform.grade.empty() ? ""
                             : wrap("Poor calibration: " + platform.grade + ".", page_width(), 2);
  return wrap(path + ": " + platform.name, page_width(), 2) + grade +
         curves_of(platform, page_width());
}

}  // namespace

int command_check(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kCheckHelp, options, "file", false, values)) return 0;
  if (!values.count("file"))
    throw UsageError("expected a platform file; usage: " + kCheckHelp.usage);
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
