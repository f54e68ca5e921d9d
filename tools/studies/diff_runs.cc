#include "tools/studies/diff_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "models/base/error.h"
#include "models/platform/uncertainty.h"
#include "replay/compare/call_log.h"
#include "replay/judge/lost_cores.h"
#include "replay/observe/wait_places.h"
#include "replay/rubato.h"
#include "replay/study/intervals.h"
#include "tools/cli/standard_streams.h"
#include "tools/files/run_times.h"
#include "tools/format/numbers.h"
#include "tools/options/scenario_options.h"

namespace rubato {
namespace {

/// The share of time without a core from which on recordings are compared without it: a tenth of
/// the smallest difference that repeated runs usually show.
constexpr double kLeastLost = 0.001;

/// True for `measured` and `undisturbed` without changes.
bool is_recorded(const Scenario& scenario) {
  return scenario.basis != Basis::kModel && scenario.cpu == 1 && scenario.processors.empty() &&
         scenario.functions.empty();
}

/// An archive on its way to DiffRun.
struct OpenRun {
  std::unique_ptr<EventSource> source;
  DiffRun run;
  RunTime undisturbed;  ///< of a recording, the alternative to run.time
};

/// The errors of a time that was replayed with its interval; of a recording, with that of
/// `undisturbed`, only the variation of compute.
RunTime time_of(const ScenarioResult& result, const std::optional<ElapsedInterval>& own,
                const std::optional<ElapsedInterval>& undisturbed) {
  const ElapsedInterval parts = own.value_or(ElapsedInterval{});
  const double compute = own           ? own->compute
                         : undisturbed ? undisturbed->compute
                                       : kErrors * kComputeError * result.elapsed;
  return {result.elapsed, compute, parts.overhead, parts.losses, parts.model, parts.platform_file};
}

/// Replays an archive for its times. `scenario`: null for a recording.
OpenRun open_run(const DiffWord& word, const Scenario* scenario, const ReplayOptions& options,
                 int ranks) {
  OpenRun open;
  open.run.archive = word.archive;
  open.source = open_trace(word.archive, {options.ignore_offsets, options.threads});
  open.source->note_places();
  const TraceDefinitions& trace = open.source->definitions();
  if (ranks > 0 && trace.ranks() != ranks) {
    throw InputError(
        fmt::format("{} has {}, the first archive {}: only runs with equal numbers of "
                    "ranks can be compared",
                    word.archive, counted(trace.ranks(), "rank", "ranks"), ranks));
  }
  std::vector<Scenario> asked = {parse_scenario("measured"), parse_scenario("undisturbed")};
  size_t own = 0;
  if (scenario) {
    while (own < asked.size() && asked[own].name != scenario->name) ++own;
    if (own == asked.size()) asked.push_back(*scenario);
  }
  const IntervalPlan plan(asked);
  Results results = run_replay(*open.source, plan.scenarios(), options);
  const Intervals intervals = plan.settle(results, options.subtracted(trace.overhead));
  const ScenarioResult& result = results.scenarios[own];
  if (!result.deadlock.empty()) {
    throw InputError(
        fmt::format("{} deadlocks on {}: {}", word.archive, result.name, result.deadlock));
  }
  if (!(result.elapsed > 0))
    throw InputError(fmt::format("{}: the run takes no time on {}", word.archive, result.name));
  open.run.command = results.trace.command;
  open.run.recorded = results.scenarios[0].elapsed;
  open.run.lost_share = lost_share(results);
  open.run.time = time_of(result, intervals[own], intervals[1]);
  open.undisturbed = time_of(results.scenarios[1], intervals[1], intervals[1]);
  return open;
}

/// The run of median time.
size_t median_run(const std::vector<DiffRun>& runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return runs[a].time.elapsed < runs[b].time.elapsed; });
  return order[(order.size() - 1) / 2];
}

/// A side with its times, and the open archive of its shown run.
struct OpenSide {
  DiffSide side;
  std::unique_ptr<EventSource> source;
};

/// A run that is replayed for comparing its operations.
struct ReplayedRun {
  std::unique_ptr<CallLog> log;
  ObservedRun seen;
};

ReplayedRun replay_shown(OpenSide& open, ReplayOptions options) {
  const Scenario scenario = fixed_scenario(open.side.scenario);
  EventSource& source = *open.source;
  const TraceDefinitions& trace = source.definitions();
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  const KeptLosses losses = kept_losses(scenario, options.keep_stolen);
  ReplayedRun run;
  run.log = std::make_unique<CallLog>(trace, scenario.placement.place(recorded), losses);
  WaitPlaces places(source, losses);
  options.observers = {run.log.get(), &places};
  options.wait_states = true;
  options.total_functions = !open.side.is_prediction;
  if (!source.functions().empty()) source.total_functions();  // in predictions: as recorded
  run.seen.results = run_replay(source, {scenario}, options);
  run.seen.places = place_summary(places, source);
  return run;
}

