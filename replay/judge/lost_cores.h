#pragma once

#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The share of its time in "measured" for which the mean rank was descheduled; 0 without
/// "measured".
double lost_share(const Roles& roles);
inline constexpr double kMostLostTold = 0.1;  ///< beyond it nothing is concluded

/// True if that share is over 2 %, too much for a verdict on "measured".
bool lost_cores(const Roles& roles);

/// True if ranks waited for cores so long that the cost of the network is unknown: they shared
/// cores, were descheduled for more than 10 % of the time, or for more than 2 % without a replay of
/// "undisturbed" that excludes this time, or there is an implausible_cost(). ("undisturbed" removes
/// larger losses only in part: CP2K beside two busy programs 1.77 s, alone 1.40 s.) False without
/// "measured".
bool lacks_cores(const Roles& roles);

/// True if ratios and findings need a replay of "undisturbed", to separate lost cores from the
/// network: the lost share is above 2 %, and "undisturbed" is not among the scenarios.
bool needs_undisturbed(const Roles& roles, const ReplayOptions& options);

/// If needs_undisturbed(), replays it and appends it to Results::scenarios.
void find_undisturbed(EventSource& source, Results& results, ReplayOptions options);

}  // namespace rubato
