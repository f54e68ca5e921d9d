#include <fmt/core.h>

#include <list>
#include <optional>

#include "models/error.h"
#include "models/shell_quoted.h"
#include "tools/commands.h"
#include "tools/interruption.h"
#include "tools/numbers.h"
#include "tools/options.h"
#include "tools/replay_notices.h"
#include "tools/standard_streams.h"
#include "tracer/recover.h"

namespace po = boost::program_options;

namespace rubato {

int command_recover(const Arguments& arguments) {
  po::options_description options("Options");
  // clang-format off
  options.add_options()
      ("output,o", po::value<std::string>()->value_name("DIR"),
       "directory of the archive (default: where the program would have written it)")
      ("keep", "leave the records where they are")
      ("help,h", "show this help");
  // clang-format on
  const CommandHelp help = {
      "rubato recover [options] DIR...",
      "Makes an archive of what a program recorded that was killed, called exit() or MPI_Abort(),\n"
      "or whose disk was full. DIR is what `rubato trace -o` was given; it says where the records\n"
      "are. Those of other nodes have to be copied here and named behind it.",
      "Examples:\n"
      "  rubato recover run.otf2dir\n"
      "  scp -r node2:/dev/shm/rubato-1000-0123456789ab node2.records\n"
      "  rubato recover run.otf2dir node2.records\n"
      "Details: share/doc/tracing.md"};
  po::variables_map values;
  if (!parse_options(arguments, help, options, "directory", false, values)) return 0;
  if (values.count("directory") == 0) throw UsageError("which directory? usage: " + help.usage);

  RecoverTask task;
  task.directories = values["directory"].as<std::vector<std::string>>();
  if (values.count("output") != 0) task.output = values["output"].as<std::string>();
  task.keep = values.count("keep") != 0;
  task.progress = progress_line("recovering");
  std::list<GoneWhenInterrupted> incomplete;
  std::optional<NotInterrupted> removing;  // records, which nobody would look for any more
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
    text += "  the records that are here stay; with the others, recover again\n";
  }
  print_to_stdout(text);
  return 0;
}

}  // namespace rubato
