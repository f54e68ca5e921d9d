#include <fmt/core.h>

#include <ctime>
#include <filesystem>
#include <list>
#include <optional>

#include "models/base/error.h"
#include "models/base/shell_quoted.h"
#include "tools/cli/commands.h"
#include "tools/cli/interruption.h"
#include "tools/cli/replay_notices.h"
#include "tools/cli/standard_streams.h"
#include "tools/format/numbers.h"
#include "tools/options/options.h"
#include "tracer/recover/leftovers.h"
#include "tracer/recover/recover.h"

namespace po = boost::program_options;

namespace rubato {

namespace {

/// "ranks 0-3 of 8", "rank 2 of 8".
std::string ranks_text(const Leftover& left) {
  std::string text = left.ranks.size() == 1 ? "rank" : "ranks";
  const std::vector<int>& ranks = left.ranks;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += fmt::format("{}{}", i == 0 ? " " : ",", ranks[i]);
    if (end - i > 1) text += fmt::format("-{}", ranks[end - 1]);
    i = end;
  }
  return text + fmt::format(" of {}", left.size);
}

std::string state_text(const Leftover& left) {
  switch (left.state) {
    case RecordState::kEnded:
      return fmt::format("ended {} ago",
                         rough_time(std::difftime(std::time(nullptr), left.last_use)));
    case RecordState::kRunning:
      return "still running";
    case RecordState::kElsewhere:
      return "ran on " + left.host;
    case RecordState::kRollCall:
      return "of a run that ended in MPI_Init";
    case RecordState::kUnknown:
      break;
  }
  return "no journal";
}

/// A paragraph on one directory, with suggested commands.
std::string leftover_text(const Leftover& left) {
  const std::string directory = shell_quoted(left.directory);
  std::string text = fmt::format("{}: {}, {}", left.directory, state_text(left),
                                 show_bytes(static_cast<double>(left.bytes)));
  if (!left.ranks.empty()) text += fmt::format(", {}, {}", ranks_text(left), left.command);
  text += "\n";
  if (left.state == RecordState::kRunning || left.state == RecordState::kElsewhere) return text;
  if (left.state == RecordState::kEnded) {
    std::error_code ignored;
    const bool known = std::filesystem::exists(left.output + "/INCOMPLETE", ignored);
    text += fmt::format("  trace:   rubato recover {}\n",
                        known ? shell_quoted(left.output) : directory + " -o NEW.otf2dir");
  }
  return text + fmt::format("  discard: rubato recover --discard {}\n", directory);
}

int list_leftovers(const std::vector<std::string>& places) {
  std::string text;
  try {
    for (const Leftover& left : find_leftovers(places)) text += leftover_text(left);
  } catch (const RecoverError& error) {
    throw InputError(error.what());
  }
  print_to_stdout(text.empty() ? "no records were left on this machine\n" : text);
  return 0;
}

/// Continues after a directory that cannot be discarded; the exit code is then 1.
int discard(const std::vector<std::string>& directories) {
  int code = 0;
  for (const std::string& directory : directories) {
    try {
      const uint64_t bytes = discard_records(directory);
      print_to_stdout(
          fmt::format("{}: {} discarded\n", directory, show_bytes(static_cast<double>(bytes))));
    } catch (const RecoverError& error) {
      print_to_stderr(fmt::format("rubato: error: {}; nothing was discarded", error.what()));
      code = 1;
    }
  }
  return code;
}

}  // namespace

int command_recover(const Arguments& arguments) {
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("output,o", po::value<std::string>()->value_name("DIR"),
       "directory of the archive (default: the one that the run would have written)")
      ("keep", "do not remove the records")
      ("list", "list records left by runs of this user on this machine (and in DIR)")
      ("discard", "remove the records in DIR of ended processes without writing an archive")
      ("help,h", "show this help");
  // clang-format on
  const CommandHelp help = {
      "rubato recover [options] DIR...",
      "Builds an archive from the records of a program that was killed, called exit() or "
      "MPI_Abort(),\n"
      "or ran out of disk space. DIR is the directory given to `rubato trace -o`, which refers to "
      "the\n"
      "records. Copy records of other nodes to this machine and append their directories.",
      "Examples:\n"
      "  rubato recover run.otf2dir\n"
      "  scp -r node2:/dev/shm/rubato-1000-0123456789ab node2.records\n"
      "  rubato recover run.otf2dir node2.records\n"
      "  rubato recover --list             (records left in memory and on disk)\n"
      "  rubato recover --discard /dev/shm/rubato-1000-0123456789ab\n"
      "Details: share/doc/tracing.md"};
  po::variables_map values;
  if (!parse_options(arguments, help, options, "directory", false, values)) return 0;
  const auto directories = values.count("directory") != 0
                               ? values["directory"].as<std::vector<std::string>>()
                               : std::vector<std::string>();
  if (values.count("list") + values.count("discard") > 1)
    throw UsageError("--list and --discard exclude each other");
  if (values.count("list") != 0) return list_leftovers(directories);
  if (directories.empty()) throw UsageError("expected a directory; usage: " + help.usage);
  if (values.count("discard") != 0) return discard(directories);

  RecoverTask task;
  task.directories = directories;
  if (values.count("output") != 0) task.output = values["output"].as<std::string>();
  task.keep = values.count("keep") != 0;
  task.progress = progress_line("recovering");
  std::list<GoneWhenInterrupted> incomplete;
  std::optional<NotInterrupted> removing;  // while records are removed
  task.incomplete = [&](const std::vector<std::string>& paths) {
    if (paths.empty()) removing.emplace();
    incomplete.clear();
    for (const std::string& path : paths) incomplete.emplace_back(path);
  };
  RecoverResult result;
  try {
    result = recover(task);
  } catch (const RecoverError& error) {
    show_progress("");
    throw InputError(error.what());
  }
  std::string text =
      fmt::format("{}: {} events of {} of {} ranks, {:.3f} s; next: rubato replay {}\n",
                  result.output, show_count(result.events), result.recovered, result.ranks,
                  result.seconds, shell_quoted(result.output));
  constexpr size_t kMost = 8;
  for (const auto* lines : {&result.missing, &result.in_calls}) {
    for (size_t i = 0; i < lines->size() && i < kMost; ++i)
      text += fmt::format("  {}\n", (*lines)[i]);
    if (lines->size() > kMost) text += fmt::format("  ... and {} more\n", lines->size() - kMost);
  }
  if (result.kept && result.recovered < result.ranks) {
    text += "  the records are kept; recover again when those of the other ranks are available\n";
  }
  print_to_stdout(text);
  return 0;
}

}  // namespace rubato
