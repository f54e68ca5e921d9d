#pragma once

// Which calls were only spinning.
//
// A program that calls MPI_Test until it succeeds waits, and spends its time in calls that find
// nothing and in the way from one to the next. How often it looked depends on the machine: replayed
// as it stands, such a loop takes as long on any network. So where a run of polls ends with what
// was looked for, it is taken as one wait that begins with the first one (`--polling keep`: as it
// stands). Measured scenarios keep every call in any case.
//
// A poll is an MPI_Test (MPI_Testany, ...) or MPI_Request_get_status that completes nothing, or an
// MPI_Iprobe or MPI_Improbe, of which archives do not say whether it found something: of them the
// last one before a receive did. Polls for different requests are one run, as in a loop over
// neighbours. Any other call of MPI ends it. So does work between two of its calls: more than ten
// times what a poll of this run takes (the median), or a function of the program. What stood before
// the work was a look now and then, not a wait.

#include <span>

#include "replay/operation.h"

namespace rubato {

/// Marks (Call::spinning) what was spinning in `run`: polls, and the call behind them that got what
/// they looked for.
void mark_spinning(std::span<Call> run);

}  // namespace rubato
