#include "tools/analysis/efficiency.h"

#include <fmt/core.h>

#include <algorithm>

#include "models/collective/collectives.h"
#include "tools/analysis/caveats.h"
#include "tools/analysis/lost_cores.h"
#include "tools/analysis/other_rows.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

constexpr double kGood = 0.95;  ///< at or above this factor, little can be gained
constexpr double kMostOfIt = 0.5;
constexpr double kMuch = 0.25;

std::string percent(double factor) {
  return fmt::format("{:.{}f} %", 100 * factor, factor < 0.01 ? 1 : 0);
}

/// ", in solve (app.c:41)" if one function accounts for more than half of the seconds `all` that a
/// rank computes beyond the mean; else "".
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
  return most && largest > kMostOfIt * all ? ", in " + most->place : "";
}

/// ", most of it in MPI_Allreduce (2 calls)" if one call, or tracing between calls, accounts for
/// most of the time beyond `perfect`, summed over ranks; else "".
std::string slowest_part(const Results& results, const ScenarioResult& scenario,
                         const ScenarioResult& perfect) {
  if (is_most_recording(scenario, perfect)) return ", most of it tracing between calls";
  double largest = 0;
  size_t most = 0;
  uint64_t calls = 0;
  for (size_t call = 0; call < results.calls.size(); ++call) {
    if (outside_elapsed(results.calls[call])) continue;
    double longer = 0;
    uint64_t count = 0;
    for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
      longer += scenario.ranks[rank].calls[call].time - perfect.ranks[rank].calls[call].time;
      count += scenario.ranks[rank].calls[call].calls;
    }
    if (longer <= largest) continue;
    largest = longer;
    most = call;
    calls = count;
  }
  const double all =
      static_cast<double>(scenario.ranks.size()) * (scenario.elapsed - perfect.elapsed);
  if (!(largest > kMostOfIt * all)) return "";
  return fmt::format(", most of it in {} ({})", results.calls[most],
                     counted(calls, "call", "calls"));
}

/// Recorded seconds of the mean rank in kept calls.
double kept_time(const Results& results, const ScenarioResult& perfect) {
  double kept = 0;
  for (const KeptCall& call : results.trace.kept) kept += call.time;
  return kept / static_cast<double>(perfect.ranks.size());
}

/// Seconds of the mean rank before it begins and after it ends.
double time_apart(const ScenarioResult& perfect) {
  return mean(perfect.ranks, &RankResult::before) + mean(perfect.ranks, &RankResult::after);
}

/// The main cause of lost efficiency, in words.
std::string cause(const Efficiency& e, const Results& results, const ScenarioResult& scenario,
                  const ScenarioResult& perfect) {
  const double worst = std::min({e.load_balance, e.serialisation, e.transfer});
  if (worst >= kGood) return "little can be gained";
  if (worst == e.load_balance) {
    const double longer =
        perfect.ranks[e.busiest].compute - mean(perfect.ranks, &RankResult::compute);
    return fmt::format("rank {} computes {} longer than the mean rank{}", e.busiest,
                       percent(1 / e.load_balance - 1),
                       excess_function(results, e.busiest, longer));
  }
  if (worst == e.serialisation) {
    const Serialiser serialiser = serialiser_of(results, e);
    if (serialiser == Serialiser::kKeptCalls) {
      return fmt::format("calls kept as recorded take {} of the mean rank",
                         show_seconds(kept_time(results, perfect)));
    }
    if (serialiser == Serialiser::kApart) {
      return fmt::format("ranks begin or end at different times: the mean rank is inactive for {}",
                         show_seconds(time_apart(perfect)));
    }
    const std::string in_turn =
        "dependency chains between ranks cause waits even on a perfect interconnect";
    if (!results.root_cause) return in_turn;
    const RootCause& root = *results.root_cause;
    const std::string where = in_turn + ", mostly in " + root.call;
    // A rank is named only if its share clearly exceeds that of the mean rank.
    const double much = std::max(kMuch, 1.5 / static_cast<double>(perfect.ranks.size()));
    if (root.share < much) return where;
    const std::string in = root.function.empty() ? "" : ", most of it in " + root.function;
    return fmt::format("{}; rank {} is the root cause of {} of all waits{}", where, root.rank,
                       percent(root.share), in);
  }
  const std::string longer = show_seconds(scenario.elapsed - perfect.elapsed);
  if (!communicates(results)) return fmt::format("tracing takes {}", longer);
  return fmt::format("messages{} take {}{}", scenario.name == "measured" ? " and tracing" : "",
                     longer, slowest_part(results, scenario, perfect));
}

}  // namespace

