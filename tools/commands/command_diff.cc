#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "models/base/units.h"
#include "replay/compare/call_log.h"
#include "replay/rubato.h"
#include "replay/run/scenario_groups.h"
#include "tools/cli/commands.h"
#include "tools/files/archive_guard.h"
#include "tools/files/whole_file.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/studies/diff_report.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kDiffHelp = {
    "rubato diff PREDICTED [--on SCENARIO] MEASURED [--on SCENARIO] [options]",
    "Compares two runs of a program operation by operation, usually a prediction made from the\n"
    "first archive and the recording in the second, and reports where they diverge.",
    "--on applies to the archive before it; without --on, the recorded times are compared.\n"
    "  rubato diff here.otf2dir --on there.toml there.otf2dir\n"
    "Both runs need the same number of ranks. Differences are not errors: the exit code is 0."};

/// One side of the comparison, as on the command line.
struct Side {
  std::string archive;
  std::string scenario = "measured";
};

/// Assigns each `--on` to the archive before it, or to the first one. Parses again because boost's
/// variables_map keeps no order.
std::vector<Side> sides_of(const Arguments& arguments, const po::options_description& visible) {
  po::options_description all;
  all.add(visible);
  all.add_options()("archive", po::value<Words>());
  po::positional_options_description words;
  words.add("archive", -1);
  using Style = po::command_line_style::style_t;
  const int style = Style::unix_style & ~Style::allow_guessing;
  const auto parsed =
      po::command_line_parser(arguments).options(all).positional(words).style(style).run();
  std::vector<Side> sides;
  std::vector<bool> given;
  std::string before_all;
  for (const auto& option : parsed.options) {
    if (option.string_key == "archive") {
      sides.push_back({option.value[0]});
      given.push_back(false);
    } else if (option.string_key == "on") {
      const bool again = sides.empty() ? !before_all.empty() : given.back();
      if (again) throw UsageError("--on: expected at most one scenario per archive");
      if (sides.empty()) {
        before_all = option.value[0];
      } else {
        sides.back().scenario = option.value[0];
        given.back() = true;
      }
    }
  }
  if (sides.size() != 2)
    throw UsageError(fmt::format("expected two archives; usage: {}", kDiffHelp.usage));
  if (!before_all.empty()) {
    if (given[0]) throw UsageError("--on: expected at most one scenario per archive");
    sides[0].scenario = before_all;
  }
  return sides;
}

/// One side, replayed.
struct ReplayedSide {
  std::unique_ptr<EventSource> source;
  std::unique_ptr<CallLog> log;
  std::vector<std::string> functions;
  DiffSide summary;

  LoggedRun run() const {
    return {log.get(), functions, functions.empty() ? nullptr : source->function_times()};
  }
};

/// The functions of an archive that can be measured in one pass, in the driver's order: first those
/// that scenarios change.
std::vector<std::string> measured_functions(const EventSource& source, const Scenario& scenario) {
  std::vector<std::string> functions =
      functions_to_time({scenario}, source.functions(), source.definitions());
  for (const FunctionName& function : source.functions()) {
    const bool is_new =
        std::find(functions.begin(), functions.end(), function.name) == functions.end();
    if (is_new && functions.size() < kMostFunctions) functions.push_back(function.name);
  }
  return functions;
}

ReplayedSide replay_side(const Side& side, ReplayOptions options, bool functions) {
  const Scenario scenario = fixed_scenario(side.scenario);
  ReplayedSide replayed;
  replayed.source = open_trace(side.archive, {options.ignore_offsets, options.threads});
  const TraceDefinitions& trace = replayed.source->definitions();
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  replayed.log = std::make_unique<CallLog>(trace, scenario.placement.place(recorded),
                                           kept_losses(scenario, options.keep_stolen));
  options.observers = {replayed.log.get()};
  if (functions) {
    replayed.functions = measured_functions(*replayed.source, scenario);
    options.functions = replayed.functions;
  }
  const Results results = run_replay(*replayed.source, {scenario}, options);
  const ScenarioResult& result = results.scenarios[0];
  if (!result.deadlock.empty()) {
    throw InputError(
        fmt::format("{} deadlocks on {}: {}", side.archive, scenario.name, result.deadlock));
  }
  replayed.summary = {side.archive, scenario.name, result.elapsed};
  return replayed;
}

}  // namespace

int command_diff(const Arguments& arguments) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<Words>()->value_name("SCENARIO"),
      "machine for the archive before it, as for 'rubato replay'; once per archive");
  add("threshold", po::value<std::string>()->value_name("TIME"),
      "report the first operation after which a rank is ahead or behind by this time; default: 1 "
      "% of the measured run");
  add("all", "list all differing operations, not only the ten with the largest gap");
  add("functions", "also compare the compute time of functions, if recorded");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-': to standard output instead of the "
      "tables");
  add("help,h", "show this help");
  add_engine_options(options);
  po::variables_map values;
  if (!parse_options(arguments, kDiffHelp, options, "archive", false, values)) return 0;
  const std::vector<Side> sides = sides_of(arguments, options);
  constexpr size_t kLargest = 10;
  const size_t largest = values.count("all") ? std::numeric_limits<size_t>::max() : kLargest;
  DiffResults results;
  if (values.count("threshold")) {
    try {
      results.threshold = parse_seconds(values["threshold"].as<std::string>());
    } catch (const InputError& error) {
      throw UsageError(fmt::format("--threshold: {}", error.what()));
    }
  }
  const std::string json = values.count("json") ? values["json"].as<std::string>() : "";
  if (values.count("json") && json.empty()) throw UsageError("--json: the file name is empty");
  std::unique_ptr<WholeFile> file;
  if (!json.empty() && json != "-") {
    for (const Side& side : sides) refuse_archive_part(json, side.archive);
    file = std::make_unique<WholeFile>(json);
  }

  const ReplayOptions replay = engine_options(values);
  const bool functions = values.count("functions") > 0;
  const ReplayedSide predicted = replay_side(sides[0], replay, functions);
  const ReplayedSide measured = replay_side(sides[1], replay, functions);
  results.predicted = predicted.summary;
  results.measured = measured.summary;
  if (!values.count("threshold")) results.threshold = 0.01 * results.measured.elapsed;
  results.difference = difference_of(predicted.run(), measured.run(), results.threshold, largest);

  if (json != "-") print_to_stdout(diff_text(results, page_width()));
  if (json == "-") print_data(diff_json(results));
  if (file) {
    file->write(diff_json(results));
    file->commit();
  }
  return 0;
}

}  // namespace rubato
