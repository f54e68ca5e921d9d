#pragma once

#include <cstdint>

#include "tracer/pmpi.h"
#include "tracer/record.h"
#include "tracer/send_mode.h"

/// The requests that are under way in this process.
///
/// Ours are known by numbers, MPI's by handles, and one handle may stand for several requests at
/// once: MPICH hands out one and the same completed request for any number of tiny sends. A handle
/// therefore maps to a queue, first in, first out. Requests that we do not record (of nonblocking
/// collectives, of file operations, to MPI_PROC_NULL) are entered too, as foreign, so that they
/// take their turn in that queue.
///
/// Locked only where the program asked for MPI_THREAD_MULTIPLE. Entries come from mapped chunks and
/// are used again, so the steady state allocates nothing.
namespace rubato {

enum class RequestKind : uint8_t { kForeign, kSend, kRecv };

struct Request {
  uint64_t handle = 0;
  uint64_t number = 0;
  Message message{};  ///< of a persistent request: what each start sends or asks for
  uint32_t next = 0;
  RequestKind kind = RequestKind::kForeign;
  SendMode mode = SendMode::kStandard;
  bool persistent = false;
  bool active = true;       ///< false: a persistent request that is not started
  bool cancelled = false;   ///< MPI_Cancel was called on it
  bool unrecorded = false;  ///< posted or started while recording was switched off
};

namespace requests {

/// Before the first use.
void start(bool threads);

void add(MPI_Request handle, const Request& request);

/// Takes the oldest request of a handle: removes it, or makes it inactive when `stays` (a
/// persistent request that MPI did not free). False when there is none, or none that was active.
bool take(MPI_Request handle, bool stays, Request& request);

/// A persistent request is started: false when the handle is none of ours. `unrecorded` says that
/// recording is switched off.
bool restart(MPI_Request handle, bool unrecorded, Request& request);

void mark_cancelled(MPI_Request handle);

}  // namespace requests
}  // namespace rubato
