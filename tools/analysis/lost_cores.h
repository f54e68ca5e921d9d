#pragma once

#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What the mean rank had no core for, as a part of its time in "measured"; 0 without "measured".
double lost_share(const Results& results);

/// True where that is more than a verdict on "measured" can pass over: 2 %.
bool lost_cores(const Results& results);

/// True where ranks waited for cores so long that nothing tells what the network costs: they shared
/// cores, or lost more than 10 %, or more than 2 % and nobody replayed an "undisturbed" without
/// that time. (Of larger losses some stays in there: CP2K beside two busy programs 1.77 s, alone
/// 1.40 s.) False without "measured".
bool lacks_cores(const Results& results);

/// True where the headline needs "undisturbed", which was not asked for, to tell lost cores from
/// the network: of more than 2 and up to 10 % lost.
bool needs_undisturbed(const Results& results, const ReplayOptions& options);

/// Replays it for Results::undisturbed then.
void find_undisturbed(EventSource& source, Results& results, ReplayOptions options);

}  // namespace rubato
