#include "replay/run/driver.h"
#include "models/base/error.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "replay/analyse/function_results.h"
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

bool balances_functions(const std::vector<Scenario>& scenarios) {
  return std::any_of(scenarios.begin(), scenarios.end(), [](const Scenario& scenario) {
    return std::any_of(scenario.functions.begin(), scenario.functions.end(),
                       [](const FunctionChange& change) { return change.balance; });
  });
}

/// True if the program creates communicators or windows of several ranks. Models keep their own
/// work, which the survey bounds.
bool creates(const TraceDefinitions& trace) {
  const auto is_created = [&](const Communicator& comm) {
    return comm.size() > 1 && &comm - trace.comms.data() != trace.world;
  };
  return std::any_of(trace.comms.begin(), trace.comms.end(), is_created);
}

/// True if some step uses what the recording proves about its messages. `measured` itself does not,
/// if it may follow the recording. (Where passes are spread, one process replays `measured`, and
/// the others would not learn that a survey is needed.)
bool needs_survey(const std::vector<Scenario>& scenarios, const std::vector<ScenarioGroup>& groups,
                  bool by_arrival, const TraceDefinitions& trace, const Recording& recording,
                  const ReplayOptions& options) {
  const auto follows = [&](const ScenarioGroup& group) {
    return recording.may_follow() && !options.spread &&
           std::all_of(group.scenarios.begin(), group.scenarios.end(),
                       [&](size_t number) { return is_recording(scenarios[number]); });
  };
  const bool models_creation = creates(trace);
  const auto needs = [&](const ScenarioGroup& group) {
    return group.measured ? !follows(group) : models_creation;
  };
  return options.verify || groups.empty() || by_arrival ||
         std::any_of(groups.begin(), groups.end(), needs);
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

/// Sets the recorded compute of functions; empty in all processes but the first.
void find_functions(Passes& passes, const std::vector<FunctionName>& names, double overhead,
                    Results& results) {
  const FunctionTotals* const own = passes.source().function_totals();
  if (!own) return;
  FunctionTotals totals = *own;
  if (DividedRun* const divided = passes.divided()) {
    divided->gather(totals);
    if (!divided->team().leads()) return;
  }
  const TraceDefinitions& trace = passes.source().definitions();
  add_function_results(names, totals, trace, overhead, results);
}

/// TimedFunctions::balance. `probe`: ticks that recording one enter or leave took.
std::vector<std::vector<double>> balance_factors(Passes& passes, const TimedFunctions& functions,
                                                 double probe) {
  const TraceDefinitions& trace = passes.source().definitions();
  const auto ranks = static_cast<uint32_t>(trace.ranks());
  std::map<uint32_t, double> ticks;  // by bit and rank
  functions.times->for_each([&](int timeline, const std::vector<FunctionTime>& parts) {
    for (const FunctionTime& part : parts) {
      for (uint32_t bit = 0; bit < functions.names.size(); ++bit) {
        if (part.functions >> bit & 1)
          ticks[bit * ranks + trace.rank_of(timeline)] +=
              std::max(0.0, part.ticks - static_cast<double>(part.probes) * probe);
      }
    }
  });
  if (DividedRun* const divided = passes.divided()) divided->take_largest(ticks);
  std::vector<std::vector<double>> factors;
  for (uint32_t bit = 0; bit < functions.names.size(); ++bit) {
    const auto first = ticks.lower_bound(bit * ranks), end = ticks.lower_bound((bit + 1) * ranks);
    double sum = 0, count = 0;
    for (auto each = first; each != end; ++each) {
      sum += each->second;
      if (each->second > 0) ++count;
    }
    factors.emplace_back(ranks, 1);
    for (auto each = first; each != end; ++each) {
      if (each->second > 0) factors[bit][each->first % ranks] = sum / count / each->second;
    }
  }
  return factors;
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
  std::vector<PlannedPass> planned = plan_passes(groups);
  const bool surveys = needs_survey(scenarios, groups, by_arrival, trace, recording, options);
  // Without a survey, `measured` comes first: it shows whether one is needed nevertheless.
  if (!surveys) {
    std::stable_partition(planned.begin(), planned.end(),
                          [](const PlannedPass& pass) { return pass.group->measured; });
  }
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
  const double probe = options.subtracted(trace.overhead).function;
  if (options.total_functions) find_functions(passes, names, probe, results);
  if (balances_functions(scenarios))
    functions.balance = balance_factors(passes, functions, probe * trace.ticks_per_second);
  passes.count_one();

  // The facts about the archive come from a pass that matches as recorded.
  if (surveys) recording.survey();

  // `measured` is compared with the archive before times are repaired.
  if (options.verify) results.identity = recording.verify();

  // Effects before their causes are moved.
  if (surveys) recording.repair();

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
