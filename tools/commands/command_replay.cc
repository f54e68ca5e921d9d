#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "models/base/source_date.h"
#include "replay/judge/diagnosis.h"
#include "replay/judge/lost_cores.h"
#include "replay/rubato.h"
#include "replay/run/contention_cost.h"
#include "replay/run/joint_replay.h"
#include "replay/study/fit_degradation.h"
#include "replay/study/intervals.h"
#include "replay/study/sweep.h"
#include "tools/cli/commands.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/archive_guard.h"
#include "tools/files/perfetto_file.h"
#include "tools/files/report_files.h"
#include "tools/files/scenario_archives.h"
#include "tools/files/whole_directory.h"
#include "tools/format/text_table.h"
#include "tools/launch/processes.h"
#include "tools/options/job_options.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/profile/counter_tables.h"
#include "tools/report/report_html.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"
#include "tools/report/scenario_pictures.h"
#include "tools/studies/sweep_axes.h"
#include "tools/words/note_words.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kReplayHelp = {
    "rubato replay ARCHIVE [--on SCENARIO]... [options]",
    "Replays an archive (a directory or its .otf2 file) on other machines and predicts the "
    "elapsed\n"
    "time there. measured and perfect are always included, unless --only is given.",
    "A scenario is a machine, with or without changes ('rubato help scenarios'):\n"
    "  --on measured --on perfect                 as recorded; with free messages\n"
    "  --on cluster.toml                          a platform file\n"
    "  --on infiniband-hdr:ppn=4                  a built-in network\n"
    "  --on 'cluster.toml:latency*0.5,cpu*1.5'    with changes\n"
    "Started with mpirun, the processes share the work: mpirun -n 16 rubato replay ... "
    "(share/doc/scale.md)\n"
    "Existing files are replaced, and only when the new file is complete. Archives are never "
    "modified."};

po::options_description replay_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<Words>()->value_name("SCENARIO"), "replay on this machine; may be repeated");
  add("with", po::value<Words>()->value_name("ARCHIVE[@KEY=VALUE,...]"),
      "another job that shares the links of the network; may be repeated. nodes=64-127: its nodes "
      "(default: the next free ones), start=2s: its start time, ppn=4: its ranks per node");
  add("only", "replay only the scenarios of --on, without measured and perfect");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON (share/doc/json.md); '-': to standard output instead of the "
      "tables");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write a row per scenario, rank and call; '-' as above");
  add("html", po::value<std::string>()->value_name("FILE"),
      "write a self-contained page with charts");
  add("otf2", po::value<std::string>()->value_name("DIR"),
      "write an OTF2 archive per scenario, with its predicted times, into a new directory");
  add("perfetto", po::value<std::string>()->value_name("FILE"),
      "write the timelines of all scenarios for ui.perfetto.dev or chrome://tracing");
  add("perfetto-window", po::value<std::string>()->value_name("FROM..TO"),
      "write only this part of each timeline, such as 1.5s..2s from the first record");
  add("all", "also print tables of all ranks and calls, and of the collective algorithms");
  add("strict", "exit with 1 if a call is kept as recorded because it cannot be replayed");
  add("verify",
      "also compare every record of 'measured' with the recording; exit with 1 if any differs");
  add("sweep", po::value<std::string>()->value_name("KEY=LOW..HIGH,..."),
      "also replay each platform of --on with a parameter multiplied by factors from LOW to HIGH, "
      "such as latency=0.1..100, to find where it matters; two parameters give a map. "
      "LOW..HIGH/N: N points");
  add("times-only",
      "compute only elapsed times, without wait states, intervals and the replays that explain "
      "findings");
  add("help,h", "show this help");
  add_engine_options(options);
  return options;
}

ReplayOptions replay_options_of(const po::variables_map& values) {
  ReplayOptions options = engine_options(values);
  options.verify = values.count("verify") > 0;
  options.wait_states = !values.count("times-only");
  options.total_functions = true;
  options.progress = progress_line("replaying");
  return options;
}

