#include "replay/judge/lost_cores.h"

#include <utility>

#include "models/scenario/scenario.h"
#include "replay/analyse/other_rows.h"
#include "replay/judge/implausible_cost.h"
#include "replay/judge/notes.h"
#include "replay/study/run_replay.h"

namespace rubato {
namespace {

// Shares of the ranks' time.
constexpr double kMostLost = 0.02;

}  // namespace

double lost_share(const Roles& roles) {
  if (!roles.measured || roles.measured->ranks.empty()) return 0;
  const double window = mean_window(roles.measured->ranks);
  return window > 0 ? mean(roles.measured->ranks, &RankResult::lost_core) / window : 0;
}

bool lost_cores(const Roles& roles) {
  return lost_share(roles) > kMostLost;
}

bool lacks_cores(const Roles& roles) {
  if (!roles.measured) return false;
  if (roles.results->trace.shared_cores || lost_share(roles) > kMostLostTold) return true;
  if (implausible_cost(roles)) return true;
  if (!lost_cores(roles)) return false;
  return !roles.undisturbed || mean(roles.undisturbed->ranks, &RankResult::lost_core) > 0;
}

bool needs_undisturbed(const Roles& roles, const ReplayOptions& options) {
  const TraceSummary& trace = roles.results->trace;
  return lost_cores(roles) && !options.keep_stolen && !has_unsynchronised_clocks(trace) &&
         roles.perfect && !roles.undisturbed;
}

void find_undisturbed(EventSource& source, Results& results, ReplayOptions options) {
  if (!needs_undisturbed(results, options)) return;
  options.observers.clear();
  options.verify = false;
  options.total_functions = false;
  Results again = run_replay(source, {parse_scenario("undisturbed")}, options);
  results.scenarios.push_back(std::move(again.scenarios.front()));
}

}  // namespace rubato
