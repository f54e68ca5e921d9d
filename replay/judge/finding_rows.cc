#include "replay/judge/finding_rows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "models/base/error.h"
#include "models/base/number_text.h"
#include "models/scenario/level_changes.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/blame.h"
#include "replay/judge/efficiency.h"
#include "replay/judge/findings.h"
#include "replay/judge/lost_cores.h"
#include "replay/run/contention_cost.h"
#include "replay/study/candidates.h"

namespace rubato {
namespace {

constexpr double kMainPart = 0.5;

// Costs, in seconds of elapsed time.

double lost_core_time(const Roles& roles) {
  if (!lost_cores(roles)) return 0;
  const std::vector<RankResult>& ranks = roles.measured->ranks;
  const double lost = mean(ranks, &RankResult::lost_core);
  if (!roles.undisturbed) return lost;
  // It takes less also without tracing; each lost second delays the end by one at most.
  return std::min(roles.measured->elapsed - roles.undisturbed->elapsed,
                  lost * static_cast<double>(ranks.size()));
}

double tracing_time(const Roles& roles) {
  if (roles.judged != roles.measured) return 0;
  return mean(roles.measured->ranks, &RankResult::compute) -
         mean(roles.perfect->ranks, &RankResult::compute);
}

double late_receiver_time(const Roles& roles) {
  const auto waits = [](const ScenarioResult& scenario) {
    double sum = 0;
    for (const RankResult& rank : scenario.ranks)
      sum += rank.waits[static_cast<int>(WaitKind::kLateReceiver)];
    return sum / static_cast<double>(scenario.ranks.size());
  };
  return waits(*roles.judged) - waits(*roles.perfect);
}

double own_work_time(const Roles& roles) {
  const int busiest = judged_efficiency(roles)->factors.busiest;
  return longest_work(*roles.perfect) - roles.perfect->ranks[busiest].compute;
}

double kept_time(const Roles& roles) {
  double kept = 0;
  for (const KeptCall& call : roles.results->trace.kept) kept += call.time;
  return kept / static_cast<double>(roles.perfect->ranks.size());
}

double time_apart(const Roles& roles) {
  return mean(roles.perfect->ranks, &RankResult::before) +
         mean(roles.perfect->ranks, &RankResult::after);
}

// Details.

void lost_core_details(const FindingContext& of, Finding& finding) {
  finding.share = lost_share(of.roles);
}

void tracing_details(const FindingContext&, Finding& finding) {
  finding.scenarios = {"undisturbed"};
}

/// Names the call with most of the time beyond `perfect`, summed over ranks.
void name_slowest_call(const Roles& roles, Finding& finding) {
  const std::vector<std::string>& names = roles.results->calls;
  std::vector<double> longer(names.size());
  for (size_t call = 0; call < names.size(); ++call) {
    if (outside_elapsed(names[call])) continue;
    const auto time = [&](const ScenarioResult& of, size_t rank) {
      return call < of.ranks[rank].calls.size() ? of.ranks[rank].calls[call].time : 0;
    };
    for (size_t rank = 0; rank < roles.judged->ranks.size(); ++rank)
      longer[call] += time(*roles.judged, rank) - time(*roles.perfect, rank);
  }
  const auto ranks = static_cast<double>(roles.judged->ranks.size());
  name_main_call(names, *roles.judged, longer,
                 ranks * (roles.judged->elapsed - roles.perfect->elapsed), finding);
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
    for (const char* change : {"latency/2", "bandwidth*2"})
      if (acts(change)) scenarios.push_back(with_changes(*platform, {change}));
  }
  if (scenarios.empty())
    scenarios = {roles.results->trace.nodes == 1 ? "infiniband-hdr:ppn=1" : "infiniband-hdr"};
  return scenarios;
}

void message_details(const FindingContext& of, Finding& finding) {
  name_slowest_call(of.roles, finding);
  name_messages(*of.roles.judged, of.diagnosis.function, finding);
  if (finding.messages > 0 && static_cast<double>(finding.bytes) <= kSmallMessage)
    finding.kind = FindingKind::kSmallMessages;
  const bool is_answered =
      !of.judgement.on_platform.empty() && of.judgement.platform == of.roles.platform->name;
  if (!is_answered) finding.scenarios = other_networks(of.roles, of.platforms);
}

void imbalance_details(const FindingContext& of, Finding& finding) {
  const Efficiency& e = of.judgement.efficiency->factors;
  const std::vector<RankResult>& ranks = of.roles.perfect->ranks;
  finding.rank = e.busiest;
  finding.share = 1 / e.load_balance - 1;
  if (const auto blamed = blame(*of.roles.results, e.busiest,
                                ranks[e.busiest].compute - mean(ranks, &RankResult::compute))) {
    finding.function = blamed->function;
    finding.callers = blamed->callers;
  }
  finding.scenarios = {with_changes(*of.roles.judged, balancing_changes(of.roles.judged->ranks))};
}

void own_work_details(const FindingContext& of, Finding& finding) {
  const Results& results = *of.roles.results;
  std::vector<double> own(results.calls.size());
  double all = 0;
  for (size_t call = 0; call < own.size(); ++call) {
    for (const RankResult& rank : of.roles.perfect->ranks)
      own[call] += call < rank.calls.size() ? rank.calls[call].own_work : 0;
    all += own[call];
  }
  name_main_call(results.calls, *of.roles.perfect, own, all, finding);
  for (const auto& [place, worked] : of.roles.perfect->callbacks) {
    if (worked > kMainPart * all && place.second < results.trace.callbacks.size())
      finding.function = results.trace.callbacks[place.second];
  }
}

void kept_details(const FindingContext& of, Finding& finding) {
  double all = 0;
  for (const KeptCall& call : of.roles.results->trace.kept) all += call.time;
  for (const KeptCall& call : of.roles.results->trace.kept) {
    if (!(call.time > kMainPart * all)) continue;
    finding.call = call.call;
    finding.calls = call.count;
  }
}

// Properties of a platform at their best.

bool remove_latency(Scenario& scenario) {
  bool any = false;
  for (int i = 0; i < kLevels; ++i) {
    auto& level = scenario.platform.levels[i];
    if (!level || level->transfer.empty() || i == static_cast<int>(Level::kSelf)) continue;
    const double latency = level->transfer(0);
    if (latency > 0) add_latency(*level, -latency);
    any = any || latency > 0;
  }
  auto& numbers = scenario.platform.contention.numbers;
  const auto links = numbers.find("link_latency");
  if (links == numbers.end() || !(links->second > 0)) return any;
  links->second = 0;
  return true;
}

bool divide(Scenario& scenario, const char* change) {
  if (!has_effect(scenario, change)) return false;
  scenario = changed(scenario, change);
  return true;
}

bool remove_overhead(Scenario& scenario) {
  return divide(scenario, "overhead/1e9");
}

bool remove_bandwidth(Scenario& scenario) {
  return divide(scenario, "bandwidth*1e9");
}

/// Collectives with a formula cost only their synchronisation.
bool remove_formulas(Scenario& scenario) {
  CollectiveModel& model = scenario.platform.collectives;
  if (model.pricing != CollectivePricing::kAnalytic) return false;  // they are not used
  bool any = false;
  for (OperationModel& operation : model.operations) {
    if (operation.formula.empty() || operation.perfect) continue;
    operation.perfect = true;
    any = true;
  }
  return any;
}

bool remove_contention(Scenario& scenario) {
  if (!has_shared_network(scenario, Placement())) return false;
  scenario.platform.contention.flows_alone = true;
  return true;
}

/// After contention.
bool remove_links(Scenario& scenario) {
  ContentionSetting& contention = scenario.platform.contention;
  if (!contention.flows_alone || !contention.model->has_own_links) return false;
  contention.set_model(nullptr);
  return true;
}

/// Data of rendezvous messages need not wait until a rank is inside MPI.
bool add_progress(Scenario& scenario) {
  bool any = false;
  for (auto& level : scenario.platform.levels) {
    if (!level) continue;
    for (ProtocolSegment& segment : level->protocols) {
      if (segment.protocol != Protocol::kPull && segment.protocol != Protocol::kPush) continue;
      segment.protocol = Protocol::kAsync;
      any = true;
    }
  }
  return any;
}

constexpr std::array<FindingRow, kFindingKinds> finding_rows() {
  using enum FindingKind;
  constexpr auto kBeside = &TimeTerms::beside;
  constexpr auto kImbalance = &TimeTerms::imbalance;
  constexpr auto kTermOfWaits = &TimeTerms::waits;
  constexpr auto kTransfer = &TimeTerms::transfer;
  return {{
      {kLostCores, "lost cores", {kBeside, lost_core_time, lost_core_details, true}},
      {kMessages, "messages", {kTransfer, nullptr, message_details, true}},
      {kSmallMessages, "small messages", {nullptr, nullptr, nullptr, true}},
      {kTracing, "tracing", {kTransfer, tracing_time, tracing_details, true}},
      {kLateReceiver, "late receiver", {kTransfer, late_receiver_time}},
      {kLoadImbalance, "load imbalance", {kImbalance, nullptr, imbalance_details}},
      {kChains, "dependency chains", {kTermOfWaits}},
      {kWaits, "waits"},
      {kNoPartner, "time without a partner"},
      {kLateRoot, "late root"},
      {kSynchronisation, "synchronisation"},
      {kLateSender, "late sender"},
      {kOwnWork, "own work", {kTermOfWaits, own_work_time, own_work_details}},
      {kKeptCalls, "kept calls", {kTermOfWaits, kept_time, kept_details}},
      {kApart, "different windows", {kTermOfWaits, time_apart}},
      {kLatency, "latency", {}, {remove_latency, "latency/2"}},
      {kOverhead, "overhead", {}, {remove_overhead, "overhead/2"}},
      {kFormulas, "formulas of collectives", {}, {remove_formulas}},
      {kPlacement, "placement"},  // (placement_candidates.h)
      // Contention and lack of progress take time only because transfers do: bandwidth is last.
      {kContention, "contention", {}, {remove_contention, "bandwidth*2", true}},
      {kLinks, "links", {}, {remove_links, nullptr, true}},
      {kProgress, "no progress", {}, {add_progress, nullptr, true}},
      {kBandwidth, "bandwidth", {}, {remove_bandwidth, "bandwidth*2", true}},
  }};
}

}  // namespace