/// Replays the archives of both sides for their times, and decides in which scenario recordings are
/// compared.
std::pair<OpenSide, OpenSide> open_sides(const DiffSides& words, const ReplayOptions& options) {
  std::array<OpenSide, 2> sides;
  std::array<std::vector<OpenRun>, 2> runs;
  bool lost = false;
  int ranks = 0;
  for (size_t i = 0; i < 2; ++i) {
    const std::vector<DiffWord>& side = i == 0 ? words.before : words.after;
    std::optional<Scenario> scenario;
    if (!side[0].scenario.empty()) scenario = fixed_scenario(side[0].scenario);
    sides[i].side.scenario = scenario ? side[0].scenario : "measured";
    if (scenario) {
      sides[i].side.is_prediction = !is_recorded(*scenario);
      sides[i].side.has_uncertainty =
          scenario->basis != Basis::kModel || states_uncertainty(scenario->platform);
    }
    for (const DiffWord& word : side) {
      runs[i].push_back(open_run(word, scenario ? &*scenario : nullptr, options, ranks));
      ranks = runs[i].back().source->definitions().ranks();
      lost = lost || (!scenario && runs[i].back().run.lost_share > kLeastLost);
      // (An open archive takes memory; of repeated runs the shown one is opened again.)
      if (side.size() > 1) runs[i].back().source.reset();
    }
  }
  for (size_t i = 0; i < 2; ++i) {
    DiffSide& side = sides[i].side;
    side.without_losses =
        lost && (i == 0 ? words.before : words.after)[0].scenario.empty() && !options.keep_stolen;
    if (side.without_losses) side.scenario = "undisturbed";
    for (OpenRun& open : runs[i]) {
      if (side.without_losses) open.run.time = open.undisturbed;
      side.runs.push_back(open.run);
      const RunTimes times = elapsed_of_runs(open.run.archive, open.run.recorded);
      if (!times.note.empty())
        print_to_stderr(fmt::format("rubato: warning: {}: {}", open.run.archive, times.note));
      const bool is_repeated =
          !side.is_prediction && !times.seconds.empty() && open.run.recorded > 0;
      if (!is_repeated) side.times.push_back(open.run.time);
      for (size_t run = 0; is_repeated && run < times.seconds.size(); ++run) {
        side.times.push_back(open.run.time);
        side.times.back().elapsed *= times.seconds[run] / open.run.recorded;
      }
    }
    side.shown = median_run(side.runs);
    sides[i].source = std::move(runs[i][side.shown].source);
    if (sides[i].source) continue;
    sides[i].source =
        open_trace(side.runs[side.shown].archive, {options.ignore_offsets, options.threads});
    sides[i].source->note_places();
  }
  return {std::move(sides[0]), std::move(sides[1])};
}

/// The name of the program in a traced command; "" if it is not known.
std::string program_of(const DiffRun& run) {
  const std::string word = run.command.substr(0, run.command.find(' '));
  return word.substr(word.find_last_of('/') + 1);
}

/// Refuses to compare runs that have next to nothing in common; runs of programs with other names
/// need more in common.
void refuse_other_program(const DiffResults& results) {
  const RunDifference& d = results.difference;
  const DiffRun& before = results.before.runs[results.before.shown];
  const DiffRun& after = results.after.runs[results.after.shown];
  const std::string a = program_of(before), b = program_of(after);
  const uint64_t common = d.same + d.different;
  const uint64_t shorter = common + std::min(d.only_before, d.only_after);
  const double least = a == b || a.empty() || b.empty() ? 0.1 : 0.5;
  if (static_cast<double>(common) >= least * static_cast<double>(shorter)) return;
  throw InputError(fmt::format("{} and {} are not runs of the same program: {} of {} match",
                               before.archive, after.archive, show_count(common),
                               counted(shorter, "operation", "operations")));
}

}  // namespace

DiffResults compare_runs(const DiffSides& sides, const DiffOptions& how, ReplayOptions options) {
  options.total_functions = true;
  DiffResults results;
  results.limit = how.limit;
  auto [before, after] = open_sides(sides, options);
  results.before = before.side;
  results.after = after.side;
  const bool one_scenario = results.before.is_prediction && results.after.is_prediction &&
                            results.before.scenario == results.after.scenario;
  results.slowdown = slowdown_of(results.before.times, results.after.times, one_scenario);
  for (const DiffSide* side : {&results.before, &results.after}) {
    for (const DiffRun& run : side->runs)
      results.slowdown.lacks_cores |= run.lost_share > kMostLostTold;
  }
  results.threshold = how.threshold.value_or(0.01 * results.slowdown.before);
  const ReplayedRun first = replay_shown(before, options);
  const ReplayedRun second = replay_shown(after, options);
  constexpr size_t kLargest = 10;
  const size_t largest = how.all ? std::numeric_limits<size_t>::max() : kLargest;
  results.difference = difference_of(*first.log, *second.log, results.threshold, largest);
  if (how.functions)
    results.difference.by_function = compared_functions(first.seen.places, second.seen.places);
  refuse_other_program(results);
  results.summary = summary_of(first.seen, second.seen);
  return results;
}

}  // namespace rubato
