#pragma once

#include "replay/observe/results.h"
#include "replay/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What the mean rank had no core for, as a part of its time in "measured"; 0 without "measured".
double lost_share(const Results& results);

/// True where so little was lost that "undisturbed", which does without it, tells what the network
/// costs. (Of larger losses some stays in: CP2K beside two busy programs 1.77 s, alone 1.40 s.)
bool is_told_by_undisturbed(const Results& results);

/// Replays "undisturbed" for Results::undisturbed, where ranks lost cores and it was not asked for.
void find_undisturbed(EventSource& source, Results& results, ReplayOptions options);

/// True where more was lost than a verdict on "measured" can pass over.
bool lost_cores(const Results& results);

}  // namespace rubato
