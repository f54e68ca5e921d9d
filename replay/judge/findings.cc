#include "replay/judge/findings.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "models/base/error.h"
#include "models/collective/collectives.h"
#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"

namespace rubato {
namespace {

constexpr double kMainPart = 0.5;
constexpr double kMuch = 0.25;
constexpr double kLeastGain = 0.01;  ///< of the elapsed time

/// The function that accounts for more than half of the seconds `all` that a rank computes beyond
/// the mean; "" if there is none.
std::string excess_function(const Results& results, int rank, double all) {
  const FunctionResult* most = nullptr;
  double largest = 0;
  for (const FunctionResult& function : results.functions) {
    double sum = 0;
    for (const double seconds : function.compute) sum += seconds;
    const double excess =
        function.compute[rank] - sum / static_cast<double>(function.compute.size());
    if (excess <= largest) continue;
    largest = excess;
    most = &function;
  }
  return most && largest > kMainPart * all ? most->place : "";
}

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

/// True for `measured` if tracing between calls makes up most of its time beyond `perfect`: the
/// compute of `perfect` is smaller by that time.
bool is_most_recording(const Roles& roles, const ScenarioResult& scenario) {
  const double outside =
      mean(scenario.ranks, &RankResult::compute) - mean(roles.perfect->ranks, &RankResult::compute);
  return &scenario == roles.measured &&
         outside > kMainPart * (scenario.elapsed - roles.perfect->elapsed);
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

/// What is found of one factor.
Finding finding_of(FindingKind kind, double factor, const ScenarioResult& scenario) {
  Finding finding;
  finding.kind = kind;
  finding.saves = (1 - factor) * scenario.elapsed;
  return finding;
}

Finding of_transfer(const Roles& roles, const JudgedEfficiency& judged,
                    const std::string& platforms) {
  const ScenarioResult& scenario = *judged.scenario;
  const bool talks = communicates(*roles.results);
  const FindingKind kind = !talks                        ? FindingKind::kTracing
                           : &scenario == roles.measured ? FindingKind::kMessagesAndTracing
                                                         : FindingKind::kMessages;
  Finding finding = finding_of(kind, judged.factors.transfer, scenario);
  finding.seconds = scenario.elapsed - roles.perfect->elapsed;
  finding.mostly_tracing = is_most_recording(roles, scenario);
  if (finding.mostly_tracing) {
    finding.scenarios = {"undisturbed"};
  } else {
    find_slowest_call(roles, scenario, finding);
    if (talks) finding.scenarios = other_networks(roles, platforms);
  }
  return finding;
}

Finding of_load_balance(const Roles& roles, const JudgedEfficiency& judged) {
  const Efficiency& e = judged.factors;
  const std::vector<RankResult>& ranks = roles.perfect->ranks;
  Finding finding = finding_of(FindingKind::kUnequalWork, e.load_balance, *judged.scenario);
  finding.rank = e.busiest;
  finding.share = 1 / e.load_balance - 1;
  finding.function = excess_function(*roles.results, e.busiest,
                                     ranks[e.busiest].compute - mean(ranks, &RankResult::compute));
  std::array<char, 64> change{};
  std::snprintf(change.data(), change.size(), ":rank%d.cpu*%.2f", e.busiest, 1 / e.load_balance);
  finding.scenarios = {judged.scenario->base + change.data()};
  return finding;
}

Finding of_serialisation(const Roles& roles, const JudgedEfficiency& judged) {
  const auto found = [&](FindingKind kind) {
    return finding_of(kind, judged.factors.serialisation, *judged.scenario);
  };
  switch (serialiser_of(roles, judged.factors)) {
    case Serialiser::kKeptCalls: {
      Finding finding = found(FindingKind::kKeptCalls);
      finding.seconds = kept_time(roles);
      return finding;
    }
    case Serialiser::kApart: {
      Finding finding = found(FindingKind::kApart);
      finding.seconds = time_apart(roles);
      return finding;
    }
    case Serialiser::kTurns:
      break;
  }
  Finding finding = found(FindingKind::kChains);
  if (!roles.results->root_cause) return finding;
  const RootCause& root = *roles.results->root_cause;
  finding.call = root.call;
  // A rank is named only if its share clearly exceeds that of the mean rank.
  if (root.share < std::max(kMuch, 1.5 / static_cast<double>(roles.perfect->ranks.size())))
    return finding;
  finding.rank = root.rank;
  finding.share = root.share;
  finding.function = root.function;
  return finding;
}

}  // namespace

Judgement judge(const Roles& roles, const std::string& platforms) {
  Judgement judgement;
  judgement.efficiency = judged_efficiency(roles);
  if (!judgement.efficiency) return judgement;
  const JudgedEfficiency& judged = *judgement.efficiency;
  const Efficiency& e = judged.factors;
  const Finding transfer = of_transfer(roles, judged, platforms);
  const Finding load_balance = of_load_balance(roles, judged);
  const Finding serialisation = of_serialisation(roles, judged);
  if (const double least = e.least(); least < kGoodEfficiency) {
    judgement.main_cause = least == e.load_balance    ? load_balance
                           : least == e.serialisation ? serialisation
                                                      : transfer;
  }
  if (judged.without_lost_cores) return judgement;
  const auto add = [&](const Finding& finding, double factor) {
    if (1 - factor >= kLeastGain) judgement.cures.push_back(finding);
  };
  add(transfer, e.transfer);
  add(load_balance, e.load_balance);
  add(serialisation, e.serialisation);
  std::stable_sort(judgement.cures.begin(), judgement.cures.end(),
                   [](const Finding& a, const Finding& b) { return a.saves > b.saves; });
  return judgement;
}

bool communicates(const Results& results) {
  const auto has_messages = [](const ScenarioResult& scenario) {
    return std::any_of(scenario.traffic.begin(), scenario.traffic.end(),
                       [](const LevelTraffic& level) { return level.messages > 0; });
  };
  const auto is_between_ranks = [](const CollectiveUse& use) {
    return use.members > 1 && use.operation != name_of(CollectiveOp::kDestroyHandle);
  };
  return std::any_of(
      results.scenarios.begin(), results.scenarios.end(), [&](const ScenarioResult& scenario) {
        return has_messages(scenario) || std::any_of(scenario.collectives.begin(),
                                                     scenario.collectives.end(), is_between_ranks);
      });
}

}  // namespace rubato
