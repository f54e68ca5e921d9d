#include "replay/judge/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "models/base/error.h"
#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/blame.h"
#include "replay/judge/lost_cores.h"
#include "replay/judge/lost_time.h"

namespace rubato {
namespace {

constexpr double kMainPart = 0.5;
constexpr double kMuch = 0.25;
constexpr double kLeastGain = 0.01;  ///< of the elapsed time

/// Sets the call that accounts for most of the time beyond `perfect`, summed over ranks.
void find_slowest_call(const Roles& roles, const ScenarioResult& scenario, Finding& finding) {
  const std::vector<std::string>& names = roles.results->calls;
  const auto totals = [](const ScenarioResult& of, size_t rank, size_t call) {
    return call < of.ranks[rank].calls.size() ? of.ranks[rank].calls[call] : CallTotals{};
  };
  double largest = 0;
  for (size_t call = 0; call < names.size(); ++call) {
    if (outside_elapsed(names[call])) continue;
    double longer = 0;
    uint64_t count = 0;
    for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
      const CallTotals here = totals(scenario, rank, call);
      longer += here.time - totals(*roles.perfect, rank, call).time;
      count += here.calls;
    }
    if (longer <= largest) continue;
    largest = longer;
    finding.call = names[call];
    finding.calls = count;
  }
  const double all =
      static_cast<double>(scenario.ranks.size()) * (scenario.elapsed - roles.perfect->elapsed);
  if (!(largest > kMainPart * all)) finding.call = "";
}

/// How often all ranks make a call.
uint64_t calls_of(const Results& results, const ScenarioResult& scenario, const std::string& call) {
  const auto at = std::find(results.calls.begin(), results.calls.end(), call);
  if (at == results.calls.end()) return 0;
  const auto number = static_cast<size_t>(at - results.calls.begin());
  uint64_t count = 0;
  for (const RankResult& rank : scenario.ranks)
    count += number < rank.calls.size() ? rank.calls[number].calls : 0;
  return count;
}

/// Scenarios that compare latency and bandwidth on the platform of the run, or a built-in network
/// if there is none.
std::vector<std::string> other_networks(const Roles& roles, const std::string& platforms) {
  std::vector<std::string> scenarios;
  if (const ScenarioResult* platform = roles.platform) {
    const auto acts = [&](const char* change) {
      try {
        return has_effect(
            parse_scenario(scenario_text(platform->base, platform->changes), platforms), change);
      } catch (const InputError&) {
        return true;  // the platform file was removed
      }
    };
    for (const char* change : {"latency/2", "bandwidth*2"}) {
      if (!acts(change)) continue;
      std::vector<std::string> changes = platform->changes;
      changes.emplace_back(change);
      scenarios.push_back(scenario_text(platform->base, changes));
    }
  }
  if (scenarios.empty())
    scenarios = {roles.results->trace.nodes == 1 ? "infiniband-hdr:ppn=1" : "infiniband-hdr"};
  return scenarios;
}

Finding finding_of(FindingKind kind, double seconds) {
  Finding finding;
  finding.kind = kind;
  finding.seconds = seconds;
  return finding;
}

/// Sets the number of messages and their mean size.
void count_messages(const ScenarioResult& scenario, Finding& finding) {
  uint64_t bytes = 0;
  for (const LevelTraffic& level : scenario.traffic) {
    finding.messages += level.messages;
    bytes += level.bytes;
  }
  if (finding.messages > 0) finding.bytes = bytes / finding.messages;
}

/// Sets the function, and the number and size of its messages; else, or if it sends none, of all
/// messages of the run. After the call, if there is one.
void name_messages(const ScenarioResult& scenario, const std::optional<CostlyFunction>& function,
                   Finding& finding) {
  if (function && function->share > kMainPart && function->call == finding.call) {
    finding.function = function->function;
    finding.callers = function->callers;
    finding.messages = function->messages;
    if (finding.messages > 0) finding.bytes = function->bytes / finding.messages;
  }
  if (!finding.call.empty() && !is_of_messages(finding.call))
    finding.messages = finding.bytes = 0;
  else if (finding.messages == 0) {
    count_messages(scenario, finding);
    finding.of_run = finding.messages > 0 && !finding.function.empty();
  }
}

Finding of_messages(const Roles& roles, const Diagnosis& diagnosis, double seconds,
                    const std::string& platforms) {
  Finding finding = finding_of(FindingKind::kMessages, seconds);
  find_slowest_call(roles, *roles.judged, finding);
  name_messages(*roles.judged, diagnosis.function, finding);
  if (finding.messages > 0 && static_cast<double>(finding.bytes) <= kSmallMessage)
    finding.kind = FindingKind::kSmallMessages;
  finding.scenarios = other_networks(roles, platforms);
  return finding;
}

Finding of_imbalance(const Roles& roles, const Efficiency& e, double seconds) {
  const std::vector<RankResult>& ranks = roles.perfect->ranks;
  Finding finding = finding_of(FindingKind::kLoadImbalance, seconds);
  finding.rank = e.busiest;
  finding.share = 1 / e.load_balance - 1;
  if (const auto blamed = blame(*roles.results, e.busiest,
                                ranks[e.busiest].compute - mean(ranks, &RankResult::compute))) {
    finding.function = blamed->function;
    finding.callers = blamed->callers;
  }
  std::array<char, 64> change{};
  std::snprintf(change.data(), change.size(), ":rank%d.cpu*%.2f", e.busiest, 1 / e.load_balance);
  finding.scenarios = {roles.judged->base + change.data()};
  return finding;
}

/// Of the MPI calls that work by themselves, with the call that has more than half of that time.
Finding of_own_work(const Roles& roles, double seconds) {
  Finding finding = finding_of(FindingKind::kOwnWork, seconds);
  const std::vector<std::string>& names = roles.results->calls;
  double all = 0, most = 0;
  for (size_t call = 0; call < names.size(); ++call) {
    double own = 0;
    for (const RankResult& rank : roles.perfect->ranks)
      own += call < rank.calls.size() ? rank.calls[call].own_work : 0;
    all += own;
    if (own <= most) continue;
    most = own;
    finding.call = names[call];
  }
  if (!(most > kMainPart * all)) finding.call = "";
  finding.calls = calls_of(*roles.results, *roles.perfect, finding.call);
  for (const auto& [place, worked] : roles.perfect->callbacks) {
    const std::vector<std::string>& callbacks = roles.results->trace.callbacks;
    if (worked > kMainPart * all && place.second < callbacks.size())
      finding.function = callbacks[place.second];
  }
  return finding;
}

/// Names the call with most of the kept time, if it has more than half of it.
void name_kept_call(const std::vector<KeptCall>& kept, Finding& finding) {
  double all = 0;
  for (const KeptCall& call : kept) all += call.time;
  for (const KeptCall& call : kept) {
    if (!(call.time > kMainPart * all)) continue;
    finding.call = call.call;
    finding.calls = call.count;
  }
}

/// A rank is named only if its share clearly exceeds that of the mean rank.
bool stands_out(double share, const Roles& roles) {
  return share >= std::max(kMuch, 1.5 / static_cast<double>(roles.perfect->ranks.size()));
}

FindingKind kind_of(const Diagnosis::Waits& waits, bool one_rank) {
  switch (waits.pattern) {
    case WaitPattern::kBarrier:
    case WaitPattern::kAllToAll:
    case WaitPattern::kFence:
      return FindingKind::kSynchronisation;
    case WaitPattern::kLateBroadcast:
      return FindingKind::kLateRoot;
    case WaitPattern::kLateReceiver:
      return FindingKind::kLateReceiver;
    default:
      return one_rank ? FindingKind::kLateSender : FindingKind::kChains;
  }
}

Finding of_waits(const Roles& roles, FindingKind kind, const Diagnosis::Waits& waits,
                 double seconds) {
  Finding finding = finding_of(kind, seconds);
  finding.call = waits.call;
  finding.path = waits.path;
  if (stands_out(waits.rank_share, roles)) {
    finding.rank = waits.rank;
    finding.share = waits.rank_share;
    finding.function = waits.function;
    finding.callers = callers_of(*roles.results, waits.rank, waits.function);
  }
  return finding;
}

/// Dependency chains, by the call that waits.
std::vector<Finding> of_chains(const Roles& roles, const Diagnosis& diagnosis, double seconds) {
  if (diagnosis.waits.empty()) return {finding_of(FindingKind::kChains, seconds)};
  std::vector<Finding> findings;
  for (const Diagnosis::Waits& waits : diagnosis.waits) {
    const FindingKind kind = kind_of(waits, stands_out(waits.rank_share, roles));
    findings.push_back(of_waits(roles, kind, waits, waits.share * seconds));
  }
  return findings;
}

Finding of_late_receivers(const Roles& roles, const Diagnosis& diagnosis, double seconds) {
  if (!diagnosis.late_receivers) return finding_of(FindingKind::kLateReceiver, seconds);
  return of_waits(roles, FindingKind::kLateReceiver, *diagnosis.late_receivers, seconds);
}

/// Half the interval of a finding's cost; none if the errors of `perfect` are not known.
std::optional<double> half_of(const Finding& finding, const Roles& roles,
                              const Intervals& intervals) {
  const auto number = static_cast<size_t>(roles.perfect - roles.results->scenarios.data());
  if (number >= intervals.size() || !intervals[number]) return {};
  const ElapsedInterval& perfect = *intervals[number];
  switch (finding.kind) {
    case FindingKind::kLostCores:
    case FindingKind::kTracing:
    case FindingKind::kSmallMessages:
    case FindingKind::kMessages:
      return std::hypot(perfect.overhead, perfect.losses);
    default:
      return finding.seconds * (perfect.high - perfect.low) / 2 / roles.perfect->elapsed;
  }
}

bool is_of_network(FindingKind kind) {
  return kind == FindingKind::kMessages || kind == FindingKind::kSmallMessages;
}

/// What the network of a platform costs, by property.
std::vector<Finding> of_network(const Roles& roles, const NetworkCosts& network) {
  const std::vector<ScenarioResult>& all = roles.results->scenarios;
  const ScenarioResult& platform = *std::find_if(
      all.begin(), all.end(),
      [&](const ScenarioResult& scenario) { return scenario.name == network.scenario; });
  std::vector<Finding> findings;
  for (const NetworkCosts::Cost& cost : network.costs) {
    if (!counts(cost, network.elapsed)) continue;
    Finding& finding = findings.emplace_back();
    finding.kind = static_cast<FindingKind>(static_cast<int>(FindingKind::kLatency) +
                                            static_cast<int>(cost.property));
    finding.seconds = cost.seconds;
    finding.half = cost.half;
    finding.call = cost.call;
    finding.calls = calls_of(*roles.results, platform, cost.call);
    name_messages(platform, network.function, finding);
    if (cost.changes.empty()) continue;
    std::vector<std::string> changes = platform.changes;
    changes.insert(changes.end(), cost.changes.begin(), cost.changes.end());
    finding.scenarios = {scenario_text(platform.base, changes)};
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.seconds > b.seconds; });
  return findings;
}

}  // namespace

