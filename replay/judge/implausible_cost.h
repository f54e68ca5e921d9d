#pragma once

#include <optional>

#include "replay/judge/roles.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

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

}  // namespace rubato
