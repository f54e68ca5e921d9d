#include "replay/judge/diagnosis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/analyse/place_summary.h"
#include "replay/analyse/site_summary.h"
#include "replay/judge/implausible_cost.h"
#include "replay/judge/lost_cores.h"
#include "replay/study/candidates.h"
#include "replay/study/fit_degradation.h"
#include "replay/study/run_replay.h"
#include "replay/study/study.h"

// Waits of `perfect` have two origins: some ranks compute longer than others, and ranks wait for
// each other in turn. The first is load imbalance, a finding of its own, so its part is removed. A
// rank that computes e longer than the mean lets P - 1 others wait for at most (P - 1) e: that much
// of the waits of which it is the root is load imbalance, the rest is not.

namespace rubato {
namespace {

constexpr double kLeastLoss = 0.02;  ///< of the elapsed time
constexpr double kMainShare = 0.5;
constexpr double kMuch = 0.25;
constexpr size_t kMostBalanced = 7;  ///< functions

/// Ticks of waits in calls of one name.
struct InCall {
  std::map<WaitPattern, double> by_pattern;
  std::map<int, double> by_root;
  /// By function of a root rank, and by the callers of the function.
  std::map<std::pair<int, std::string>, std::map<std::vector<std::string>, double>> by_function;
};

/// By rank: the part of the waits rooted there that unequal compute does not explain, 0 to 1.
std::vector<double> parts_of_chains(const ScenarioResult& perfect, const PlaceSummary& summary) {
  std::vector<double> roots(perfect.ranks.size());  // seconds of all ranks' waits
  for (const PlaceSummary::Delay& delay : summary.delays) roots[delay.rank] += delay.seconds;
  const double mean_compute = mean(perfect.ranks, &RankResult::compute);
  const auto others = static_cast<double>(roots.size() - 1);
  std::vector<double> parts(roots.size(), 1);
  for (size_t rank = 0; rank < roots.size(); ++rank) {
    const double excess = std::max(0.0, perfect.ranks[rank].compute - mean_compute) * others;
    if (excess > 0) parts[rank] = std::max(0.0, 1 - excess / roots[rank]);
  }
  return parts;
}

/// The largest entry; the end of an empty map.
template <typename Key>
auto largest(const std::map<Key, double>& amounts) {
  return std::max_element(amounts.begin(), amounts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

template <typename Key>
double sum_of(const std::map<Key, double>& amounts) {
  double sum = 0;
  for (const auto& [key, amount] : amounts) sum += amount;
  return sum;
}

/// Of the function (else line) with most of the waits in calls of that name: its call path with the
/// longest waits. Empty if none has most of them.
std::vector<std::string> path_of(const std::vector<SiteRow>& rows, const std::string& call) {
  std::map<std::string, double> waits;
  std::map<std::string, const SiteRow*> longest;
  double all = 0;
  for (const SiteRow& row : rows) {
    if (row.call != call) continue;
    all += row.waits;
    if (row.path.empty()) continue;
    const std::string& place = row.function.empty() ? row.path.back() : row.function;
    waits[place] += row.waits;
    const SiteRow*& known = longest[place];
    if (!known || row.waits > known->waits) known = &row;
  }
  const auto most = largest(waits);
  if (most == waits.end() || !(most->second > kMainShare * all)) return {};
  return longest[most->first]->path;
}

std::vector<std::string> callers_of(const NamedPlace& place) {
  return {place.path.begin(), place.path.end() - (place.path.empty() ? 0 : 1)};
}

/// The path with the longest waits, if its last function calls for most of them; else "...".
std::vector<std::string> main_callers(
    const std::map<std::vector<std::string>, double>& by_callers) {
  const auto longest = largest(by_callers);
  double of_caller = 0;
  for (const auto& [callers, seconds] : by_callers) {
    const std::vector<std::string>& most = longest->first;
    if (callers.empty() ? most.empty() : !most.empty() && callers.back() == most.back())
      of_caller += seconds;
  }
  if (of_caller > kMainShare * sum_of(by_callers)) return longest->first;
  return {"..."};
}

/// Waits by call, with the parts of their roots; from places, which know roots and calls together.
void add_roots(const PlaceSummary& summary, const std::vector<double>& parts,
               std::map<std::string, InCall>& calls) {
  for (const PlaceSummary::Delay& delay : summary.delays) {
    InCall& call = calls[summary.places[delay.waiting].call];
    const double seconds = parts[delay.rank] * delay.seconds;
    call.by_root[delay.rank] += seconds;
    const NamedPlace& cause = summary.places[delay.place];
    if (cause.kind == Place::Kind::kCompute && !cause.function_place.empty())
      call.by_function[{delay.rank, cause.function_place}][callers_of(cause)] += seconds;
  }
}

FindingKind kind_of(WaitPattern pattern, bool has_main_cause) {
  switch (pattern) {
    case WaitPattern::kBarrier:
    case WaitPattern::kAllToAll:
    case WaitPattern::kFence:
      return FindingKind::kSynchronisation;
    case WaitPattern::kLateBroadcast:
      return FindingKind::kLateRoot;
    case WaitPattern::kLateReceiver:
      return FindingKind::kLateReceiver;
    case WaitPattern::kLateSender:
    case WaitPattern::kWrongOrder:
    case WaitPattern::kEarlyReduce:
    case WaitPattern::kEarlyScan:
    case WaitPattern::kLatePost:
    case WaitPattern::kEarlyWait:
    case WaitPattern::kLock:
      break;
  }
  return has_main_cause ? FindingKind::kLateSender : FindingKind::kChains;
}

/// Waits in calls of one name. Their root cause is named if it has most of them, clearly more than
/// the mean rank.
Finding waits_in(const std::string& name, const InCall& call, const Roles& roles) {
  Finding waits;
  waits.call = name;
  waits.seconds = sum_of(call.by_root);
  const auto root = largest(call.by_root);
  const double share = root->second / waits.seconds;
  const bool has_main_cause =
      share >= std::max(kMuch, 1.5 / static_cast<double>(roles.perfect->ranks.size()));
  waits.kind =
      kind_of(call.by_pattern.empty() ? WaitPattern::kLateSender : largest(call.by_pattern)->first,
              has_main_cause);
  if (!has_main_cause) return waits;
  waits.rank = root->first;
  waits.share = share;
  for (const auto& [function, by_caller] : call.by_function) {
    const double seconds = sum_of(by_caller);
    if (function.first != waits.rank || !(seconds > kMainShare * root->second)) continue;
    waits.function = function.second;
    waits.callers = main_callers(by_caller);
  }
  return waits;
}

/// The cost of a kind if it is worth a further replay, else 0.
double long_time(const Roles& roles, FindingKind kind) {
  std::optional<LostTime> lost = lost_time(roles);
  return lost && (*lost)[kind] >= kLeastLoss * lost->elapsed ? (*lost)[kind] : 0;
}

/// Waits by call, all or only what unequal compute does not explain, the longest first; their costs
/// add up to `cost`.
std::vector<Finding> waits_by_call(const EventSource& source, const WaitObservers& seen,
                                   const Roles& roles, double cost, bool all_waits) {
  const TraceDefinitions& trace = source.definitions();
  std::map<std::string, InCall> calls;
  for (const auto& [key, sum] : seen.patterns.waits())
    calls[trace.calls[key.call].name].by_pattern[key.pattern] += sum.ticks;
  const PlaceSummary summary = place_summary(seen.places, source);
  const size_t ranks = roles.perfect->ranks.size();
  const std::vector<double> parts =
      all_waits ? std::vector<double>(ranks, 1) : parts_of_chains(*roles.perfect, summary);
  add_roots(summary, parts, calls);
  const std::vector<SiteRow> rows = site_rows(seen.sites, source);
  double all = 0;
  for (const auto& [name, call] : calls) all += sum_of(call.by_root);
  std::vector<Finding> waits;
  for (const auto& [name, call] : calls) {
    if (!(sum_of(call.by_root) > 0)) continue;
    waits.push_back(waits_in(name, call, roles));
    waits.back().path = path_of(rows, name);
  }
  sort_by_cost(waits);
  for (Finding& finding : waits) finding.seconds = finding.seconds / all * cost;
  return waits;
}

void watch(EventSource& source, const Scenario& scenario, ReplayOptions options,
           WaitObservers& seen) {
  options.observers = seen.all();
  options.wait_states = true;
  run_replay(source, {scenario}, options);
}

/// Ticks of sends that wait for their receivers, by call.
std::map<std::string, double> late_receivers_of(const WaitObservers& seen,
                                                const TraceDefinitions& trace) {
  std::map<std::string, double> ticks;
  for (const auto& [key, sum] : seen.patterns.waits()) {
    if (key.pattern == WaitPattern::kLateReceiver) ticks[trace.calls[key.call].name] += sum.ticks;
  }
  return ticks;
}

/// The calls with most of the waits for receivers in Roles::judged beyond those of `perfect`. Their
/// root cause and place are those of all their waits, and are left out if most are of another kind.
std::vector<Finding> find_late_receivers(EventSource& source, const Roles& roles, double cost,
                                         const ReplayOptions& options,
                                         const WaitObservers& perfect) {
  const TraceDefinitions& trace = source.definitions();
  const Scenario scenario = parse_scenario(roles.judged->name);
  WaitObservers seen(source, kept_losses(scenario, options.keep_stolen));
  watch(source, scenario, options, seen);
  const std::map<std::string, double> late = late_receivers_of(seen, trace);
  std::map<std::string, double> remain = late_receivers_of(perfect, trace), beyond;
  double all = 0;
  for (const auto& [call, ticks] : late) {
    beyond[call] = std::max(0.0, ticks - remain[call]);
    all += beyond[call];
  }
  Finding found{FindingKind::kLateReceiver, cost};
  const auto most = largest(beyond);
  if (most == beyond.end() || !(most->second > kMainShare * all)) return {found};
  double of_call = 0;
  for (const auto& [key, sum] : seen.patterns.waits())
    if (trace.calls[key.call].name == most->first) of_call += sum.ticks;
  if (late.at(most->first) > kMainShare * of_call) {
    for (Finding& waits : waits_by_call(source, seen, roles, cost, true))
      if (waits.call == most->first) found = std::move(waits);
  }
  found.kind = FindingKind::kLateReceiver;
  found.seconds = cost;
  found.call = most->first;
  return {found};
}

std::vector<TriedCandidate> find_remedies(EventSource& source, const Roles& roles,
                                          const ReplayOptions& options) {
  const Scenario scenario = parse_scenario(roles.judged->name);
  BaseRun base;
  base.scenario = &scenario;
  base.results = roles.results;
  base.run = roles.judged;
  CandidateLimits limits;
  limits.functions = kMostBalanced;
  const ParseScenario parse = [](const std::string& text) { return parse_scenario(text); };
  const Candidates candidates = CandidateFinder(base, limits, parse).find_balances();
  std::vector<TriedCandidate> tried;
  if (candidates.list.empty()) return tried;
  std::vector<Scenario> scenarios;
  for (const Candidate& candidate : candidates.list) scenarios.push_back(candidate.scenario);
  const Results results = Study(source, options).replay(scenarios);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const ScenarioResult& result = results.scenarios[i];
    tried.push_back({candidates.list[i], result.elapsed, result.deadlock, {}, {}});
  }
  return tried;
}

}  // namespace

WaitObservers::WaitObservers(const EventSource& source, KeptLosses kept)
    : patterns(source.definitions()),
      places(source, kept),
      sites(source, kept),
      has_sites_(!source.functions().empty() || !source.call_sites().empty()) {}

std::vector<Observer<1>*> WaitObservers::all() {
  std::vector<Observer<1>*> list = {&patterns, &places};
  if (has_sites_) list.push_back(&sites);
  return list;
}

std::unique_ptr<WaitObservers> observe_perfect(const EventSource& source,
                                               const std::vector<Scenario>& scenarios,
                                               ReplayOptions& options) {
  const auto perfect =
      std::find_if(scenarios.begin(), scenarios.end(),
                   [](const Scenario& scenario) { return scenario.name == "perfect"; });
  if (perfect == scenarios.end() || !options.jobs.empty() || !options.wait_states ||
      any_fits_degradation(scenarios))
    return nullptr;
  auto observers = std::make_unique<WaitObservers>(source);
  options.observed = static_cast<size_t>(perfect - scenarios.begin());
  options.observers = observers->all();
  return observers;
}

bool needs_diagnosis(const Roles& roles) {
  return long_time(roles, FindingKind::kChains) > 0 ||
         long_time(roles, FindingKind::kLoadImbalance) > 0 ||
         long_time(roles, FindingKind::kMessages) > 0 ||
         long_time(roles, FindingKind::kLateReceiver) > 0 || implausible_cost(roles) ||
         costly_network(roles);
}

Diagnosis diagnose(EventSource& source, const Roles& roles, const std::vector<Scenario>& scenarios,
                   ReplayOptions options, const WaitObservers* perfect) {
  options.verify = false;
  options.total_functions = false;
  Diagnosis diagnosis;
  const bool is_recorded = roles.judged && roles.judged->from_recording;
  const double late = is_recorded ? long_time(roles, FindingKind::kLateReceiver) : 0;
  const double chains = long_time(roles, FindingKind::kChains);
  if (is_recorded && long_time(roles, FindingKind::kMessages) > 0)
    diagnosis.function = costly_function(source, parse_scenario(roles.judged->name), options);
  std::optional<WaitObservers> own;
  if (!perfect && (late > 0 || chains > 0)) {
    watch(source, parse_scenario("perfect"), options, own.emplace(source));
    perfect = &*own;
  }
  auto& parts = diagnosis.parts;
  if (late > 0)
    parts[FindingKind::kLateReceiver] = find_late_receivers(source, roles, late, options, *perfect);
  diagnosis.has_waits = chains > 0;
  if (chains > 0)
    parts[FindingKind::kChains] = waits_by_call(source, *perfect, roles, chains, false);
  std::erase_if(parts, [](const auto& part) { return part.second.empty(); });
  if (is_recorded && (chains > 0 || long_time(roles, FindingKind::kLoadImbalance) > 0))
    diagnosis.remedies = find_remedies(source, roles, options);
  if (implausible_cost(roles))
    diagnosis.least_elapsed = elapsed_by_least_times(source, roles, options);
  if (const ScenarioResult* const platform = costly_network(roles)) {
    const auto number = static_cast<size_t>(platform - roles.results->scenarios.data());
    if (number < scenarios.size())
      diagnosis.network =
          network_costs(source, scenarios[number], *platform, roles.results->calls, options);
  }
  return diagnosis;
}

JudgedRun judged_run(EventSource& source, ReplayOptions options,
                     const std::vector<Scenario>& others) {
  options.observers.clear();
  options.wait_states = true;
  options.total_functions = true;
  options.verify = false;
  std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
  for (const Scenario& scenario : others) {
    if (scenario.basis == Basis::kModel) scenarios.push_back(scenario);
  }
  source.note_places();
  const IntervalPlan plan(scenarios);
  JudgedRun run;
  ReplayOptions observing = options;
  const auto perfect = observe_perfect(source, plan.scenarios(), observing);
  run.results = run_replay(source, plan.scenarios(), observing);
  run.intervals = plan.settle(run.results, options.subtracted(source.definitions().overhead));
  find_undisturbed(source, run.results, options);
  run.diagnosis = diagnose(source, run.results, scenarios, options, perfect.get());
  return run;
}

}  // namespace rubato
