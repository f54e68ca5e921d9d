#include <fmt/core.h>

#include "replay/rubato.h"
#include "tools/cli/commands.h"
#include "tools/files/whole_file.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/words/note_words.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kInfoHelp = {
    "rubato info ARCHIVE [options]",
    "Prints a summary of an archive (a directory or its .otf2 file): its size, which calls can "
    "be\n"
    "replayed, and known limitations of the recording.",
    "  rubato info run.otf2dir\n"
    "  rubato info run.otf2dir --json"};

}  // namespace

int command_info(const Arguments& arguments) {
  po::options_description options("Options");
  options.add_options()("json", "print JSON (share/doc/json.md) instead of text");
  add_clocks(options);
  options.add_options()("strict",
                        "exit with 1 if a call is kept as recorded because it cannot be replayed");
  options.add_options()("help,h", "show this help");
  po::variables_map values;
  if (!parse_options(arguments, kInfoHelp, options, "archive", false, values)) return 0;
  const std::string archive = one_archive(values, kInfoHelp);
  ReplayOptions read;
  read_clocks(values, read);
  const TraceSummary trace = summarize_archive(archive, read);
  if (values.count("json"))
    print_data(info_json(trace));
  else
    print_to_stdout(describe_trace(trace, page_width()));
  if (values.count("strict")) refuse_kept_calls(trace);
  return 0;
}

}  // namespace rubato
