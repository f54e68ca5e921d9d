#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "models/cost/scenario.h"
#include "models/error.h"
#include "models/units.h"
#include "replay/archive/input_format.h"
#include "replay/driver.h"
#include "replay/intervals.h"
#include "tools/archive_guard.h"
#include "tools/caveats.h"
#include "tools/commands.h"
#include "tools/install_paths.h"
#include "tools/options.h"
#include "tools/perfetto_file.h"
#include "tools/replay_notices.h"
#include "tools/report_files.h"
#include "tools/report_html.h"
#include "tools/report_json.h"
#include "tools/report_text.h"
#include "tools/root_cause.h"
#include "tools/scenario_archives.h"
#include "tools/scenario_pictures.h"
#include "tools/text_table.h"
#include "tools/whole_directory.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kHelp = {
    "rubato replay ARCHIVE [--on SCENARIO]... [options]",
    "Plays the archive (a directory or its .otf2 file) back on other machines and prints how long "
    "the\n"
    "run would take there. measured and perfect are always among them, unless --only is given.",
    "A scenario is a machine, with or without changes:\n"
    "  measured                     what was recorded\n"
    "  undisturbed                  the same without the tracer's own overhead\n"
    "  undisturbed:local            likewise, but ranks wait for each other as long as recorded\n"
    "  perfect                      messages and collectives cost nothing but waiting for each "
    "other\n"
    "  cluster.toml                 a platform file, as 'rubato calibrate' writes it\n"
    "  infiniband-hdr               one of the networks that 'rubato platforms' lists\n"
    "  bandela:latency=2us,bandwidth=10GB/s\n"
    "  loggps:L=2us,o=0.3us,g=0.5us,G=0.1ns,S=64KiB         a model of the literature\n"
    "  cluster.toml:latency*0.5,bandwidth*2,cpu*1.5,ppn=4,name=new\n"
    "  cluster.toml:collectives=openmpi,allreduce=ring      as Open MPI would, but for one\n"
    "  cluster.toml:dr=5            with contention: degradation ratio 5 (MPInside's model)\n"
    "  cluster.toml:placement=roundrobin:2    or block:4, or file:hosts.txt (host by rank)\n"
    "  measured:region=solve*0.5,rank3.cpu*2  a routine in half the time, a faster processor\n"
    "All changes are explained in share/doc/platform-files.md.\n"
    "Files that exist are replaced; they appear only when complete. Archives are never changed."};

po::options_description replay_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<Words>()->value_name("SCENARIO"), "replay on this machine; may be repeated");
  add("only", "replay nothing but --on: neither measured nor perfect beside it");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write all results as JSON (share/doc/json.md); '-': to standard output instead of the "
      "tables");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per scenario, rank and call; '-' as above");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a page with charts; one file that needs no network");
  add("otf2", po::value<std::string>()->value_name("DIR"),
      "write in a new directory an OTF2 archive for each scenario: the recording at its times "
      "there");
  add("perfetto", po::value<std::string>()->value_name("FILE"),
      "write the timelines of all scenarios side by side, for ui.perfetto.dev or chrome://tracing");
  add("perfetto-window", po::value<std::string>()->value_name("FROM..TO"),
      "only that stretch of each scenario, such as 1.5s..2s from the first record on");
  add("per-rank", "tables of every rank and every call");
  add("collectives", "a table of the algorithms that collectives were priced by");
  add("strict", "exit with 1 when a call keeps its recorded time because it cannot be replayed");
  add("verify",
      "also compare every record of 'measured' with the recording; exit with 1 unless all are "
      "equal");
  add("no-compensation", "do not subtract what recording itself cost");
  add("keep-stolen",
      "leave in all scenarios the time in which ranks had no core, as others had it; without it, "
      "only measured keeps that");
  add("overhead", po::value<std::string>()->value_name("KEY=TIME,..."),
      "what recording a call cost, for archives that do not say: outside=, before=, after=, "
      "record= (or message=, request=, completion=, collective=), function=");
  add("eager-limit", po::value<std::string>()->value_name("SIZE"),
      "largest message that was sent without waiting for its receiver, for archives that do not "
      "say");
  add("fallback-level", po::value<std::string>()->value_name("LEVEL"),
      "self, socket, node or network: used for levels that a platform file lacks");
  add("threads", po::value<int>()->value_name("N"),
      "that decode the archive, at most 64; default: one for each processor, where it is large "
      "enough");
  add("polling", po::value<std::string>()->value_name("wait|keep"),
      "what a loop of MPI_Test or MPI_Iprobe is on a modelled machine: a wait (the default), or as "
      "many calls as recorded");
  add("wildcards", po::value<std::string>()->value_name("recorded|arrival"),
      "what a receive from any source or tag takes on a modelled machine: the message that it took "
      "when it was recorded (the default), or whichever comes first there");
  add("fit-dr",
      "find the degradation ratio with which the run takes as long as measured, for each scenario "
      "that has one (contention by degradation, as in --on cluster.toml:dr=1)");
  add("no-wait-states",
      "do not sum up how long ranks wait for others that come late, which takes some time of its "
      "own");
  add("no-intervals",
      "do not say how far predictions may be off; in the order of time that saves two passes a "
      "scenario");
  add("ignore-offsets", "do not apply the clock offsets of the archive");
  add("no-repair",
      "leave calls where the archive's clocks put them, even before what they waited for");
  add("help,h", "show this help");
  return options;
}

