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
// neighbours. Calls that talk to nobody may stand between two polls, and are part of the loop; or
// behind the last one, as MPI_Get_count does, and keep their time. Any other call of MPI ends the
// run. So does work between two of its calls, or in one that is no poll: more than ten times what a
// poll of this run takes (the median), or a function of the program. What stood before the work was
// a look now and then, not a wait.
//
// MPI_Probe and MPI_Mprobe wait themselves. Where a receive follows, with nothing but such local
// calls between, the wait is left to the receive: it comes as late, and what the program does
// between the two keeps its time.
//
// Whether the replay takes them as a wait or not, such polls looked in vain for what the call
// behind the run gets, if they are of its kind: tests before a test, probes before a receive. On
// another machine it may have been there (outcomes.h).

#include <functional>
#include <span>
#include <string_view>

#include "replay/operation.h"

namespace rubato {

/// True of MPI_Probe and MPI_Mprobe (`call` as mpi_call_name() has it).
bool awaits_message(std::string_view call);

using IsPoll = std::function<bool(const Call&)>;

/// Marks (Call::spinning) what was spinning in `run`: polls, calls that talk to nobody, and the
/// call behind them that got what they looked for.
void mark_spinning(std::span<Call> run, const IsPoll& is_poll);

/// Marks what looked for the same in such a run: `is_same_kind` says it of an index into
/// TraceDefinitions::calls. `probed`: the last one of this kind is a probe that found what the call
/// behind the run receives.
template <typename IsSameKind>
void mark_looks(std::span<Call> run, bool probed, IsSameKind is_same_kind) {
  for (Call& poll : run.first(run.size() - 1)) {
    if (!(poll.spinning & kNamesTests) && is_same_kind(poll.name)) poll.spinning |= kInVain;
  }
  if (probed) {
    size_t last = run.size() - 2;
    while (!is_same_kind(run[last].name)) --last;
    run[last].spinning = static_cast<uint8_t>((run[last].spinning & ~kInVain) | kFound);
  }
  run.back().spinning |= kLookedFor;
}

}  // namespace rubato
