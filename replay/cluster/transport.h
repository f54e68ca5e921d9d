#pragma once

// One replay on many processes.
//
// A replay without contention is a network of deterministic processes: the actions of a timeline
// depend on the events that it waits for, and on nothing else, so any order of execution gives the
// same clocks. So the ranks are divided among processes (division.h). Each decodes and runs its own
// ranks, with all their threads. The following records are exchanged:
//
//   send        route, length, times per lane              sender's process  -> receiver's
//   answer      posted, or skipped: to a sender that waits receiver's        -> sender's
//   members     of a collective, once all of a process have entered: the latest enter per lane
//   root        of a collective in which others wait for it alone
//   member      individually, if members wait for some others (scans, parts, two groups)
//
//   process 0  rank 0 ─send─┐          batch          ┌─▶ channel of rank 2 ─▶ rank 2   process 1
//              rank 1 ◀─────┼── answer ── · ── send ──┘                        rank 3
//                           └── members of the barrier ──────────────────▶
//
// Messages are matched in the process of the receiver, which has the channel, as in a replay by one
// process; the sender keeps its side only while it waits for the answer. Costs are computed on both
// sides from the same numbers, so they are equal bit for bit.
//
// Records for another process are collected in a batch, which is sent when it is full, or when the
// other process may be waiting for it (team.h). The pass is over when each process is idle and, for
// any two, as many batches were received as were sent (team.h). If some timeline is then blocked,
// records of a partner are missing, or there is a deadlock: the main loop has remedies for these
// (engine.h). They examine all timelines, so one process replays everything from the start. The
// same happens for a replay that cannot be divided (one_process.h), or after an error: process 0
// then finds and reports it as in a run on one process.
//
// Definitions cover all ranks. They are read, and stored, once per host: the first process of each
// host reads them, and the others share its lists (archive/host_definitions.h).
//
// All processes make the same passes. After each, their results are merged at process 0, or
// everywhere if later passes need them. Sums over ranks are of integers, so they do not depend on
// the order.
//
// A transport carries the batches: over MPI (mpi/mpi_transport.cc, a library that the command loads
// when mpirun has started it) or between threads of one process (memory_transport.h).

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
  virtual int on_this_host() const = 0;  ///< number of processes, including this one

  /// Sends `message` without waiting for its receive.
  virtual void send(int to, Bytes message) = 0;
  /// True when a message had arrived; moves it to `message`.
  virtual bool receive(int& from, Bytes& message) = 0;
  /// The result of `make` in the first process of each host, shared by all processes of the host:
  /// until close(), and at process 0 permanently. Called by all processes; `make` must not throw,
  /// and returns an empty result on failure.
  virtual FixedList<std::byte> once_per_host(const std::function<Bytes()>& make) = 0;
  /// Releases the processor for a while, unless a message may have arrived.
  virtual void rest() = 0;
  /// All messages have been received everywhere, and no more will be sent.
  virtual void close() = 0;
};

}  // namespace rubato
