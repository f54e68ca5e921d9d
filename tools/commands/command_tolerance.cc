#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "replay/rubato.h"
#include "replay/study/tolerance.h"
#include "tools/cli/commands.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/report_files.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/report/findings_report.h"
#include "tools/studies/tolerance_report.h"
#include "tools/words/note_words.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kToleranceHelp = {
    "rubato tolerance ARCHIVE --on SCENARIO [options]",
    "Computes by which factor latency, bandwidth and processors may get worse before the\n"
    "run takes 1 % longer, and which share of the elapsed time is due to each.",
    "  rubato tolerance run.otf2dir --on cluster.toml\n"
    "  rubato tolerance run.otf2dir --on infiniband-hdr:ppn=1 --percent 1,10\n"
    "Scenarios are written as for 'rubato replay'. With contention each factor needs a\n"
    "replay of its own, which takes long."};

po::options_description tolerance_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<std::string>()->value_name("SCENARIO"), "the machine");
  add("percent", po::value<std::string>()->value_name("LIST")->default_value("1,2,5"),
      "tolerated increases of the elapsed time, in percent");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-': to standard output instead of the text");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per parameter; '-' as above");
  add("help,h", "show this help");
  add_engine_options(options);
  return options;
}

std::vector<double> parse_percents(const std::string& text) {
  std::vector<double> percents;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string word = text.substr(start, end - start);
    char* rest = nullptr;
    const double percent = std::strtod(word.c_str(), &rest);
    if (word.empty() || *rest != '\0' || !(percent > 0) || !std::isfinite(percent))
      throw UsageError(fmt::format("--percent: expected numbers above 0, not '{}'", word));
    percents.push_back(percent);
    start = end + 1;
  }
  return percents;
}

}  // namespace

int command_tolerance(const Arguments& arguments) {
  po::variables_map values;
  if (!parse_options(arguments, kToleranceHelp, tolerance_options(), "archive", false, values))
    return 0;
  const std::string archive = one_archive(values, kToleranceHelp);
  if (!values.count("on")) throw UsageError("--on SCENARIO is required");
  const std::vector<double> percents = parse_percents(values["percent"].as<std::string>());
  const Scenario scenario = fixed_scenario(values["on"].as<std::string>());
  warn_of_platforms({scenario});
  ReportFiles files(values, {"json", "csv"}, input_files(archive, {scenario}));

  ReplayOptions options = engine_options(values);
  options.progress = progress_line("replaying");
  const auto source = open_trace(archive, {options.ignore_offsets, options.threads});
  Tolerances found = find_tolerances(*source, tolerance_axes(scenario), percents, options);
  std::string reason = no_conclusion(*source, options, scenario);
  if (!reason.empty() && scenario.basis != Basis::kModel) {
    reason = "No tolerance is known. " + reason;
    const std::vector<std::optional<double>> unknown(percents.size());
    for (Tolerance& axis : found.axes) axis = {axis.name, NAN, unknown};
  }
  if (files.tables_wanted())
    print_to_stdout(tolerance_text(found, scenario, percents, page_width(), reason));
  if (files.wants("json")) files.write("json", tolerance_json(found, scenario, percents, reason));
  if (files.wants("csv")) files.write("csv", tolerance_csv(found, scenario, percents, reason));
  files.commit();
  return 0;
}

}  // namespace rubato
