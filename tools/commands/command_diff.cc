#include <fmt/core.h>

#include <utility>

#include "models/base/error.h"
#include "models/base/units.h"
#include "tools/cli/commands.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/report_files.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/studies/diff_report.h"
#include "tools/studies/diff_runs.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kDiffHelp = {
    "rubato diff OLD [--on SCENARIO] [OLD2 ...] NEW [--on SCENARIO] [options]",
    "Compares two runs of a program, before and after a change, or a prediction with a recording:\n"
    "elapsed time, where the difference is, and whether it is more than noise.",
    "Without --on an archive is compared as recorded, with --on as predicted for that machine.\n"
    "Archives before the last one are repeated runs of OLD; repeated runs of NEW follow --new.\n"
    "  rubato diff before.otf2dir after.otf2dir\n"
    "  rubato diff here.otf2dir --on there.toml there.otf2dir\n"
    "  rubato diff old1.otf2dir old2.otf2dir old3.otf2dir new.otf2dir --fail-above 3%\n"
    "\n"
    "All runs need the same number of ranks. If other programs took cores, recordings are "
    "compared\n"
    "without that time; --on measured or --keep-stolen includes it.\n"
    "\n"
    "Exit code: 0, also if runs differ; 3 if --fail-above fails; 1 for bad archives."};

/// Assigns each `--on` to the archive before it, or to the first one. Parses again because boost's
/// variables_map keeps no order.
DiffSides sides_of(const Arguments& arguments, const po::options_description& visible) {
  po::options_description all;
  all.add(visible);
  all.add_options()("archive", po::value<Words>());
  po::positional_options_description words;
  words.add("archive", -1);
  using Style = po::command_line_style::style_t;
  const int style = Style::unix_style & ~Style::allow_guessing;
  const auto parsed =
      po::command_line_parser(arguments).options(all).positional(words).style(style).run();
  DiffSides sides;
  DiffWord* last = nullptr;
  std::string first_on;
  for (const auto& option : parsed.options) {
    if (option.string_key == "archive" || option.string_key == "new") {
      std::vector<DiffWord>& side = option.string_key == "new" ? sides.after : sides.before;
      side.push_back({option.value[0], std::exchange(first_on, "")});
      last = &side.back();
    } else if (option.string_key == "on") {
      std::string& scenario = last ? last->scenario : first_on;
      if (!scenario.empty()) throw UsageError("--on: expected at most one scenario per archive");
      scenario = option.value[0];
    }
  }
  if (sides.before.size() + (sides.after.empty() ? 0 : 1) < 2)
    throw UsageError(fmt::format("expected two archives or more; usage: {}", kDiffHelp.usage));
  if (sides.after.empty()) {
    sides.after.push_back(sides.before.back());
    sides.before.pop_back();
  }
  for (const std::vector<DiffWord>* side : {&sides.before, &sides.after}) {
    for (const DiffWord& word : *side) {
      if (word.scenario == side->front().scenario) continue;
      throw UsageError(fmt::format("repeated runs need the same --on: {} has {}, {} has {}",
                                   side->front().archive,
                                   side->front().scenario.empty() ? "none" : side->front().scenario,
                                   word.archive, word.scenario.empty() ? "none" : word.scenario));
    }
  }
  return sides;
}

/// The value of --fail-above: "3%" is 0.03.
double parse_limit(const std::string& text) {
  size_t end = 0;
  double percent = -1;
  try {
    percent = std::stod(text, &end);
  } catch (const std::logic_error&) {
  }
  while (end < text.size() && text[end] == ' ') ++end;
  if (!(percent >= 0 && percent <= 1000) || text.substr(end) != "%") {
    throw UsageError(
        fmt::format("--fail-above: '{}' is not a percentage from 0 to 1000, such as 3%", text));
  }
  return percent / 100;
}

}  // namespace

int command_diff(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<Words>()->value_name("SCENARIO"),
      "machine for the archive before it, as for 'rubato replay'; once per archive");
  add("new", po::value<Words>()->value_name("ARCHIVE"),
      "a run of NEW; may be repeated; all other archives are then runs of OLD");
  add("fail-above", po::value<std::string>()->value_name("PERCENT"),
      "exit with 3 if NEW certainly takes longer than OLD by more than this, such as 3%");
  add("threshold", po::value<std::string>()->value_name("TIME"),
      "report the first operation after which a rank is ahead or behind by this time; default: 1 "
      "% of the old run");
  add("all",
      "also print tables by call, distance, size and rank; --json: all operations that differ");
  add("functions", "also compare the compute time of functions and their callees, if recorded");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write times by call, function and rank; '-': to standard output instead of the text");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-' as above");
  add("help,h", "show this help");
  add_engine_options(options);
  po::variables_map values;
  if (!parse_options(arguments, kDiffHelp, options, "archive", false, values)) return 0;
  const DiffSides sides = sides_of(arguments, options);
  DiffOptions how;
  how.functions = values.count("functions") > 0;
  how.all = values.count("all") > 0;
  if (values.count("fail-above")) how.limit = parse_limit(text_of(values, "fail-above"));
  if (values.count("threshold")) {
    try {
      how.threshold = parse_seconds(text_of(values, "threshold"));
    } catch (const InputError& error) {
      throw UsageError(fmt::format("--threshold: {}", error.what()));
    }
  }
  Words inputs;
  for (const std::vector<DiffWord>* side : {&sides.before, &sides.after}) {
    for (const DiffWord& word : *side) {
      std::vector<Scenario> scenarios;
      if (!word.scenario.empty()) scenarios.push_back(fixed_scenario(word.scenario));
      for (const std::string& file : input_files(word.archive, scenarios)) inputs.push_back(file);
    }
  }
  ReportFiles files(values, {"csv", "json"}, inputs);

  const DiffResults results = compare_runs(sides, how, engine_options(values));
  if (files.tables_wanted()) {
    const int width = page_width();
    print_to_stdout(diff_lines(results, width));
    if (how.all) print_to_stdout("\n" + diff_tables(results, width));
  }
  if (files.wants("json")) files.write("json", diff_json(results));
  if (files.wants("csv")) files.write("csv", diff_csv(results));
  files.commit();
  const bool failed =
      results.limit && gate_result(results.slowdown, *results.limit) == GateResult::kFailed;
  return failed ? 3 : 0;
}

}  // namespace rubato
