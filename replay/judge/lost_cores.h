#pragma once

#include <optional>

#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The share of its time in "measured" for which the mean rank was descheduled; 0 without
/// "measured".
double lost_share(const Roles& roles);

/// True if that share is over 2 %, too much for a verdict on "measured".
bool lost_cores(const Roles& roles);

/// Communication of the mean rank that took longer than any network does.
struct ImplausibleCost {
  double seconds = 0;    ///< in calls, beyond `perfect`; without waits for other ranks
  double plausible = 0;  ///< of the same messages and collectives on the slowest built-in platform
};
/// Set if communication took more than twice as long, and a tenth of the run: ranks shared cores,
/// or messages did not progress. None without `measured` and `perfect`, with a model of the
/// recorded machine, which tells more, and with clocks that were not synchronised. Without wait
/// states, T - T_p is compared with the communication of all ranks, one after another.
std::optional<ImplausibleCost> implausible_cost(const Roles& roles);

/// An estimate of the elapsed seconds if ranks had not lacked cores: those on a perfect
/// interconnect, and for each call of the mean rank the least recorded time, without waits, of a
/// call of its name and length. 0 if that is not clearly shorter than recorded. Replays `measured`.
/// Errors: as run_replay().
double elapsed_by_least_times(EventSource& source, const Roles& roles, ReplayOptions options);

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