std::string text_of(const po::variables_map& values, const std::string& name) {
  return values.count(name) ? values[name].as<std::string>() : "";
}

/// Parses command line values: errors there are usage errors.
template <typename Parse>
double quantity(const std::string& option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("--{}: {}", option, error.what()));
  }
}

Level level_named(const std::string& name) {
  const auto found = std::find(kLevelNames.begin(), kLevelNames.end(), name);
  if (found == kLevelNames.end()) {
    throw UsageError(fmt::format("--fallback-level: there is no level '{}'{}", name,
                                 did_you_mean(name, {kLevelNames.begin(), kLevelNames.end()})));
  }
  return static_cast<Level>(found - kLevelNames.begin());
}

/// "outside=80ns,before=40ns"
RecordingOverhead parse_overhead(const std::string& text) {
  RecordingOverhead overhead;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::string key = part.substr(0, part.find('='));
    double* value = key == "outside"      ? &overhead.outside
                    : key == "before"     ? &overhead.inside_before
                    : key == "after"      ? &overhead.inside_after
                    : key == "record"     ? &overhead.message  // and what follows it
                    : key == "message"    ? &overhead.message
                    : key == "request"    ? &overhead.request
                    : key == "completion" ? &overhead.completion
                    : key == "collective" ? &overhead.collective
                    : key == "function"   ? &overhead.function
                                          : nullptr;
    if (!value || key.size() == part.size()) {
      throw UsageError(fmt::format(
          "--overhead: '{}' is none of outside=TIME, before=TIME, after=TIME, record=TIME, "
          "message=TIME, request=TIME, completion=TIME, collective=TIME, function=TIME",
          part));
    }
    *value = quantity("overhead", part.substr(key.size() + 1), parse_seconds);
    if (*value < 0) throw UsageError(fmt::format("--overhead: '{}' is negative", part));
    if (key == "record") overhead.request = overhead.completion = overhead.collective = *value;
    start = end + 1;
  }
  return overhead;
}

ReplayOptions engine_options(const po::variables_map& values) {
  ReplayOptions options;
  options.compensate = !values.count("no-compensation");
  options.keep_stolen = values.count("keep-stolen") > 0;
  options.verify = values.count("verify") > 0;
  options.repair = !values.count("no-repair");
  options.wait_states = !values.count("no-wait-states");
  options.ignore_offsets = values.count("ignore-offsets") > 0;
  if (values.count("threads")) {
    options.threads = values["threads"].as<int>();
    if (options.threads < 1 || options.threads > 64) throw UsageError("--threads: from 1 to 64");
  }
  if (values.count("overhead")) options.overhead = parse_overhead(text_of(values, "overhead"));
  if (values.count("eager-limit")) {
    options.eager_limit = quantity("eager-limit", text_of(values, "eager-limit"), parse_bytes);
  }
  if (values.count("fallback-level")) {
    options.fallback_level = level_named(text_of(values, "fallback-level"));
  }
  if (values.count("polling")) {
    const std::string polling = text_of(values, "polling");
    if (polling != "wait" && polling != "keep")
      throw UsageError(fmt::format("--polling: '{}' is neither wait nor keep", polling));
    options.spinning_waits = polling == "wait";
  }
  if (values.count("wildcards")) {
    const std::string wildcards = text_of(values, "wildcards");
    if (wildcards != "recorded" && wildcards != "arrival")
      throw UsageError(fmt::format("--wildcards: '{}' is neither recorded nor arrival", wildcards));
    options.wildcards_by_arrival = wildcards == "arrival";
  }
  options.total_functions = true;
  options.fit_degradation = values.count("fit-dr") > 0;
  options.progress = progress_line("replaying");
  return options;
}

bool has(const std::vector<Scenario>& scenarios, const std::string& name) {
  return std::any_of(scenarios.begin(), scenarios.end(),
                     [&](const Scenario& scenario) { return scenario.name == name; });
}

/// What was asked for, between `measured` and `perfect`, which a verdict needs.
std::vector<Scenario> parse_scenarios(const po::variables_map& values) {
  const Words texts = values.count("on") ? values["on"].as<Words>() : Words{};
  const bool only = values.count("only") > 0;
  if (only && texts.empty()) throw UsageError("--only: of what? Name it with --on SCENARIO");
  std::vector<Scenario> scenarios;
  for (const std::string& text : texts) {
    Scenario scenario = parse_scenario(text, platforms_dir());
    if (has(scenarios, scenario.name)) {
      throw UsageError(
          fmt::format("--on: two scenarios are called '{}'; give one a name=", scenario.name));
    }
    scenarios.push_back(std::move(scenario));
  }
  if (!only && !has(scenarios, "measured"))
    scenarios.insert(scenarios.begin(), parse_scenario("measured"));
  if (!only && !has(scenarios, "perfect")) scenarios.push_back(parse_scenario("perfect"));
  return scenarios;
}

