#include "replay/study/advice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "models/placement/rank_mapping.h"
#include "replay/observe/call_profile.h"
#include "replay/study/intervals.h"
#include "replay/study/placement_candidates.h"
#include "replay/study/study.h"

namespace rubato {
namespace {

constexpr double kFactor = 0.5;  ///< on the compute that a candidate changes
constexpr int kMostMappedRanks = 4096;
constexpr size_t kMostIntervals = 40, kMostIntervalsAlone = 3;  ///< alone: a pass each

double compute_of(const ScenarioResult& result) {
  double sum = 0;
  for (const RankResult& rank : result.ranks) sum += rank.compute;
  return sum;
}

/// Names for a file of hosts: those of the archive if they are suitable, else node0, node1.
std::vector<std::string> names_of_nodes(const TraceDefinitions& trace, size_t nodes, bool own) {
  std::vector<std::string> names;
  for (size_t node = 0; node < nodes; ++node) names.push_back("node" + std::to_string(node));
  if (!own || trace.nodes.size() != nodes) return names;
  const std::vector<std::string> recorded = trace.nodes.copy();
  const bool fit = std::all_of(recorded.begin(), recorded.end(), [](const auto& name) {
    return !name.empty() && name.find_first_of(" \t\r\n=#") == std::string::npos;
  });
  const std::set<std::string> different(recorded.begin(), recorded.end());
  return fit && different.size() == nodes ? recorded : names;
}

/// The placement by traffic between ranks; nothing if none is better than the present one.
std::optional<Candidate> mapped(const BaseRun& base, CallProfile& seen,
                                const TraceDefinitions& trace, const AdviceSettings& settings,
                                std::vector<std::string>& hosts) {
  const Scenario& scenario = *base.scenario;
  std::vector<int> nodes;
  for (int rank = 0; rank < trace.ranks(); ++rank) nodes.push_back(base.placement.node_of(rank));
  const std::vector<PairWeight> pairs = pair_traffic(seen, trace, scenario).extra;
  const std::vector<int> better = map_ranks(nodes, pairs);
  if (weight_across(better, pairs) >= weight_across(nodes, pairs)) return {};
  const auto count = static_cast<size_t>(*std::max_element(nodes.begin(), nodes.end()) + 1);
  const std::vector<std::string> names =
      names_of_nodes(trace, count, scenario.placement.kind == PlacementRule::Kind::kRecorded);
  for (const int node : better) hosts.push_back(names[node]);

  Candidate candidate{CandidateKind::kPlacement, "messages", "", scenario};
  std::vector<std::string> changes = scenario.changes;
  changes.push_back("placement=file:" + settings.hosts_file);
  PlacementRule& rule = candidate.scenario.placement;
  const int sockets = sockets_told(base.placement);
  rule.kind = PlacementRule::Kind::kHosts;
  rule.hosts = hosts;
  rule.slots.assign(hosts.size(), kNoSocket);
  rule.file = settings.hosts_file;
  if (rule.sockets == 0 && sockets > 1) {
    rule.sockets = sockets;
    changes.push_back("sockets=" + std::to_string(sockets));
  }
  candidate.text = scenario_text(scenario.base, changes);
  return candidate;
}

/// Replays the candidates together.
std::vector<TriedCandidate> replay_all(Study& study, std::vector<Candidate> candidates,
                                       double compute) {
  std::vector<Scenario> scenarios;
  for (const Candidate& candidate : candidates) {
    scenarios.push_back(candidate.scenario);
    scenarios.back().name = candidate.text;
  }
  const Results results = study.replay(scenarios);
  std::vector<TriedCandidate> tried;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const ScenarioResult& result = results.scenarios[i];
    TriedCandidate candidate{std::move(candidates[i]), result.elapsed, result.deadlock, {}, {}};
    if (candidate.candidate.kind == CandidateKind::kFunction && result.deadlock.empty() &&
        compute > 0)
      candidate.compute_share = (1 - compute_of(result) / compute) / (1 - kFactor);
    tried.push_back(std::move(candidate));
  }
  return tried;
}

/// Sets TriedCandidate::saving of the first `most` that save enough.
void find_savings(Study& study, const Scenario& scenario, size_t most,
                  const RecordingOverhead& overhead, const std::vector<FunctionResult>& functions,
                  Advice& advice) {
  std::vector<Scenario> scenarios = {scenario};
  for (const TriedCandidate& tried : advice.tried) {
    const bool helps =
        tried.deadlock.empty() && advice.elapsed - tried.elapsed >= kLeastSaving * advice.elapsed;
    if (!helps || scenarios.size() > most) break;
    scenarios.push_back(tried.candidate.scenario);
    scenarios.back().name = tried.candidate.text;
  }
  if (scenarios.size() == 1) return;
  const IntervalPlan plan(scenarios, true);
  if (plan.scenarios().size() == scenarios.size()) return;  // errors are not known
  Results results = study.replay(plan.scenarios());
  const Intervals intervals = plan.settle(results, overhead);
  for (size_t i = 1; i < intervals.size(); ++i) {
    if (!intervals[0] || !intervals[i]) continue;
    const double saved = results.scenarios[0].elapsed - results.scenarios[i].elapsed;
    TriedCandidate& tried = advice.tried[i - 1];
    const double half = std::hypot(half_of_difference(*intervals[0], *intervals[i]),
                                   half_from_samples(functions, tried.candidate, saved));
    tried.saving = {saved - half, saved + half};
  }
}

}  // namespace