bool has(const std::vector<Scenario>& scenarios, const std::string& name) {
  return std::any_of(scenarios.begin(), scenarios.end(),
                     [&](const Scenario& scenario) { return scenario.name == name; });
}

/// The scenarios of --on, with `measured` and `perfect` added, which the verdict needs.
std::vector<Scenario> parse_scenarios(const po::variables_map& values) {
  const bool only = values.count("only") > 0;
  std::vector<Scenario> scenarios = named_scenarios(values);
  if (only && scenarios.empty()) throw UsageError("--only needs --on SCENARIO");
  if (!only && !has(scenarios, "measured"))
    scenarios.insert(scenarios.begin(), parse_scenario("measured"));
  if (!only && !has(scenarios, "perfect")) scenarios.push_back(parse_scenario("perfect"));
  return scenarios;
}

/// The axes of --sweep; empty without it. Changes that are impossible are refused before the
/// replay.
std::vector<SweepAxis> sweep_axes(const po::variables_map& values,
                                  const std::vector<Scenario>& scenarios) {
  if (!values.count("sweep")) return {};
  if (any_fits_degradation(scenarios)) throw UsageError("--sweep excludes dr=fit in --on");
  const std::vector<SweepAxis> axes = parse_sweep(text_of(values, "sweep"));
  bool any = false;
  for (const Scenario& scenario : scenarios) {
    if (!can_sweep(scenario)) continue;
    any = true;
    for (const SweepAxis& axis : axes) {
      const std::string change = change_by(axis.key, '*', axis.low);
      refuse_idle_change(scenario, change);
      changed(scenario, change);
    }
  }
  if (!any) throw UsageError("--sweep needs a platform: --on SCENARIO");
  return axes;
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

/// Options that write timelines exclude a fitted ratio, for which every pass would have to be
/// repeated.
void refuse_fit_with(const std::vector<Scenario>& scenarios, const std::string& option) {
  if (any_fits_degradation(scenarios))
    throw UsageError(
        fmt::format("--{} excludes dr=fit; specify the ratio that it finds as dr=RATIO", option));
}

/// The directory of --otf2 DIR, if given.
std::optional<WholeDirectory> scenario_archives(const po::variables_map& values,
                                                const std::vector<Scenario>& scenarios,
                                                const std::string& archive) {
  if (!values.count("otf2")) return {};
  refuse_fit_with(scenarios, "otf2");
  const std::string directory = text_of(values, "otf2");
  if (directory.empty()) throw UsageError("--otf2: the directory name is empty");
  refuse_archive_part(directory, archive);
  refuse_other_formats(archive);
  return std::optional<WholeDirectory>(std::in_place, directory);
}

PerfettoWindow perfetto_window(const po::variables_map& values,
                               const std::vector<Scenario>& scenarios) {
  if (values.count("perfetto")) refuse_fit_with(scenarios, "perfetto");
  if (!values.count("perfetto-window")) return {};
  if (!values.count("perfetto")) throw UsageError("--perfetto-window needs --perfetto FILE");
  return parse_perfetto_window(text_of(values, "perfetto-window"));
}

/// A reason known in advance why the replay cannot be divided among processes.
std::optional<OneProcess> why_one_process(const po::variables_map& values,
                                          const std::vector<Scenario>& scenarios) {
  if (any_fits_degradation(scenarios)) return OneProcess::kTimeOrder;
  if (values.count("with")) return OneProcess::kOtherJobs;
  return {};
}

/// True if the process that reports needs the whole archive again after a divided replay: for the
/// diagnosis of waits, pictures, archives and sweeps.
bool needs_whole_archive(const Results& results, const ReplayOptions& options,
                         const po::variables_map& values) {
  for (const char* option : {"html", "perfetto", "otf2", "sweep"}) {
    if (values.count(option)) return true;
  }
  return (options.wait_states && needs_diagnosis(results)) || needs_undisturbed(results, options);
}

/// The requested scenarios, and the additional ones for intervals and the cost of contention.
struct Plan {
  Plan(const std::vector<Scenario>& scenarios, const po::variables_map& values)
      : asked(&scenarios) {
    // A fitted ratio would be fitted again in each additional scenario.
    if (any_fits_degradation(scenarios)) return;
    if (!values.count("times-only")) intervals.emplace(scenarios);
    contention.emplace(intervals ? intervals->scenarios() : scenarios, scenarios.size());
  }
  const std::vector<Scenario>& scenarios() const {
    return contention ? contention->scenarios() : *asked;
  }

  const std::vector<Scenario>* asked;
  std::optional<IntervalPlan> intervals;
  std::optional<ContentionPlan> contention;
};

/// Results of a replay divided among the processes started by mpirun or the threads of this
/// process; nothing if one process has to replay everything. Opens `source`, if at all, for the
/// part of this process.
std::optional<Results> replay_together(Processes& processes, const std::string& archive,
                                       const std::vector<Scenario>& scenarios,
                                       const ReplayOptions& options,
                                       const po::variables_map& values,
                                       std::unique_ptr<EventSource>& source) {
  JointReplay joint;
  joint.why = why_one_process(values, scenarios);
  const auto notice = [&](const std::string& line) {
    if (processes.are_several() && processes.leads()) fmt::print(stderr, "rubato: {}\n", line);
  };
  if (processes.begin(!joint.why)) {
    try {
      joint = replay_jointly(*processes.team(), archive, scenarios, options, source,
                             [&](OneProcess why) { notice(spread_line(why)); });
    } catch (const InputError&) {
    }
    processes.end();
  } else if (!processes.are_several() && !joint.why && !values.count("sweep")) {
    source = open_trace(archive, {options.ignore_offsets, options.threads});
    const int threads = threads_that_pay(*source, options.threads, options.wait_states);
    if (threads == 1) return {};
    source.reset();
    joint = replay_on_threads(threads, archive, scenarios, options, source);
  }
  if (joint.why) notice(one_process_line(*joint.why));
  if (!joint.results) source.reset();
  return std::move(joint.results);
}

/// Opens the archive for another drawing thread; null if that fails.
std::unique_ptr<EventSource> open_again(const std::string& archive, const ReplayOptions& options) {
  try {
    auto source = open_trace(archive, {options.ignore_offsets, 1});
    source->note_places();
    source->load({});
    return source;
  } catch (const std::exception&) {  // no memory, no more open files
    return nullptr;
  }
}

/// Runs the replay in all processes except the first, which reports.
int help_replay(Processes& processes, const Arguments& arguments) {
  try {
    po::variables_map values;
    if (!parse_options(arguments, kReplayHelp, replay_options(), "archive", false, values))
      return 0;
    ReplayOptions options = replay_options_of(values);
    options.progress = {};
    const std::vector<Scenario> scenarios = parse_scenarios(values);
    const std::string archive = one_archive(values, kReplayHelp);
    const Plan plan(scenarios, values);
    std::unique_ptr<EventSource> source;
    replay_together(processes, archive, plan.scenarios(), options, values, source);
  } catch (const std::exception&) {
    // The first process reports the error.
  }
  return 0;
}

}  // namespace

