#pragma once

// Recognises calls that only spin.
//
// A program that calls MPI_Test until it succeeds is waiting: its time is spent in calls that find
// nothing and in the gaps between them. The number of polls depends on the machine. Replayed call
// by call, such a loop would take the same time on any network. So a run of polls that ends with
// success counts as one wait that begins with the first poll (`--polling keep`: call by call).
// Measured scenarios keep every call.
//
// A poll is an MPI_Test (MPI_Testany, ...) or MPI_Request_get_status that completes nothing, or an
// MPI_Iprobe or MPI_Improbe that finds nothing. A probe that finds a message ends its run as a
// successful test does: it depends on the send of this message (engine/probes.h). Our tracer
// records what a probe found. In other archives the last one before a receive found the message of
// that receive, and so did MPI_Probe and MPI_Mprobe, whatever calls with records lie in between; if
// a call without records does, it is unknown and the probe keeps its time. MPI_Request_get_status
// is known to have succeeded only by the call after it that completes a request.
//
// Polls for different requests are one run, as in a loop over neighbours. Local calls between two
// polls are part of the loop; after the last poll (MPI_Get_count) they keep their time. Any other
// MPI call ends the run. So does work between two of its calls, or in a call that is no poll: more
// than ten times the median poll of this run, or a function of the program. Polls before the work
// were occasional, and no wait.
//
// Interrupts are no work: a gap of up to a thousand median polls is an interrupt, as long as such
// gaps take no more than a tenth of the polled time. Lost cores and flushes of the tracer are no
// work either, because they are not the program's. Where the wait takes another time, all of these
// are part of it.
//
// A loop that waits ends with what it looked for. So a run of tests that ends with another kind of
// test at its first try was given up: HPCC's RandomAccess calls MPI_Testany after each update of
// its table, a thousand times, until MPI_Test reports that its buffer may be refilled. The length
// of such a run is work and independent of the network, even if the next run of its kind happens to
// end with a message. If a location gives up a quarter of its unsuccessful tests by one call name,
// in runs of more than a few calls, that call is an occasional poll: from then on it keeps its time
// (GivenUp).
//
// The polls failed to find the result of the call that ends their run, if they are of its kind:
// tests before a test, probes before a probe. On another machine the result may have been available
// (outcomes.h).

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// True for MPI_Probe and MPI_Mprobe, which wait (`call` as given by mpi_call_name()).
bool awaits_message(std::string_view call);

using IsPoll = std::function<bool(const Call&)>;

/// Unsuccessful tests of one location by call name, and how many of them were in runs that were
/// given up.
class GivenUp {
 public:
  /// A run of polls ended with a successful test of name `ended_by`, or with another call
  /// (kNoName). Polls before the first one of that name were given up. Runs of a few calls do not
  /// count.
  void count(std::span<const Call> polls, uint16_t ended_by, const IsPoll& is_test);
  /// True when a quarter of the unsuccessful tests by this name were given up.
  bool is_look_now_and_then(uint16_t name) const;

  static constexpr uint16_t kNoName = 0xffff;

 private:
  struct Tests {
    uint16_t name;
    uint64_t all;
    uint64_t given_up;
  };
  std::vector<Tests> tests_;  ///< programs use few names of tests
};

/// The part of a run in which a poll of this name may have waited: from the first poll of the same
/// name on. Empty if there is none.
std::span<Call> polled_before(std::span<Call> polls, uint16_t name);

/// Marks (Call::spinning) the calls of `run` that were spinning: polls, local calls and losses, and
/// the call after them that obtained what they looked for.
void mark_spinning(std::span<Call> run, const IsPoll& is_poll);

/// Marks the polls of a run that looked for the same; `is_same_kind` takes an index into
/// TraceDefinitions::calls.
template <typename IsSameKind>
void mark_looks(std::span<Call> run, IsSameKind is_same_kind) {
  for (Call& poll : run.first(run.size() - 1)) {
    if (!(poll.spinning & kNamesTests) && is_same_kind(poll.name)) poll.spinning |= kInVain;
  }
  run.back().spinning |= kLookedFor;
}

}  // namespace rubato
