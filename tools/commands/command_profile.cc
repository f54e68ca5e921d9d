#include <fmt/ranges.h>

#include <memory>
#include <set>

#include "replay/analyse/scenario_profile.h"
#include "replay/judge/efficiency.h"
#include "replay/rubato.h"
#include "replay/run/lane_settings.h"
#include "tools/cli/commands.h"
#include "tools/cli/install_paths.h"
#include "tools/cli/replay_notices.h"
#include "tools/files/report_files.h"
#include "tools/format/numbers.h"
#include "tools/format/text_table.h"
#include "tools/options/options.h"
#include "tools/options/scenario_options.h"
#include "tools/profile/counter_tables.h"
#include "tools/profile/profile_report.h"
#include "tools/profile/run_sums.h"
#include "tools/report/findings_report.h"
#include "tools/tables/site_tables.h"
#include "tools/words/note_words.h"

namespace po = boost::program_options;

namespace rubato {
namespace {

using Words = std::vector<std::string>;

const CommandHelp kProfileHelp = {
    "rubato profile ARCHIVE|SUMS [--on SCENARIO]... [options]",
    "Prints what costs time and the longest MPI calls; with --all the time of each rank in each\n"
    "call, the bytes it sends and receives there, message sizes, and bytes per pair of ranks: the\n"
    "tables and matrices of MPInside.",
    "Without --on, the recorded run is profiled; no platform file is needed. SUMS is a file that\n"
    "'rubato trace --no-archive --report' wrote: the same tables of a run without an archive.\n"
    "share/doc/profile.md explains the tables, with examples for pandas and jq.\n"
    "  rubato profile run.otf2dir\n"
    "  rubato profile run.otf2dir --on measured --on perfect --csv run.csv\n"
    "  rubato profile sums.json --all\n"
    "Existing files are replaced, and only when the new file is complete."};

constexpr const char* kMoreTables =
    "\nMore: --all prints the tables of ranks, waits, sizes and pairs; --csv and --json write "
    "them.\n";

po::options_description profile_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("on", po::value<Words>()->value_name("SCENARIO"),
      "the machine, as for 'rubato replay'; may be repeated");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write one value per row, with its kind, name, rank, peer and size; '-': to standard output "
      "instead of the tables");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write the results as JSON; '-' as above");
  add("all", "print the tables, with every rank, call and pair");
  add("help,h", "show this help");
  add_engine_options(options);
  return options;
}

TextSink sink(ReportFiles& files, const char* option) {
  return [&files, option](const std::string& text) { files.write(option, text); };
}

/// Writes a scenario as CSV and JSON; null where it deadlocks.
void write_scenario(ReportFiles& files, const ScenarioResult& scenario,
                    const ScenarioProfile* tables, bool is_first) {
  if (files.wants("csv")) {
    if (is_first) files.write("csv", kProfileCsvHeader);
    if (tables) profile_csv(*tables, sink(files, "csv"));
  }
  if (files.wants("json")) {
    if (is_first) profile_json_head(sink(files, "json"));
    profile_json_scenario(scenario, tables, is_first, sink(files, "json"));
  }
}

/// Replays one scenario at a time and writes its profile.
class Profiler {
 public:
  Profiler(EventSource& source, const ReplayOptions& options, ReportFiles& files, bool all,
           const Metrics& metrics, const std::vector<Scenario>& scenarios,
           const std::string& asked_with)
      : source_(&source), options_(options), files_(&files), all_(all), metrics_(&metrics) {
    JudgedRun run = judged_run(source, options, scenarios);
    run.results.asked_with = asked_with;
    const Judgement judgement = judge(run.results, run.diagnosis, platforms_dir(), run.intervals);
    findings_ = findings_to_json(judgement, run.results);
    findings_text_ =
        findings_text(judgement, run.results, all ? SIZE_MAX : kFindingsShown, page_width());
  }

  void profile(const Scenario& scenario) {
    const TraceDefinitions& trace = source_->definitions();
    const KeptLosses losses = kept_losses(scenario, options_.keep_stolen);
    CallProfile seen(trace, kept_in(scenario, options_, trace));
    SiteProfile sites(*source_, losses);
    WaitCauses causes(trace);
    CriticalPath path(trace);
    const double probe = function_ticks(
        scenario, options_, options_.overhead.value_or(trace.overhead), trace.ticks_per_second);
    WaitPlaces places(*source_, losses, probe);
    options_.observers = {&seen, &causes, &path, &places, &sites};
    const Results results = run_replay(*source_, {scenario}, options_);
    const bool ended = results.scenarios[0].deadlock.empty();
    ScenarioProfile tables;
    if (ended) {
      const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
      tables = profile_of(results, seen, trace, scenario.placement.place(recorded),
                          scenario.placement.kind == PlacementRule::Kind::kRecorded);
      tables.sites = site_rows(sites, *source_);
      if (first_) tables.samples = sampled_functions(*source_);
      if (results.scenarios[0].has_waits) {
        tables.causes = cause_summary(causes, path, trace);
        tables.places = place_summary(places, *source_, probe);
      }
      if (all_ || files_->wants("csv") || files_->wants("json"))
        tables.over_time = efficiencies_over_time(*source_, scenario, results, options_);
    }
    write(results, ended ? &tables : nullptr);
    first_ = false;
    if (scenario.name == "measured") recorded_ = std::move(tables.sites);
    if (results.scenarios[0].own_machine) predicted_ = std::move(tables.sites);
  }