constexpr std::array<FindingRow, kFindingKinds> kFindingRows = finding_rows();
static_assert(has_each_kind(kFindingRows));

std::optional<LostTime> lost_time(const Roles& roles) {
  const std::optional<JudgedEfficiency> judged = judged_efficiency(roles);
  if (!judged) return {};
  const ScenarioResult& run = *roles.judged;
  const ScenarioResult& perfect = *roles.perfect;
  const double longest = perfect.ranks[judged->factors.busiest].compute;
  TimeTerms left = {std::numeric_limits<double>::infinity(),
                    longest - mean(perfect.ranks, &RankResult::compute), perfect.elapsed - longest,
                    judged->without_lost_cores ? 0 : run.elapsed - perfect.elapsed};
  LostTime lost{run.elapsed};
  for (const FindingRow& row : kFindingRows) {
    if (!row.part.seconds) continue;
    double& term = left.*row.part.term;
    lost[row.kind] = std::clamp(row.part.seconds(roles), 0.0, std::max(0.0, term));
    term -= lost[row.kind];
  }
  for (const FindingRow& row : kFindingRows) {
    if (row.part.term && !row.part.seconds) lost[row.kind] = std::max(0.0, left.*row.part.term);
  }
  // (One rank has no messages that take time.)
  if (is_alone(*roles.results))
    lost[FindingKind::kTracing] += std::exchange(lost[FindingKind::kMessages], 0);
  return lost;
}

