#include "tools/efficiency.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tools/caveats.h"
#include "tools/numbers.h"
#include "tools/other_rows.h"

namespace rubato {
namespace {

constexpr double kGood = 0.95;         ///< a factor from which on there is nothing to gain
constexpr double kSameCompute = 1e-3;  ///< relative

bool follows_recording(const ScenarioResult& scenario) {
  return scenario.name == "measured" || scenario.name == "undisturbed";
}

std::string percent(double factor) {
  return fmt::format("{:.{}f} %", 100 * factor, factor < 0.01 ? 1 : 0);
}

/// What lowers the efficiency most.
std::string cause(const Efficiency& e, const ScenarioResult& scenario,
                  const ScenarioResult& perfect) {
  const double worst = std::min({e.load_balance, e.serialisation, e.transfer});
  if (worst >= kGood) return "there is little to gain";
  if (worst == e.load_balance) {
    return fmt::format("rank {} computes {} longer than the mean rank", e.busiest,
                       percent(1 / e.load_balance - 1));
  }
  if (worst == e.serialisation)
    return "ranks wait for each other in turn, on a perfect interconnect as well";
  return fmt::format("messages{} take {}", scenario.name == "measured" ? " and recording them" : "",
                     show_seconds(scenario.elapsed - perfect.elapsed));
}

}  // namespace

std::optional<Efficiency> efficiency(const Results& results, const ScenarioResult& scenario) {
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!perfect || !scenario.deadlock.empty() || perfect->ranks.empty()) return {};
  if (results.trace.calling_threads > 0 || !(scenario.elapsed > 0)) return {};
  const auto by_compute = [](const RankResult& a, const RankResult& b) {
    return a.compute < b.compute;
  };
  const auto busiest = std::max_element(perfect->ranks.begin(), perfect->ranks.end(), by_compute);
  const double most = busiest->compute;
  if (!(most > 0) || mean(perfect->ranks, &RankResult::not_recorded) > 0) return {};
  // What recording cost is compute in a recording; elsewhere another compute was asked for.
  if (!follows_recording(scenario)) {
    for (size_t rank = 0; rank < scenario.ranks.size(); ++rank) {
      const double expected = perfect->ranks[rank].compute;
      if (std::abs(scenario.ranks[rank].compute - expected) > kSameCompute * most) return {};
    }
  }
  Efficiency e;
  e.busiest = static_cast<int>(busiest - perfect->ranks.begin());
  e.load_balance = mean(perfect->ranks, &RankResult::compute) / most;
  e.serialisation = most / perfect->elapsed;
  e.transfer = perfect->elapsed / scenario.elapsed;
  return e;
}

std::string efficiency_line(const Results& results) {
  const ScenarioResult* scenario = scenario_named(results, "undisturbed");
  if (!scenario) scenario = scenario_named(results, "measured");
  const ScenarioResult* perfect = scenario_named(results, "perfect");
  if (!scenario || !perfect || results.trace.shared_cores || is_unexplained(results)) return "";
  const std::optional<Efficiency> e = efficiency(results, *scenario);
  if (!e) return "";
  return fmt::format(
      "Parallel efficiency {} = load balance {} × serialisation {} × transfer {}: {}.",
      percent(e->parallel()), percent(e->load_balance), percent(e->serialisation),
      percent(e->transfer), cause(*e, *scenario, *perfect));
}

}  // namespace rubato
