#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <string_view>

#include "models/base/error.h"
#include "tools/cli/commands.h"
#include "tools/cli/crash.h"
#include "tools/cli/interruption.h"
#include "tools/cli/standard_streams.h"
#include "tools/format/text_table.h"
#include "tools/version.h"

namespace rubato {
namespace {

constexpr Command kCommands[] = {
    {"trace", "record the MPI calls of a program (under mpirun)", command_trace},
    {"recover", "build an archive from the records of a killed program", command_recover},
    {"calibrate", "measure this cluster's network (under mpirun)", command_calibrate},
    {"fit", "refit a calibration", command_fit},
    {"import", "build a platform file from the output of OSU, IMB or NetPIPE", command_import},
    {"export", "write a platform file for SimGrid", command_export},
    {"compare", "compare two calibrations statistically", command_compare},
    {"info", "summary of a trace", command_info},
    {"check", "validate a platform file and print its message times", command_check},
    {"platforms", "list built-in networks", command_platforms},
    {"replay", "predict a run on other machines", command_replay},
    {"profile", "time per call, bytes per pair of ranks", command_profile},
    {"place", "search for a good placement of ranks on nodes", command_place},
    {"advise", "rank possible changes by the elapsed time they save", command_advise},
    {"tolerance", "by how much the network may slow down before the run does", command_tolerance},
    {"diff", "compare two runs, before and after a change; a gate for CI", command_diff},
    {"doctor", "check whether this machine can trace", command_doctor},
    {"help", "explain a command, scenarios, platforms or units", command_help},
};

int run(const Arguments& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") return command_help({});
  if (words[0] == "--version" || words[0] == "-V") {
    print_to_stdout(fmt::format("rubato {}\n", kVersion));
    return 0;
  }
  const Command* command = command_named(words[0]);
  if (!command) {
    std::vector<std::string> names = {"--help", "--version"};
    for (const Command& c : kCommands) names.push_back(c.name);
    const bool is_option = words[0][0] == '-';
    throw UsageError(fmt::format("there is no {} '{}'{}; 'rubato --help' lists the commands",
                                 is_option ? "option" : "command", words[0],
                                 did_you_mean(words[0], names)));
  }
  return command->run({words.begin() + 1, words.end()});
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command* command_named(const std::string& name) {
  const auto found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const Command& command) { return name == command.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

}  // namespace rubato

int main(int argc, char** argv) {
  rubato::open_standard_streams();
  // (The calibrator handles signals itself and keeps the results measured so far.)
  if (argc < 2 || std::string_view(argv[1]) != "calibrate") rubato::handle_interruptions();
  rubato::handle_crashes();
  if (isatty(STDOUT_FILENO) == 0) rubato::keep_tables_whole();
  try {
    const int code = rubato::run({argv + 1, argv + argc});
    rubato::flush_stdout();
    if (code == 0 && rubato::nobody_reads_stdout()) {
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    return code;
  } catch (const rubato::UsageError& error) {
    rubato::print_to_stderr(fmt::format("rubato: {}", error.what()));
    return 2;
  } catch (const std::exception& error) {
    rubato::print_to_stderr(fmt::format("rubato: error: {}", error.what()));
    return 1;
  }
}