Judgement judge(const Roles& roles, const Diagnosis& diagnosis, const std::string& platforms,
                const Intervals& intervals) {
  Judgement judgement;
  judgement.efficiency = judged_efficiency(roles);
  judgement.is_alone = is_alone(*roles.results);
  if (diagnosis.network) {
    judgement.on_platform = of_network(roles, *diagnosis.network);
    judgement.platform = diagnosis.network->scenario;
    judgement.platform_elapsed = diagnosis.network->elapsed;
  }
  const std::optional<LostTime> lost = lost_time(roles);
  if (!lost) return judgement;
  judgement.elapsed = lost->elapsed;
  std::vector<Finding>& findings = judgement.findings;
  const auto matters = [&](double seconds) { return seconds >= kLeastGain * lost->elapsed; };
  const auto add = [&](FindingKind kind, double seconds) {
    if (matters(seconds)) findings.push_back(finding_of(kind, seconds));
  };
  add(FindingKind::kLostCores, lost->lost_cores);
  if (matters(lost->messages))
    findings.push_back(of_messages(roles, diagnosis, lost->messages, platforms));
  if (matters(lost->late_receivers))
    findings.push_back(of_late_receivers(roles, diagnosis, lost->late_receivers));
  add(FindingKind::kTracing, lost->tracing);
  if (matters(lost->imbalance))
    findings.push_back(of_imbalance(roles, judgement.efficiency->factors, lost->imbalance));
  for (Finding& finding : of_chains(roles, diagnosis, lost->chains)) {
    if (matters(finding.seconds)) findings.push_back(std::move(finding));
  }
  if (matters(lost->own_work)) findings.push_back(of_own_work(roles, lost->own_work));
  add(FindingKind::kKeptCalls, lost->kept);
  add(FindingKind::kApart, lost->apart);
  for (Finding& finding : findings) {
    // (Answered by the findings on that platform.)
    const bool is_answered =
        !judgement.on_platform.empty() && judgement.platform == roles.platform->name;
    if (is_answered && is_of_network(finding.kind)) finding.scenarios = {};
    finding.half = half_of(finding, roles, intervals);
    if (finding.kind == FindingKind::kTracing) finding.scenarios = {"undisturbed"};
    if (finding.kind == FindingKind::kLostCores) finding.share = lost_share(roles);
    if (finding.kind == FindingKind::kKeptCalls) name_kept_call(roles.results->trace.kept, finding);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.seconds > b.seconds; });
  // What the machine took comes first: it is not a property of the program.
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::kLostCores;
  });
  return judgement;
}

}  // namespace rubato
