#include "tools/analysis/lost_cores.h"

#include "models/scenario/scenario.h"
#include "replay/study/run_replay.h"
#include "tools/analysis/caveats.h"
#include "tools/analysis/other_rows.h"
#include "tools/analysis/warnings.h"

namespace rubato {
namespace {

// Shares of the ranks' time.
constexpr double kMostLost = 0.02;
constexpr double kMostTold = 0.1;

}  // namespace

double lost_share(const Results& results) {
  const ScenarioResult* measured = scenario_named(results, "measured");
  if (!measured || measured->ranks.empty()) return 0;
  const double window = mean_window(measured->ranks);
  return window > 0 ? mean(measured->ranks, &RankResult::lost_core) / window : 0;
}

bool lost_cores(const Results& results) {
  return lost_share(results) > kMostLost;
}

bool lacks_cores(const Results& results) {
  if (!scenario_named(results, "measured")) return false;
  if (results.trace.shared_cores || lost_share(results) > kMostTold) return true;
  if (!lost_cores(results)) return false;
  const ScenarioResult* undisturbed = scenario_named(results, "undisturbed");
  return !undisturbed || mean(undisturbed->ranks, &RankResult::lost_core) > 0;
}

bool needs_undisturbed(const Results& results, const ReplayOptions& options) {
  return lost_cores(results) && lost_share(results) <= kMostTold && !options.keep_stolen &&
         !results.trace.shared_cores && !has_unsynchronised_clocks(results.trace) &&
         scenario_named(results, "perfect") && !scenario_named(results, "undisturbed");
}

void find_undisturbed(EventSource& source, Results& results, ReplayOptions options) {
  if (!needs_undisturbed(results, options)) return;
  options.observers.clear();
  options.verify = false;
  options.total_functions = false;
  Results again = run_replay(source, {parse_scenario("undisturbed")}, options);
  results.undisturbed = std::move(again.scenarios.front());
}

}  // namespace rubato