namespace {

/// The factors, whether or not the recording can be trusted.
std::optional<Efficiency> factors(const Results& results, const ScenarioResult& scenario) {
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!perfect || !scenario.deadlock.empty() || perfect->ranks.empty()) return {};
  if (scenario.changes_compute || perfect->changes_compute) return {};
  if (results.trace.calling_threads > 0 || !(scenario.elapsed > 0)) return {};
  const auto by_compute = [](const RankResult& a, const RankResult& b) {
    return a.compute < b.compute;
  };
  const auto busiest = std::max_element(perfect->ranks.begin(), perfect->ranks.end(), by_compute);
  const double most = busiest->compute;
  if (!(most > 0) || mean(perfect->ranks, &RankResult::not_recorded) > 0) return {};
  Efficiency e;
  e.busiest = static_cast<int>(busiest - perfect->ranks.begin());
  // (The mean of equal numbers may be larger than each by the last bit.)
  e.load_balance = std::min(1.0, mean(perfect->ranks, &RankResult::compute) / most);
  e.serialisation = most / perfect->elapsed;
  e.transfer = perfect->elapsed / scenario.elapsed;
  return e;
}

/// The line for runs in which ranks lacked cores, from `perfect`, which excludes that time.
std::string line_of_perfect(const Results& results, const ScenarioResult& perfect) {
  const ScenarioResult* measured = scenario_named(results, "measured");
  if (!measured || !(mean(measured->ranks, &RankResult::lost_core) > 0)) return "";
  const std::optional<Efficiency> e = factors(results, perfect);
  if (!e) return "";
  return fmt::format(
      "Excluding that time, on a perfect interconnect: load balance {} × serialisation {}: {}.",
      percent(e->load_balance), percent(e->serialisation), cause(*e, results, perfect, perfect));
}

}  // namespace

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

bool is_most_recording(const ScenarioResult& scenario, const ScenarioResult& perfect) {
  const double outside =
      mean(scenario.ranks, &RankResult::compute) - mean(perfect.ranks, &RankResult::compute);
  return scenario.name == "measured" && outside > kMostOfIt * (scenario.elapsed - perfect.elapsed);
}

std::optional<Efficiency> efficiency(const Results& results, const ScenarioResult& scenario) {
  if (results.trace.shared_cores || is_unexplained(results)) return {};
  return factors(results, scenario);
}

const ScenarioResult* run_of_interest(const Results& results) {
  const ScenarioResult* undisturbed = scenario_named(results, "undisturbed");
  return undisturbed ? undisturbed : scenario_named(results, "measured");
}

Serialiser serialiser_of(const Results& results, const Efficiency& e) {
  const ScenarioResult& perfect = *scenario_named(results, "perfect");
  // The time of `perfect` beyond the longest compute need not be waiting.
  const double beyond = (1 - e.serialisation) * perfect.elapsed;
  if (kept_time(results, perfect) > kMostOfIt * beyond) return Serialiser::kKeptCalls;
  if (time_apart(perfect) > kMostOfIt * beyond) return Serialiser::kApart;
  return Serialiser::kTurns;
}

bool waits_in_turn(const Results& results) {
  const ScenarioResult* scenario = run_of_interest(results);
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!scenario || !perfect) return false;
  const std::optional<Efficiency> e = factors(results, lacks_cores(results) ? *perfect : *scenario);
  return e && e->serialisation < kGood &&
         e->serialisation <= std::min(e->load_balance, e->transfer) &&
         serialiser_of(results, *e) == Serialiser::kTurns;
}

std::string efficiency_line(const Results& results) {
  const ScenarioResult* scenario = run_of_interest(results);
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!scenario || !perfect) return "";
  const std::optional<Efficiency> e = efficiency(results, *scenario);
  if (!e) return lacks_cores(results) ? line_of_perfect(results, *perfect) : "";
  return fmt::format(
      "Parallel efficiency {} = load balance {} × serialisation {} × transfer {}: {}.",
      percent(e->parallel()), percent(e->load_balance), percent(e->serialisation),
      percent(e->transfer), cause(*e, results, *scenario, *perfect));
}

}  // namespace rubato