  /// Completes the output. Tables are printed only after all scenarios are replayed, because one of
  /// them may fail.
  void end() {
    if (files_->wants("csv")) counters_csv(*metrics_, sink(*files_, "csv"));
    if (files_->wants("json"))
      profile_json_end(trace_, findings_, counters_to_json(*metrics_), nullptr,
                       sink(*files_, "json"));
    if (files_->tables_wanted()) tables_ += counters_text(*metrics_, page_width(), all_);
    if (all_ && !recorded_.empty() && !predicted_.empty())
      tables_ += site_errors_text(recorded_, predicted_, page_width());
    if (!all_) tables_ += kMoreTables;
    if (files_->tables_wanted()) print_to_stdout(tables_);
  }

 private:
  /// The archive and its findings, before the first tables.
  std::string opening(const TraceSummary& trace, int width) const {
    return wrap(fmt::format("{}: {} on {}", trace.path, counted(trace.ranks, "rank", "ranks"),
                            counted(trace.nodes, "node", "nodes")),
                width, 2) +
           wrap(kept_calls_line(trace), width, 2) + "\n" + findings_text_;
  }

  /// The caveats that were not printed before.
  std::string new_notes(const Results& results, int width) {
    std::string out;
    std::vector<std::string> lines = caveats(results);
    for (std::string& line : caveats(results.scenarios)) lines.push_back(std::move(line));
    for (const std::string& line : lines) {
      if (said_.insert(line).second) out += wrap("Note: " + line, width, 2);
    }
    return out.empty() ? out : "\n" + out;
  }

  /// Merges the summary of the archive: scenarios that compare times across ranks know more of it
  /// than others.
  void note_trace(TraceSummary trace) {
    if (first_ || (trace.clock_repair && !trace_.clock_repair)) std::swap(trace, trace_);
    if (trace.clock_violations.total() > trace_.clock_violations.total())
      trace_.clock_violations = trace.clock_violations;
    if (trace.priced_calls > trace_.priced_calls) {
      trace_.priced_calls = trace.priced_calls;
      trace_.priced_by = trace.priced_by;
    }
  }

  /// `tables`: null where the scenario deadlocks.
  void write(const Results& results, const ScenarioProfile* tables) {
    if (files_->tables_wanted()) {
      const int width = page_width();
      if (first_) tables_ += opening(results.trace, width);
      if (tables) tables_ += all_ ? profile_text(*tables, width) : profile_summary(*tables, width);
      tables_ += new_notes(results, width);
    }
    note_trace(results.trace);
    write_scenario(*files_, results.scenarios[0], tables, first_);
  }

  EventSource* source_;
  ReplayOptions options_;
  ReportFiles* files_;
  bool all_;
  const Metrics* metrics_;
  nlohmann::ordered_json findings_;
  std::string findings_text_;
  bool first_ = true;
  TraceSummary trace_;
  std::vector<SiteRow> recorded_, predicted_;  ///< by the model of the archive's own machine
  std::string tables_;
  std::set<std::string> said_;
};

/// What other networks make of a run without an archive; `perfect` without scenarios.
NetworkEstimates estimates_of(const RunSums& run, std::vector<Scenario> scenarios,
                              const std::string& path, std::string& why_not) {
  const bool asked = !scenarios.empty();
  if (!asked) scenarios.push_back(parse_scenario("perfect"));
  try {
    if (!run.steps) {
      throw InputError(
          "several threads communicate, recording was switched off, or the file is of an older "
          "version; record a trace");
    }
    ReplayOptions options;
    options.repair = false;  // steps begin at the same time on all ranks
    return estimate_networks(*run.steps, run.steps_one_of, run.whole, scenarios, options);
  } catch (const InputError& error) {
    why_not = fmt::format("Other networks are not known: {}.", error.what());
    if (asked)
      throw InputError(fmt::format("{}: other networks are not known: {}", path, error.what()));
  }
  return {};
}

