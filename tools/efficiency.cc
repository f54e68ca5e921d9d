#include "tools/efficiency.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/caveats.h"
#include "tools/numbers.h"
#include "tools/other_rows.h"

namespace rubato {
namespace {

constexpr double kGood = 0.95;  ///< a factor from which on there is nothing to gain
constexpr double kMostOfIt = 0.5;

std::string percent(double factor) {
  return fmt::format("{:.{}f} %", 100 * factor, factor < 0.01 ? 1 : 0);
}

/// What lowers the efficiency most.
std::string cause(const Efficiency& e, const TraceSummary& trace, const ScenarioResult& scenario,
                  const ScenarioResult& perfect) {
  const double worst = std::min({e.load_balance, e.serialisation, e.transfer});
  if (worst >= kGood) return "there is little to gain";
  if (worst == e.load_balance) {
    return fmt::format("rank {} computes {} longer than the mean rank", e.busiest,
                       percent(1 / e.load_balance - 1));
  }
  if (worst == e.serialisation) {
    // What perfect takes beyond the longest compute need not be waiting.
    const double beyond = (1 - e.serialisation) * perfect.elapsed;
    double kept = 0;
    for (const KeptCall& call : trace.kept) kept += call.time;
    kept /= static_cast<double>(perfect.ranks.size());
    if (kept > kMostOfIt * beyond) {
      return fmt::format("calls that keep their recorded time take {} of the mean rank",
                         show_seconds(kept));
    }
    const double apart =
        mean(perfect.ranks, &RankResult::before) + mean(perfect.ranks, &RankResult::after);
    if (apart > kMostOfIt * beyond) {
      return fmt::format("ranks begin or end apart: the mean one has {} before and after",
                         show_seconds(apart));
    }
    return "ranks wait for each other in turn, on a perfect interconnect as well";
  }
  return fmt::format("messages{} take {}", scenario.name == "measured" ? " and recording them" : "",
                     show_seconds(scenario.elapsed - perfect.elapsed));
}

}  // namespace

std::optional<Efficiency> efficiency(const Results& results, const ScenarioResult& scenario) {
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!perfect || !scenario.deadlock.empty() || perfect->ranks.empty()) return {};
  if (scenario.changes_compute || perfect->changes_compute) return {};
  if (results.trace.shared_cores || is_unexplained(results)) return {};
  if (results.trace.calling_threads > 0 || !(scenario.elapsed > 0)) return {};
  const auto by_compute = [](const RankResult& a, const RankResult& b) {
    return a.compute < b.compute;
  };
  const auto busiest = std::max_element(perfect->ranks.begin(), perfect->ranks.end(), by_compute);
  const double most = busiest->compute;
  if (!(most > 0) || mean(perfect->ranks, &RankResult::not_recorded) > 0) return {};
  Efficiency e;
  e.busiest = static_cast<int>(busiest - perfect->ranks.begin());
  e.load_balance = mean(perfect->ranks, &RankResult::compute) / most;
  e.serialisation = most / perfect->elapsed;
  e.transfer = perfect->elapsed / scenario.elapsed;
  return e;
}

const ScenarioResult* run_of_interest(const Results& results) {
  const ScenarioResult* undisturbed = scenario_named(results, "undisturbed");
  return undisturbed ? undisturbed : scenario_named(results, "measured");
}

std::string efficiency_line(const Results& results) {
  const ScenarioResult* scenario = run_of_interest(results);
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!scenario || !perfect) return "";
  const std::optional<Efficiency> e = efficiency(results, *scenario);
  if (!e) return "";
  return fmt::format(
      "Parallel efficiency {} = load balance {} × serialisation {} × transfer {}: {}.",
      percent(e->parallel()), percent(e->load_balance), percent(e->serialisation),
      percent(e->transfer), cause(*e, results.trace, *scenario, *perfect));
}

}  // namespace rubato
