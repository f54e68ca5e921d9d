#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "models/platform/platform_presets.h"
#include "replay/sources/input_format.h"
#include "tools/calibration/simgrid_platform.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/replay_notices.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/archive_guard.h"
#include "tools/files/goal_file.h"
#include "tools/files/whole_file.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kExportHelp = {
    "rubato export PLATFORM -o FILE | ARCHIVE --goal FILE [options]",
    "Converts a platform file, or a built-in network ('rubato platforms'), to a platform for\n"
    "SimGrid: hosts node0, node1, ... with factors of its MPI model (SMPI) that reproduce the\n"
    "ping-pong times of level network. With --goal, converts a recorded run to a GOAL schedule\n"
    "for LogGOPSim and other simulators of networks.",
    "  rubato export cluster.toml -o cluster.xml --nodes 64\n"
    "  smpirun -np 64 -platform cluster.xml -hostfile hosts \\\n"
    "    --cfg=network/model:SMPI ./app\n"
    "  rubato export run.otf2dir --goal run.goal --on cluster.toml"};

int export_goal(const po::variables_map& values) {
  const std::string archive = values["platform"].as<std::vector<std::string>>()[0];
  const std::string output = values["goal"].as<std::string>();
  const std::string how = values["collectives"].as<std::string>();
  if (how != "messages" && how != "one")
    throw UsageError(fmt::format("--collectives: expected 'messages' or 'one', not '{}'", how));
  const Scenario scenario = fixed_scenario(values["on"].as<std::string>());
  if (scenario.basis != Basis::kModel)
    throw UsageError(
        fmt::format("--on: {} has no messages of collectives; name a platform", scenario.name));
  warn_of_platforms({scenario});
  std::optional<WholeFile> file;
  if (output != "-") {
    refuse_archive_part(output, archive);
    if (!values.count("force")) refuse_existing({output});
    for (const std::string& input : input_files(archive, {scenario})) keep_input(input, output);
    file.emplace(output);
  }
  const auto source = open_trace(archive);
  const std::string lacks = write_goal(
      *source, scenario, {}, how == "one" ? GoalCollectives::kOne : GoalCollectives::kMessages,
      [&](const std::string& text) { file ? file->write(text) : print_data(text); });
  if (file) file->commit();
  if (!lacks.empty()) print_to_stderr(fmt::format("rubato: warning: {}: {}", archive, lacks));
  return 0;
}

}  // namespace

int command_export(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("output,o", po::value<std::string>()->value_name("FILE"), "the SimGrid platform to write");
  add("goal", po::value<std::string>()->value_name("FILE"),
      "write a run as a GOAL schedule; '-': to standard output");
  add("on", po::value<std::string>()->value_name("SCENARIO")->default_value("perfect"),
      "with --goal: the machine, for its processors and its choice of algorithms");
  add("collectives",
      po::value<std::string>()->value_name("messages|one")->default_value("messages"),
      "with --goal: the messages of the algorithm, or a tree to one member and back");
  add("nodes", po::value<int>()->value_name("N")->default_value(16), "with -o: number of hosts");
  add("force", "replace an existing file");
  add("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kExportHelp, options, "platform", false, values)) return 0;
  const auto names = values.count("platform") ? values["platform"].as<std::vector<std::string>>()
                                              : std::vector<std::string>{};
  if (names.size() != 1 || values.count("output") + values.count("goal") != 1) {
    throw UsageError(
        fmt::format("expected one platform file and -o FILE, or one archive and --goal FILE; "
                    "usage: {}",
                    kExportHelp.usage));
  }
  const bool has_goal = values.count("goal") != 0;
  for (const char* name : {"on", "collectives"}) {
    if (!has_goal && !values[name].defaulted())
      throw UsageError(fmt::format("--{} needs --goal FILE", name));
  }
  if (has_goal && !values["nodes"].defaulted())
    throw UsageError("--nodes needs -o FILE: a GOAL schedule has the ranks of its archive");
  if (has_goal) return export_goal(values);
  const int nodes = values["nodes"].as<int>();
  if (nodes < 1) throw UsageError("--nodes: expected an integer above 0");
  const std::string output = values["output"].as<std::string>();
  if (!values.count("force")) refuse_existing({output});
  const std::string preset =
      std::filesystem::exists(names[0]) ? "" : preset_path(platforms_dir(), names[0]);
  if (preset.empty() && !std::filesystem::exists(names[0])) {
    throw InputError(
        fmt::format("there is no platform file '{}'{}; 'rubato platforms' lists the built-in "
                    "networks",
                    names[0], did_you_mean(names[0], preset_names(platforms_dir()))));
  }
  const std::string path = preset.empty() ? names[0] : preset;
  keep_input(path, output);
  std::string text;
  try {
    text = simgrid_platform(load_platform(path), nodes);
  } catch (const InputError& error) {
    const std::string what = error.what();
    throw InputError(what.rfind(path, 0) == 0 ? what : path + ": " + what);
  }
  WholeFile file(output);
  file.write(text);
  file.commit();
  return 0;
}

}  // namespace rubato