/// The profile of a run without an archive.
int profile_of_sums(const std::string& path, const po::variables_map& values) {
  static const std::set<std::string> kApplicable = {"archive", "csv", "json", "all", "on"};
  for (const auto& [name, value] : values) {
    if (!value.defaulted() && !kApplicable.contains(name))
      throw UsageError(fmt::format("--{} needs an archive; {} is a file of sums", name, path));
  }
  const std::vector<Scenario> scenarios = named_scenarios(values);
  for (const Scenario& scenario : scenarios) {
    if (scenario.basis != Basis::kModel || scenario.fits_degradation)
      throw UsageError(
          fmt::format("--on {} needs an archive; {} is a file of sums", scenario.name, path));
  }
  warn_of_platforms(scenarios);
  ReportFiles files(values, {"csv", "json"}, {path});
  const std::unique_ptr<RunSums> run = read_run_sums(path);
  std::string why_not;
  const NetworkEstimates estimates = estimates_of(*run, scenarios, path, why_not);
  write_scenario(files, run->results.scenarios[0], &run->profile, true);
  for (const NetworkEstimate& each : estimates.scenarios) {
    if (files.wants("csv") && each.deadlock.empty())
      files.write("csv", elapsed_csv(each.scenario, each.elapsed));
  }
  const Table table = network_table(estimates, run->whole.elapsed);
  if (files.wants("json"))
    profile_json_end(run->results.trace, Json::array(), nullptr, table.json(), sink(files, "json"));
  if (files.tables_wanted()) {
    const int width = page_width();
    const bool all = values.count("all") > 0;
    std::string text = wrap(path + ": " + run->summary, width, 2);
    text += all ? profile_text(run->profile, width) : profile_summary(run->profile, width);
    if (!estimates.scenarios.empty()) {
      text += table.section(
          estimates.is_exact
              ? "Other networks, by a replay of all steps between collectives of all ranks"
              : fmt::format(
                    "Other networks, estimated from {} steps between collectives of all "
                    "ranks{}",
                    show_count(run->steps->numbers().size()),
                    run->steps_one_of == 1 ? "" : ", one of " + show_count(run->steps_one_of)),
          width);
    }
    for (const NetworkEstimate& each : estimates.scenarios) {
      if (!each.deadlock.empty()) text += wrap(each.scenario + ": " + each.deadlock, width, 2);
    }
    text += "\n";
    for (const std::string& note : run->notes) text += wrap("Note: " + note, width, 2);
    constexpr double kWorthSaying = 0.01;
    if (estimates.kept >= kWorthSaying) {
      text += wrap(fmt::format("Note: On other networks {:.0f} % of MPI time keeps its length: {}.",
                               100 * estimates.kept, fmt::join(estimates.kept_calls, ", ")),
                   width, 2);
    }
    const double left_out = run->steps ? run->steps->left_out().length : 0;
    if (!estimates.scenarios.empty() && run->whole.elapsed > 0 &&
        left_out >= kWorthSaying * run->whole.elapsed) {
      text += wrap(
          fmt::format("Note: On other networks {:.0f} % of the run keeps its length, but for lost "
                      "cores: steps between collectives of all ranks that are too long to be "
                      "recorded.",
                      100 * left_out / run->whole.elapsed),
          width, 2);
    }
    if (!why_not.empty()) text += wrap("Note: " + why_not, width, 2);
    if (!all) text += kMoreTables;
    print_to_stdout(text);
  }
  files.commit();
  return 0;
}

}  // namespace

int command_profile(const Arguments& arguments) {
  po::variables_map values;
  if (!parse_options(arguments, kProfileHelp, profile_options(), "archive", false, values))
    return 0;
  const std::string archive = one_archive(values, kProfileHelp);
  if (is_run_sums(archive)) return profile_of_sums(archive, values);
  std::vector<Scenario> scenarios = named_scenarios(values);
  if (scenarios.empty()) scenarios.push_back(parse_scenario("measured"));
  for (const Scenario& scenario : scenarios) refuse_fit(scenario);
  warn_of_platforms(scenarios);
  ReportFiles files(values, {"csv", "json"}, input_files(archive, scenarios));

  ReplayOptions options = engine_options(values);
  options.wait_states = true;
  options.progress = progress_line("profiling");
  const auto source = open_trace(archive, {options.ignore_offsets, options.threads});
  source->note_places();
  if (!source->functions().empty()) source->total_functions();
  const Metrics metrics = metrics_of(archive, options.ignore_offsets);
  Profiler profiler(*source, options, files, values.count("all") > 0, metrics, scenarios,
                    engine_words(values));
  for (const Scenario& scenario : scenarios) profiler.profile(scenario);
  profiler.end();
  files.commit();
  return 0;
}

}  // namespace rubato
