#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "models/base/error.h"
#include "models/base/input_file.h"
#include "models/platform/level_curves.h"
#include "models/platform/platform_presets.h"
#include "models/scenario/scenario_keys.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/standard_streams.h"
#include "tools/options/help_text.h"
#include "tools/options/options.h"
#include "tools/version.h"

namespace fs = std::filesystem;
namespace po = boost::program_options;

/// `rubato help`, with two internal forms: --man [COMMAND], from which the build generates manual
/// pages, and --shells [COMMAND | --on], for shell completion. The texts of topics are the files in
/// share/help.
namespace rubato {
namespace {

const CommandHelp kHelpHelp = {"rubato help [COMMAND | TOPIC]",
                               "Prints the help of a command, or explains a topic: scenarios, "
                               "platforms, units, or the plan of\n"
                               "a calibration.",
                               "  rubato help replay\n  rubato help scenarios"};

po::options_description help_options() {
  po::options_description options("Options");
  options.add_options()("help,h", "show this help");
  return options;
}

constexpr char kTypicalUse[] =
    "  mpirun -n 4 rubato trace -o run.otf2dir ./app args\n"
    "  mpirun -n 2 rubato calibrate -o cluster.toml\n"
    "  rubato replay run.otf2dir --on cluster.toml\n";

/// Sections that all manual pages have, after EXAMPLES.
constexpr char kManEnd[] =
    ".SH EXIT STATUS\n0: done; 1: the input is bad; 2: the command line is bad\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBTMPDIR\\fR\ntemporary files; also records of a run if /dev/shm has no space\n"
    ".TP\n\\fBRUBATO_SUMMARY\\fR\n1: a traced run prints a summary, as \\fBrubato trace "
    "\\-\\-summary\\fR\n"
    ".TP\n\\fBSOURCE_DATE_EPOCH\\fR\nthe date in written files, in seconds since 1970\n"
    ".TP\n\\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR\nwithout UTF\\-8 a terminal gets ASCII "
    "only\n"
    ".TP\n\\fBOMPI_COMM_WORLD_RANK\\fR, \\fBPMI_RANK\\fR, \\fBPMIX_RANK\\fR, \\fBSLURM_PROCID\\fR\n"
    "set by mpirun and srun: the MPI library, and the rank of this process\n"
    ".SH FILES\nRelative to the prefix of the installation:\n"
    ".TP\n\\fIshare/rubato/platforms/*.toml\\fR\nbuilt\\-in platforms\n"
    ".TP\n\\fIshare/rubato/networks/*.toml\\fR\nbuilt\\-in topologies\n"
    ".TP\n\\fIlib/rubato/librubato\\-trace\\-MPI.so\\fR\nthe tracer that is preloaded, for each "
    "MPI "
    "library\n"
    ".TP\n\\fIlibexec/rubato/rubato\\-calibrate\\-MPI\\fR\nthe calibrators\n"
    ".TP\n\\fIshare/rubato/doc/\\fR\nthe documentation\n"
    ".PP\nElsewhere:\n"
    ".TP\n\\fIrubato\\-PROGRAM.otf2dir/traces.otf2\\fR\na trace\n"
    ".TP\n\\fI/dev/shm/rubato\\-UID\\-*\\fR\nrecords during a run, or of a killed one; "
    "\\fBrubato recover \\-\\-list\\fR lists them\n";

std::vector<std::string> topics() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(share_dir() + "/help", ignored))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

void print_overview() {
  std::string text = fmt::format(
      "rubato {}: predict the run time of an MPI program on another network\n"
      "\n"
      "Usage: rubato COMMAND [options]\n"
      "\n"
      "Commands:\n",
      kVersion);
  for (const Command& command : commands())
    text += fmt::format("  {:<10} {}\n", command.name, command.summary);
  text += fmt::format("\nTypical use:\n{}\n'rubato help COMMAND' explains each command.\n",
                      kTypicalUse);
  print_to_stdout(text);
}

const Command& known(const std::string& name) {
  if (const Command* command = command_named(name)) return *command;
  std::vector<std::string> names = topics();
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("there is neither a command nor a topic '{}'{}; topics: {}", name,
                               did_you_mean(name, names), quoted_list(topics())));
}

