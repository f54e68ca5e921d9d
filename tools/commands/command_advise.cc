#include <fmt/core.h>

#include <optional>

#include "replay/rubato.h"
#include "replay/study/advice.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/report_files.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/report/findings_report.h"
#include "tools/studies/advice_report.h"
#include "tools/words/verdict_words.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

const CommandHelp kAdviseHelp = {
    "rubato advise ARCHIVE [--on SCENARIO] [options]",
    "Estimates how much elapsed time each of many changes would save, best first: a function\n"
    "that takes equally long on all ranks, a function in half the time, equal\n"
    "compute on all ranks, free messages; on a platform also latency, bandwidth, overheads,\n"
    "algorithms and placements.",
    "  rubato advise run.otf2dir\n"
    "  rubato advise run.otf2dir --on cluster.toml --hosts hosts.txt\n"
    "Scenarios are written as for 'rubato replay'. With contention each change needs a\n"
    "replay of its own, which takes long. Existing files are replaced, and only when the\n"
    "new file is complete."};

po::options_description advise_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<std::string>()->value_name("SCENARIO"),
      "the machine on which changes are evaluated; default: measured, or undisturbed if ranks lost "
      "their cores");
  add("all",
      "evaluate 64 functions instead of 10: those with the most compute on the critical "
      "path and overall");
  add("hosts", po::value<std::string>()->value_name("FILE"),
      "write the host of each rank in the placement that keeps most messages within nodes, for "
      "placement=file:FILE");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-': to standard output instead of the text");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per change, with its kind and name; '-' as above");
  add("help,h", "show this help");
  add_engine_options(options);
  return options;
}

/// The file name as used in scenarios.
std::string hosts_file(const po::variables_map& values) {
  if (!values.count("hosts")) return "hosts.txt";
  const std::string file = values["hosts"].as<std::string>();
  if (file.find(',') != std::string::npos)
    throw UsageError(
        fmt::format("--hosts: '{}': the name must not contain a comma, which "
                    "separates changes of a scenario",
                    file));
  return file;
}

}  // namespace

int command_advise(const Arguments& arguments) {
  po::variables_map values;
  if (!parse_options(arguments, kAdviseHelp, advise_options(), "archive", false, values)) return 0;
  const std::string archive = one_archive(values, kAdviseHelp);
  std::optional<Scenario> scenario;
  if (values.count("on")) scenario = fixed_scenario(text_of(values, "on"));
  if (scenario && scenario->local) {
    throw UsageError(
        "--on: undisturbed:local keeps recorded waits, so savings cannot be estimated");
  }
  if (scenario) warn_of_platforms({*scenario});
  AdviceSettings settings;
  if (values.count("all")) settings.most = kMostTried;
  settings.parse = named_scenario;
  settings.hosts_file = hosts_file(values);
  ReplayOptions options = engine_options(values);
  options.progress = progress_line("evaluating");
  const auto scenarios = scenario ? std::vector{*scenario} : std::vector<Scenario>();
  ReportFiles files(values, {"json", "csv", "hosts"}, input_files(archive, scenarios));

  const auto source = open_trace(archive, {options.ignore_offsets, options.threads});
  // (For a model, only the tables need it.)
  const bool judges = files.tables_wanted() || !scenario || scenario->basis != Basis::kModel;
  JudgedRun judged = judges ? judged_run(*source, options, scenarios) : JudgedRun{};
  judged.results.asked_with = engine_words(values);
  const Roles roles(judged.results);
  // `measured` would describe the machine's other work.
  if (!scenario) scenario = fixed_scenario(roles.undisturbed ? "undisturbed" : "measured");
  const Judgement judgement = judge(roles, judged.diagnosis, platforms_dir(), judged.intervals);
  const std::string unknown =
      scenario->basis == Basis::kModel ? "" : no_conclusion(roles, judgement);
  settings.tries = unknown.empty();
  Advice advice = find_advice(*source, *scenario, settings, options);
  advice.run.asked_with = engine_words(values);
  const AdviceSubject subject{&*scenario,
                              settings.most,
                              settings.hosts_file,
                              values.count("hosts") > 0,
                              !values.count("on") && scenario->base == "undisturbed",
                              unknown};
  if (files.tables_wanted()) {
    const int width = page_width();
    print_to_stdout(advice_text(advice, subject, width) + "\n" +
                    findings_text(judgement, judged.results,
                                  values.count("all") ? SIZE_MAX : kFindingsShown, width));
  }
  if (files.wants("json")) files.write("json", advice_json(advice, subject));
  if (files.wants("csv")) files.write("csv", advice_csv(advice, subject));
  if (files.wants("hosts")) files.write("hosts", advice_hosts(advice));
  files.commit();
  return 0;
}

}  // namespace rubato