double half_from_samples(const std::vector<FunctionResult>& functions, const Candidate& candidate,
                         double saved) {
  if (candidate.kind != CandidateKind::kFunction &&
      candidate.kind != CandidateKind::kFunctionBalance)
    return 0;
  for (const FunctionResult& function : functions) {
    if (function.name != candidate.name) continue;
    const std::vector<double>& seconds = function.inclusive;
    if (candidate.kind == CandidateKind::kFunctionBalance)
      return function.error / std::sqrt(static_cast<double>(seconds.size()));
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    return sum > 0 ? saved * function.error / sum : 0;
  }
  return 0;
}

Advice find_advice(EventSource& source, const Scenario& scenario, const AdviceSettings& settings,
                   const ReplayOptions& options) {
  const TraceDefinitions& trace = source.definitions();
  const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
  CriticalPath path(trace);
  CallProfile seen(trace, {});
  std::vector<Observer<1>*> observers = {&path};
  const Placement placement = scenario.placement.place(recorded);
  const bool may_move = scenario.basis == Basis::kModel && scenario.base != "perfect" &&
                        placement.nodes() > 1 && placement.nodes() < trace.ranks() &&
                        trace.ranks() <= kMostMappedRanks && !names_nodes(scenario);
  if (may_move) observers.push_back(&seen);
  Study study(source, options);
  Results results = study.observe(scenario, observers, true);
  const ScenarioResult& run = results.scenarios[0];
  if (!(run.elapsed > 0)) throw InputError("the run takes no time on this machine");
  const PathSums sums = path.find();

  Advice advice;
  advice.elapsed = run.elapsed;
  const double compute = compute_of(run);
  int timelines = 0;
  for (const RankResult& rank : run.ranks) timelines += rank.threads;
  if (timelines > 0) advice.compute_share = compute / (timelines * run.elapsed);
  if (!settings.tries) {
    advice.run = std::move(results);
    return advice;
  }
  const BaseRun base{&scenario, &results, &sums, trace.ticks_per_second, placement};
  CandidateLimits limits;
  limits.functions = std::min(settings.most, kMostFunctions - scenario.functions.size());
  limits.shares_passes = !scenario.platform.contention.model;
  Candidates candidates = CandidateFinder(base, limits, settings.parse).find();
  if (may_move) {
    std::optional<Candidate> moved = mapped(base, seen, trace, settings, advice.hosts);
    if (moved) candidates.list.push_back(std::move(*moved));
  }
  advice.functions_left_out = candidates.functions_left_out;
  advice.tried = replay_all(study, std::move(candidates.list), compute);
  std::stable_sort(advice.tried.begin(), advice.tried.end(),
                   [](const TriedCandidate& a, const TriedCandidate& b) {
                     return std::pair(!a.deadlock.empty(), a.elapsed) <
                            std::pair(!b.deadlock.empty(), b.elapsed);
                   });
  find_savings(study, scenario, limits.shares_passes ? kMostIntervals : kMostIntervalsAlone,
               options.subtracted(trace.overhead), results.functions, advice);
  advice.run = std::move(results);
  return advice;
}

}  // namespace rubato