/// Prints the title and NAME; the command prints the other sections.
void print_man_page(const std::string& name) {
  const std::string page = name.empty() ? "rubato" : "rubato-" + name;
  const std::string summary =
      name.empty() ? "trace MPI programs and replay them on other machines" : known(name).summary;
  print_to_stdout(fmt::format(".TH {} 1 \"\" \"Rubato {}\" \"Rubato\"\n.SH NAME\n{} \\- {}\n", page,
                              kVersion, roff(page), roff(summary)));
  if (!name.empty()) {
    known(name).run({"--help=man"});
    print_to_stdout(
        std::string(kManEnd) +
        ".SH SEE ALSO\n\\fBrubato\\fR(1); \\fBrubato help scenarios\\fR, \\fBrubato help "
        "platforms\\fR, \\fBrubato help units\\fR, \\fBrubato help plan\\fR\n");
    return;
  }
  std::string text =
      ".SH SYNOPSIS\n\\fBrubato\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\nRecords "
      "the "
      "MPI calls of a program and replays them on another machine: a perfect interconnect, a "
      "faster network, another placement, or the same machine without the cost of recording.\n.SH "
      "COMMANDS\n";
  for (const Command& command : commands())
    text += fmt::format(".TP\n\\fBrubato\\-{}\\fR(1)\n{}\n", command.name, roff(command.summary));
  text += fmt::format(
      ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nlist the commands\n.TP\n\\fB\\-V\\fR, "
      "\\fB\\-\\-version\\fR\nprint the version\n.SH EXAMPLES\n{}"
      "{}",
      roff_paragraphs(kTypicalUse), kManEnd);
  print_to_stdout(text);
}

/// The text of a topic, with a list of the keys of scenarios in place of the line @KEYS@, and of
/// the curves of a level in place of @CURVES@.
std::string with_keys(std::string text) {
  const auto replace = [&](const std::string& mark, const std::string& rows) {
    const size_t at = text.find(mark);
    if (at != std::string::npos) text.replace(at, mark.size(), rows);
  };
  std::string keys, curves;
  for (const ScenarioKey& row : scenario_key_rows())
    keys += fmt::format("  {:<30} {}\n", row.example, row.doc);
  for (const LevelCurve& row : level_curves())
    curves += fmt::format("  {:<20} {:<4} {}\n", row.key, row.symbol, row.help);
  replace("@KEYS@\n", keys);
  replace("@CURVES@\n", curves);
  return text;
}

/// Prints lines "kind TAB word TAB description": commands and topics, the options of a command, or
/// the machines and keys of scenarios.
int print_for_shells(const std::string& what) {
  std::string text;
  if (what == "--on") {
    for (const std::string& name : machine_names()) text += fmt::format("machine\t{}\n", name);
    for (const std::string& name : preset_names(platforms_dir()))
      text += fmt::format("machine\t{}\n", name);
    for (const std::string& key : scenario_keys()) text += fmt::format("key\t{}\n", key);
  } else if (what.empty()) {
    for (const Command& command : commands())
      text += fmt::format("command\t{}\t{}\n", command.name, command.summary);
    for (const std::string& topic : topics()) text += fmt::format("topic\t{}\t\n", topic);
  } else {
    return known(what).run({"--help=shells"});
  }
  print_data(text);
  return 0;
}

}  // namespace

int command_help(const Arguments& arguments) {
  if (arguments.empty()) {
    print_overview();
    return 0;
  }
  const std::string& first = arguments[0];
  const std::string second = arguments.size() > 1 ? arguments[1] : "";
  if (arguments.size() > (first == "--man" || first == "--shells" ? 2 : 1))
    throw UsageError(fmt::format("too many arguments; usage: {}", kHelpHelp.usage));
  if (first == "--man") {
    print_man_page(second);
    return 0;
  }
  if (first == "--shells") return print_for_shells(second);
  if (first.starts_with('-')) {
    po::variables_map values;
    parse_options(arguments, kHelpHelp, help_options(), "", false, values);
    return 0;
  }
  const std::vector<std::string> files = topics();
  if (std::find(files.begin(), files.end(), first) == files.end())
    return known(first).run({"--help"});
  print_data(with_keys(
      text_of_file(fmt::format("{}/help/{}.txt", share_dir(), first), "a text", size_t{1} << 20)));
  return 0;
}

}  // namespace rubato
