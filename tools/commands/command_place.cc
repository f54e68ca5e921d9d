#include <fmt/core.h>

#include "models/scenario/placement_changes.h"
#include "replay/rubato.h"
#include "replay/study/placement_search.h"
#include "tools/cli/commands.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/report_files.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/report/findings_report.h"
#include "tools/studies/placement_report.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kPlaceHelp = {
    "rubato place ARCHIVE --on SCENARIO [options]",
    "Searches for a good placement of ranks on nodes and, for networks with a topology, of\n"
    "nodes in the network. Every reported placement has been replayed.",
    "  rubato place run.otf2dir --on infiniband-hdr:ppn=4,network=dragonfly\n"
    "  rubato place run.otf2dir --on cluster.toml:ppn=4,network=dragonfly \\\n"
    "    --free 0-63+200-300 --hosts hosts.txt\n"
    "Scenarios are written as for 'rubato replay'; share/doc/networks.md explains networks.\n"
    "With shared links each placement needs a replay of its own. Existing files are replaced,\n"
    "and only when the new file is complete."};

po::options_description place_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<std::string>()->value_name("SCENARIO"), "the machine");
  add("free", po::value<std::string>()->value_name("LIST"),
      "nodes of the network that may be used, such as 0-15+32-60/4; default: those of nodes=, "
      "else all");
  add("hosts", po::value<std::string>()->value_name("FILE"),
      "write the host of each rank in the best placement, for placement=file:FILE,nodes=hosts");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-': to standard output instead of the text");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per placement; '-' as above");
  add("help,h", "show this help");
  add_engine_options(options);
  return options;
}

std::vector<int> free_nodes(const po::variables_map& values, const Scenario& scenario) {
  if (!values.count("free")) return {};
  const ContentionSetting& network = scenario.platform.contention;
  if (!network.model || !network.model->nodes)
    throw UsageError("--free: the scenario has no network; add network= to the platform");
  try {
    return parse_nodes(text_of(values, "free"));
  } catch (const InputError& error) {
    throw UsageError(std::string("--free: ") + error.what());
  }
}

}  // namespace

int command_place(const Arguments& arguments) {
  po::variables_map values;
  if (!parse_options(arguments, kPlaceHelp, place_options(), "archive", false, values)) return 0;
  const std::string archive = one_archive(values, kPlaceHelp);
  if (!values.count("on")) throw UsageError("--on SCENARIO is required");
  const Scenario scenario = fixed_scenario(text_of(values, "on"));
  const std::string hosts = values.count("hosts") ? text_of(values, "hosts") : "hosts.txt";
  if (hosts.find(',') != std::string::npos)
    throw UsageError(
        fmt::format("--hosts: '{}': the name must not contain a comma, which "
                    "separates changes of a scenario",
                    hosts));
  const PlacementSearchSettings settings{free_nodes(values, scenario)};
  warn_of_platforms({scenario});
  ReplayOptions options = engine_options(values);
  options.progress = progress_line("evaluating");
  ReportFiles files(values, {"json", "csv", "hosts"}, input_files(archive, {scenario}));

  const auto source = open_trace(archive, {options.ignore_offsets, options.threads});
  PlacementSearch found = find_placement(*source, scenario, settings, options);
  found.run.asked_with = engine_words(values);
  const PlacementSubject subject{&scenario, hosts, values.count("hosts") > 0,
                                 no_conclusion(*source, options, scenario)};
  if (files.tables_wanted()) print_to_stdout(placement_text(found, subject, page_width()));
  if (files.wants("json")) files.write("json", placement_json(found, subject));
  if (files.wants("csv")) files.write("csv", placement_csv(found, subject));
  if (files.wants("hosts")) files.write("hosts", placement_hosts(found));
  files.commit();
  return 0;
}

}  // namespace rubato
