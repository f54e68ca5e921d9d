#pragma once

// One replay on many processes.
//
// A replay without contention is a network of deterministic processes: what a timeline does depends
// on what it waits for, and on nothing else, so that any order of running gives the same clocks. So
// the ranks are divided among processes (division.h). Each decodes and runs its own, all their
// threads included. What crosses is
//
//   send        route, length, times per lane              sender's process  -> receiver's
//   answer      posted, or skipped: to a sender that waits receiver's        -> sender's
//   members     of a collective, once all of a process are there: the latest enter per lane
//   root        of a collective in which others wait for it alone
//   member      one by one, where members wait for some of the others (scans, parts, two groups)
//
//   process 0  rank 0 ─send─┐          batch          ┌─▶ channel of rank 2 ─▶ rank 2   process 1
//              rank 1 ◀─────┼── answer ── · ── send ──┘                        rank 3
//                           └── members of the barrier ──────────────────▶
//
// Messages meet where they are received. There the channel is, as in a replay of one process; the
// sender keeps its side only while it waits for the answer. Prices are worked out on both sides
// from the same numbers, so they are equal bit for bit.
//
// Records are put in a batch for each other process, which goes when it is full, or when somebody
// may be waiting for it (team.h). All have come to rest when each is idle and, for any two, as many
// batches came in here as went out there (team.h). If some timeline is then blocked, a partner's
// records are missing, or it is a deadlock: what the main loop has remedies for (engine.h). These
// look at all timelines, so one process replays everything from the start. It does so, too, where
// something cannot be divided (one_process.h), or goes wrong: process 0 then finds the same and
// says the same as ever.
//
// Definitions tell of all ranks. So that they are read, and held, once a host, the first process of
// each host reads them, and the others see its lists (archive/host_definitions.h).
//
// All processes make the same passes. After each, what they found out is merged at process 0, or
// everywhere where later passes need it. Sums over ranks are of whole numbers, so their order does
// not show.
//
// A transport carries the batches: over MPI (mpi/mpi_transport.cc, a library that the command
// loads when mpirun has started it) or between threads of one process (memory_transport.h).

#include <cstddef>
#include <functional>
#include <vector>

#include "models/base/fixed_list.h"

namespace rubato {

using Bytes = std::vector<std::byte>;

/// Carries messages between processes. Messages from one process to another arrive in the order in
/// which they were sent. Used by one thread of a process.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int processes() const = 0;
  virtual int self() const = 0;          ///< from 0
  virtual int on_this_host() const = 0;  ///< processes, this one among them

  /// Sends `message` and does not wait until it is received.
  virtual void send(int to, Bytes message) = 0;
  /// True when a message was there: it is now in `message`.
  virtual bool receive(int& from, Bytes& message) = 0;
  /// What `make` returns in the first process of each host, for all processes of the host to see:
  /// until close(), and at process 0 for good. All call it; `make` must not throw, and returns none
  /// where it could not.
  virtual FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) = 0;
  /// Gives the processor away for a while, unless a message may be there.
  virtual void rest() = 0;
  /// All messages have been received everywhere: nothing will be sent any more.
  virtual void close() = 0;
};

}  // namespace rubato
