#include "replay/run/driver.h"
#include "models/base/error.h"

#include <algorithm>
#include <optional>
#include <string>

#include "replay/cluster/try_all.h"
#include "replay/parallel/spread_run.h"
#include "replay/run/check_numbers.h"
#include "replay/run/group_replay.h"
#include "replay/run/passes.h"
#include "replay/run/recording.h"
#include "replay/run/scenario_groups.h"
#include "replay/run/summary.h"

namespace rubato {
namespace {

/// True if some receive, or some call that takes some of several requests, could get another
/// message.
bool may_take_another(const TraceDefinitions& trace) {
  return trace.wildcards != WildcardsKnown::kNone ||
         std::any_of(trace.calls.begin(), trace.calls.end(),
                     [](const MpiCallInfo& call) { return call.takes_some; });
}

/// The functions that scenarios change, then those of the options.
std::vector<std::string> timed_functions(const std::vector<Scenario>& scenarios,
                                         const std::vector<FunctionName>& known,
                                         const TraceDefinitions& trace,
                                         const ReplayOptions& options) {
  std::vector<std::string> functions = functions_to_time(scenarios, known, trace);
  for (const std::string& function : options.functions) {
    const bool is_new = std::find(functions.begin(), functions.end(), function) == functions.end();
    if (is_new && functions.size() < kMostFunctions) functions.push_back(function);
  }
  return functions;
}

/// True if some step uses what the recording proves about its messages.
bool needs_survey(const std::vector<ScenarioGroup>& groups, bool by_arrival,
                  const ReplayOptions& options) {
  return options.verify || groups.empty() || by_arrival ||
         std::any_of(groups.begin(), groups.end(),
                     [](const ScenarioGroup& group) { return group.measured; });
}

/// Why a run cannot be divided among processes, as far as known in advance.
std::optional<OneProcess> why_undivided(const TraceDefinitions& trace,
                                        const std::vector<ScenarioGroup>& groups,
                                        const ReplayOptions& options) {
  if (!options.observers.empty()) return OneProcess::kEveryCall;
  if (std::any_of(trace.comms.begin(), trace.comms.end(),
                  [](const Communicator& comm) { return comm.window; }))
    return OneProcess::kWindows;
  if (options.wildcards_by_arrival ||
      std::any_of(groups.begin(), groups.end(),
                  [](const ScenarioGroup& group) { return group.needs_order; }))
    return OneProcess::kTimeOrder;
  return {};
}

/// What run_replay() resolves before.
void refuse_unresolved(const std::vector<Scenario>& scenarios, const ReplayOptions& options) {
  if (!options.jobs.empty()) throw UsageError("this replay cannot have other jobs beside it");
  for (const Scenario& scenario : scenarios) {
    if (scenario.fits_degradation)
      throw UsageError("scenario '" + scenario.name +
                       "': dr=fit is not possible here; give dr=RATIO");
  }
}

/// Runs `work`, as try_all() if there is a team.
template <typename Work>
void try_all_of(Team* team, Work work) {
  if (team)
    try_all(*team, work);
  else
    work();
}

/// The recorded compute of each function; empty in all processes but the first.
std::vector<FunctionResult> recorded_functions(Passes& passes,
                                               const std::vector<FunctionName>& names) {
  const FunctionTotals* const own = passes.source().function_totals();
  if (!own) return {};
  FunctionTotals totals = *own;
  if (DividedRun* const divided = passes.divided()) {
    divided->gather(totals);
    if (!divided->team().leads()) return {};
  }
  return compute_of_functions(names, totals, passes.source().definitions());
}

}  // namespace

Results replay_in_passes(EventSource& source, const std::vector<Scenario>& scenarios,
                         const ReplayOptions& options) {
  refuse_unresolved(scenarios, options);
  const TraceDefinitions& trace = source.definitions();
  Results results;
  results.scenarios.resize(scenarios.size());
  for (size_t i = 0; i < scenarios.size(); ++i) results.scenarios[i].name = scenarios[i].name;
  Passes passes(source, options);
  Recording recording(passes, options);

  // Scenarios with the same dependency structure share passes, as lanes.
  const bool by_arrival = options.wildcards_by_arrival && may_take_another(trace);
  const std::vector<ScenarioGroup> groups =
      group_scenarios(scenarios, recording.placement(), by_arrival);
  const std::vector<PlannedPass> planned = plan_passes(groups);
  const bool surveys = needs_survey(groups, by_arrival, options);
  passes.expect(1 + (surveys ? 1 : 0) + (options.verify ? 1 : 0) + planned.size());

  // The source keeps only what it is asked for before it reads the archive.
  const std::vector<FunctionName> names = source.functions();
  TimedFunctions functions{timed_functions(scenarios, names, trace, options)};
  if (!functions.names.empty()) source.time_functions(functions.names);
  if (options.total_functions && !names.empty()) source.total_functions();

  // Processes of a team read and replay only their own ranks.
  if (options.team) {
    if (const auto why = why_undivided(trace, groups, options)) throw NeedsOneProcess{*why};
    passes.divide(*options.team);
  }

  // The archive is read once, for all passes.
  if (options.verify) source.keep_records(true);
  try_all_of(options.team ? options.team : options.spread,
             [&] { source.load([&](double share) { passes.report(share); }); });
  functions.times = source.function_times();
  if (options.total_functions) results.functions = recorded_functions(passes, names);
  passes.count_one();

  // The facts about the archive come from a pass that matches as recorded.
  if (surveys) recording.survey();

  // `measured` is compared with the archive before times are repaired.
  if (options.verify) results.identity = recording.verify();

  // Effects before their causes are moved, so that durations of messages are positive.
  if (surveys && options.repair && !trace.one_clock && recording.violates_order())
    recording.repair();

  // All scenarios, pass by pass; processes that spread them make their own passes only.
  const ReplayedScenarios replayed{scenarios, options, by_arrival, functions, results};
  std::optional<SpreadRun> spread;
  if (options.spread) spread.emplace(*options.spread);
  try_all_of(options.spread, [&] {
    for (const PlannedPass& pass : planned) {
      if (!spread || spread->takes(pass.group->measured, pass.scenarios))
        make_pass(pass, replayed, passes, recording);
    }
  });
  if (spread) spread->collect(results.scenarios);

  // If every scenario was a deadlock, no pass was complete.
  if (!passes.first()) recording.survey();
  passes.count_all();

  // The facts about the archive; then results that cannot be are refused.
  recording.summarize(results.trace);
  for (const int name : passes.coverage().calls_by_time())
    results.calls.push_back(trace.calls[name].name);
  check_numbers(results);
  return results;
}

}  // namespace rubato