void name_main_call(const std::vector<std::string>& calls, const ScenarioResult& scenario,
                    const std::vector<double>& seconds, double all, Finding& finding) {
  constexpr size_t kMost = 3;
  constexpr double kLeastPart = 0.2;
  std::vector<size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t call) { return seconds[call]; });
  double sum = 0;
  size_t count = 0;
  while (count < std::min(kMost, order.size()) && !(sum > kMainPart * all && count == 1) &&
         seconds[order[count]] > kLeastPart * all)
    sum += seconds[order[count++]];
  if (count == 0 || !(sum > kMainPart * all)) return;
  order.resize(count);
  for (const size_t call : order) {
    const bool is_last = call == order.back();
    if (!finding.call.empty()) finding.call += is_last ? " and " : ", ";
    finding.call += calls[call];
    finding.of_messages = finding.of_messages || is_of_messages(calls[call]);
    for (const RankResult& rank : scenario.ranks)
      finding.calls += call < rank.calls.size() ? rank.calls[call].calls : 0;
  }
}

void name_messages(const ScenarioResult& scenario, const std::optional<CostlyFunction>& function,
                   Finding& finding) {
  uint64_t bytes = 0;
  if (function && function->share > kMainPart && function->call == finding.call) {
    finding.function = function->function;
    finding.callers = function->callers;
    finding.messages = function->messages;
    bytes = function->bytes;
  }
  if (!finding.call.empty() && !finding.of_messages) {
    finding.messages = 0;
  } else if (finding.messages == 0) {
    bytes = 0;
    for (const LevelTraffic& level : scenario.traffic) {
      finding.messages += level.messages;
      bytes += level.bytes;
    }
    finding.of_run = finding.messages > 0 && !finding.function.empty();
  }
  if (finding.messages > 0) finding.bytes = bytes / finding.messages;
}

std::string with_changes(const ScenarioResult& scenario, const std::vector<std::string>& more) {
  std::vector<std::string> changes = scenario.changes;
  changes.insert(changes.end(), more.begin(), more.end());
  return scenario_text(scenario.base, changes);
}

void sort_by_cost(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.seconds > b.seconds; });
}

}  // namespace rubato