std::vector<PlatformPicture> pictures(const std::vector<Scenario>& scenarios) {
  std::vector<PlatformPicture> platforms;
  std::set<std::string> files;
  for (const Scenario& scenario : scenarios) {
    if (scenario.platform_file.empty() || !files.insert(scenario.platform_file).second) continue;
    platforms.push_back(picture_of_platform(scenario.platform_file));
  }
  return platforms;
}

/// The directory of --otf2 DIR, if there is one.
std::optional<WholeDirectory> scenario_archives(const po::variables_map& values,
                                                const std::string& archive) {
  if (!values.count("otf2")) return {};
  if (values.count("fit-dr"))
    throw UsageError("--otf2: not with --fit-dr; name the ratio that it finds as dr=RATIO");
  const std::string directory = text_of(values, "otf2");
  if (directory.empty()) throw UsageError("--otf2: the name of the directory is empty");
  refuse_archive_part(directory, archive);
  refuse_other_formats(archive);
  return std::optional<WholeDirectory>(std::in_place, directory);
}

PerfettoWindow perfetto_window(const po::variables_map& values) {
  if (values.count("perfetto") && values.count("fit-dr"))
    throw UsageError("--perfetto: not with --fit-dr; name the ratio that it finds as dr=RATIO");
  if (!values.count("perfetto-window")) return {};
  if (!values.count("perfetto")) throw UsageError("--perfetto-window: of which --perfetto FILE?");
  return parse_perfetto_window(text_of(values, "perfetto-window"));
}

}  // namespace

int command_replay(const Arguments& arguments) {
  po::variables_map values;
  if (!parse_options(arguments, kHelp, replay_options(), "archive", false, values)) return 0;
  const Words archives = values.count("archive") ? values["archive"].as<Words>() : Words{};
  if (archives.size() != 1) {
    throw UsageError(fmt::format("one archive, please; usage: {}", kHelp.usage));
  }
  const ReplayOptions options = engine_options(values);
  const std::vector<Scenario> scenarios = parse_scenarios(values);
  const bool degrades = std::any_of(
      scenarios.begin(), scenarios.end(),
      [](const Scenario& scenario) { return scenario.platform.contention.is("degradation"); });
  if (options.fit_degradation && !degrades) {
    throw UsageError(
        "--fit-dr: no scenario has contention by degradation; put dr=1 behind a platform, as in "
        "--on cluster.toml:dr=1");
  }
  warn_of_platforms(scenarios);
  const std::vector<PlatformPicture> platforms = pictures(scenarios);
  const PerfettoWindow window = perfetto_window(values);
  ReportFiles files(values, {"json", "csv", "html", "perfetto"}, archives[0]);
  std::optional<WholeDirectory> copies = scenario_archives(values, archives[0]);

  const auto source = open_trace(archives[0], {options.ignore_offsets, options.threads});
  if (copies) source->keep_records(true);
  // A ratio that is fitted would be fitted anew in the scenarios beside the asked ones.
  const bool wants_intervals = !values.count("no-intervals") && !options.fit_degradation;
  std::optional<IntervalPlan> plan;
  if (wants_intervals) plan.emplace(scenarios);
  Results results = run_replay(*source, plan ? plan->scenarios() : scenarios, options);
  const RecordingOverhead overhead = options.compensate
                                         ? options.overhead.value_or(source->definitions().overhead)
                                         : RecordingOverhead{};
  const Intervals intervals = plan ? plan->settle(results, overhead) : Intervals{};
  if (files.wants("perfetto")) refuse_large_perfetto(text_of(values, "perfetto"), results, window);

  find_root_cause(*source, results, options);

  if (files.tables_wanted()) {
    TextReportOptions text;
    text.width = page_width();
    text.intervals = intervals;
    text.per_rank = values.count("per-rank") > 0;
    text.verdict_last = isatty(STDOUT_FILENO) != 0;
    text.collectives = values.count("collectives") > 0;
    print_to_stdout(report_text(results, text));
  }
  if (files.wants("json")) files.write("json", report_json(results, intervals));
  if (files.wants("csv")) files.write("csv", report_csv(results));
  if (files.wants("html")) {
    // (A fitted ratio would be fitted anew.)
    const std::vector<ScenarioPicture> timelines =
        options.fit_degradation ? std::vector<ScenarioPicture>{}
                                : draw_scenarios(*source, scenarios, results, options);
    files.write("html", report_html(results, platforms, intervals, timelines));
  }
  if (files.wants("perfetto")) {
    write_perfetto(*source, scenarios, results, options, window,
                   [&](const std::string& text) { files.write("perfetto", text); });
  }
  if (copies) {
    write_scenario_archives(*source, scenarios, results, options, copies->path());
    copies->commit();
  }
  files.commit();
  if (results.identity && results.identity->differing > 0) {
    throw InputError(fmt::format("{}: {}", archives[0], identity_line(*results.identity)));
  }
  if (values.count("strict")) refuse_kept_calls(results.trace);
  return 0;
}

}  // namespace rubato
