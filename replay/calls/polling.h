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
// a look now and then, not a wait. Between two polls the operating system may have been at work: a
// stretch of up to a thousand polls is none of the program's while such ones take no more than a
// tenth of what was polled. Nor are a lost core and a flush of the tracer, which a program does not
// see, work; on a machine where the wait takes another time they are a part of it.
//
// A loop that waits ends with what it looked for. So a run of tests that ends with another kind of
// test at its first try was given up: HPCC's RandomAccess calls MPI_Testany after each update of
// its table, a thousand times, until MPI_Test says that its buffer may be filled again. The length
// of such a run is work, and tells nothing of the network, also where the next one of its kind
// happens to end with a message. A location that gave up a quarter of what it tested in vain by
// calls of a name, in runs longer than a few, looks now and then with them: from there on these
// keep their time (GivenUp).
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
#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// True of MPI_Probe and MPI_Mprobe (`call` as mpi_call_name() has it).
bool awaits_message(std::string_view call);

using IsPoll = std::function<bool(const Call&)>;

/// Tests in vain of one location, by the name of their call: how many in runs that were given up.
class GivenUp {
 public:
  /// A run of polls ended, with a test of name `ended_by` that found something, or with another
  /// call (kNoName). What it was given up for are the polls before the first one of that name. Runs
  /// of a few calls tell nothing.
  void count(std::span<const Call> polls, uint16_t ended_by, const IsPoll& is_test);
  /// True where a good part of the tests by calls of this name were given up.
  bool is_look_now_and_then(uint16_t name) const;

  static constexpr uint16_t kNoName = 0xffff;

 private:
  struct Tests {
    uint16_t name;
    uint64_t all;
    uint64_t given_up;
  };
  std::vector<Tests> tests_;  ///< programs test by few names
};

/// The part of a run of polls that a test of this name may have waited in: from the first poll of
/// the same name on, as another one may stand between two of them. Empty where there is none.
std::span<Call> tested_before(std::span<Call> polls, uint16_t name);

/// Marks (Call::spinning) what was spinning in `run`: polls, calls that talk to nobody, and the
/// call behind them that got what they looked for. `ends_with_poll`: that is one of them, which
/// found it; what was lost before it was part of the wait.
void mark_spinning(std::span<Call> run, const IsPoll& is_poll, bool ends_with_poll);

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