int command_replay(const Arguments& arguments) {
  Processes processes(arguments);
  if (!processes.leads()) return help_replay(processes, arguments);
  po::variables_map values;
  if (!parse_options(arguments, kReplayHelp, replay_options(), "archive", false, values)) return 0;
  const std::string archive = one_archive(values, kReplayHelp);
  ReplayOptions options = replay_options_of(values);
  const std::vector<Scenario> scenarios = parse_scenarios(values);
  if (values.count("with") && any_fits_degradation(scenarios))
    throw UsageError("--with excludes dr=fit in --on");
  options.jobs = other_jobs(values, options);
  const std::vector<SweepAxis> axes = sweep_axes(values, scenarios);
  warn_of_platforms(scenarios);
  const std::vector<PlatformPicture> platforms = pictures(scenarios);
  const PerfettoWindow window = perfetto_window(values, scenarios);
  std::vector<std::string> inputs = input_files(archive, scenarios);
  for (const OtherJob& job : options.jobs) inputs.push_back(job.path);
  ReportFiles files(values, {"json", "csv", "html", "perfetto"}, inputs);
  if (files.wants("html") || values.count("otf2"))
    source_date();  // reports an invalid date now, not after an hour
  std::optional<WholeDirectory> copies = scenario_archives(values, scenarios, archive);

  const Plan plan(scenarios, values);
  const std::vector<Scenario>& planned = plan.scenarios();
  std::unique_ptr<EventSource> source;
  std::optional<Results> together =
      replay_together(processes, archive, planned, options, values, source);
  const bool is_loaded_again = together && needs_whole_archive(*together, options, values);
  if (is_loaded_again) source.reset();
  if (!source) source = open_trace(archive, {options.ignore_offsets, options.threads});
  if (!together || is_loaded_again) {
    if (options.wait_states || files.wants("html") || files.wants("perfetto"))
      source->note_places();
    if (copies) source->keep_records(true);
    // (Places are known only after loading.)
    if (is_loaded_again) {
      const auto progress = progress_line("reading");
      source->load(progress);
      if (progress) progress(1);
    }
  }
  ReplayOptions observing = options;
  std::unique_ptr<WaitObservers> perfect;
  if (!together) perfect = observe_perfect(*source, planned, observing);
  Results results = together ? std::move(*together) : run_replay(*source, planned, observing);
  if (plan.contention) plan.contention->settle(results);
  if (!options.jobs.empty()) notice_unfelt_jobs(results);
  results.asked_with = engine_words(values);
  const RecordingOverhead overhead = options.subtracted(source->definitions().overhead);
  Intervals intervals = plan.intervals ? plan.intervals->settle(results, overhead) : Intervals{};
  if (files.wants("perfetto")) refuse_large_perfetto(text_of(values, "perfetto"), results, window);

  std::vector<Scenario> drawn = scenarios;
  if (needs_undisturbed(results, options)) {
    find_undisturbed(*source, results, options);
    drawn.push_back(parse_scenario("undisturbed"));
  }
  Diagnosis diagnosis;
  if (options.wait_states)
    diagnosis = diagnose(*source, results, scenarios, options, perfect.get());
  perfect.reset();
  std::vector<Sweep> sweeps;
  if (!axes.empty())
    sweeps = run_sweeps(*source, scenarios, axes, options, plan.intervals ? &overhead : nullptr);
  const Report report(results, std::move(intervals), std::move(sweeps), diagnosis);

  if (files.tables_wanted()) {
    TextReportOptions text;
    text.width = page_width();
    text.all = values.count("all") > 0;
    // (mpirun may connect standard output to a terminal of its own.)
    if (processes.are_several()) keep_tables_whole();
    text.verdict_last = isatty(STDOUT_FILENO) != 0 && !processes.are_several();
    print_to_stdout(report_text(report, text));
  }
  if (files.wants("json")) files.write("json", report_json(report));
  if (files.wants("csv")) files.write("csv", report_csv(report));
  if (files.wants("html")) {
    // (A fitted ratio would be fitted again.)
    const int threads = drawing_threads(*source, options.threads);
    const std::vector<ScenarioPicture> timelines =
        any_fits_degradation(scenarios)
            ? std::vector<ScenarioPicture>{}
            : draw_scenarios(*source, drawn, results, options, threads,
                             [&] { return open_again(archive, options); });
    files.write("html",
                report_html(report, platforms, timelines, report_origin("replay", arguments),
                            metrics_of(archive, options.ignore_offsets)));
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
    throw InputError(fmt::format("{}: {}", archive, identity_line(*results.identity)));
  }
  if (values.count("strict")) refuse_kept_calls(results.trace);
  return 0;
}

}  // namespace rubato
