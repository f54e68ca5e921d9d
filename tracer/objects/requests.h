#pragma once

#include <cstdint>
#include <utility>

#include "tracer/layout/record.h"
#include "tracer/layout/send_mode.h"
#include "tracer/mpi/pmpi.h"

/// The requests that are under way in this process.
///
/// Our requests have numbers, MPI's have handles, and one handle may stand for several requests at
/// once: MPICH returns one and the same completed request for any number of tiny sends. So a handle
/// maps to a queue, first in, first out. Unrecorded requests (of file operations, to MPI_PROC_NULL)
/// are entered too, as foreign, and take their turn in the queue.
///
/// Messages found by a matched probe are kept here likewise until they are received.
///
/// With MPI_THREAD_MULTIPLE entries are locked, in 64 parts, and claimed: by the time a completing
/// call returns from MPI, another thread may have got the same handle for a new request. So the
/// entry is claimed before the call and hidden from other calls until it is taken, or released
/// because the request did not complete. Other programs skip all of this.
///
/// Entries come from mapped chunks and are used again, so the steady state allocates nothing.
namespace rubato {
inline namespace tracing {

enum class RequestKind : uint8_t {
  kForeign,
  kSend,
  kRecv,
  kSendRecv,         ///< MPI_Isendrecv: `number` is the send's, `extra` the receive's
  kPartitionedRecv,  ///< `message` describes the received message; the status may not
  kCollective,       ///< `message`: communicator, root as peer, operation as tag, bytes sent;
                     ///< `extra`: bytes received
  kRma,  ///< `number`: matching id; `message`: window as communicator, target, RmaClass as tag
  kNeighbours,  ///< a collective among neighbours
  kCommIdup,    ///< `message`: parent, which of its children as tag; `extra`: the handle
};

struct Request {
  uint64_t handle = 0;
  uint64_t number = 0;
  Message message{};   ///< of a persistent request: what each start sends or asks for
  uint64_t extra = 0;  ///< see RequestKind
  uint32_t next = 0;
  uint32_t init_order = 0;  ///< of a persistent collective: which of its communicator, from 1
  RequestKind kind = RequestKind::kForeign;
  SendMode mode = SendMode::kStandard;
  bool persistent = false;
  bool active = true;       ///< false: a persistent request that is not started
  bool cancelled = false;   ///< MPI_Cancel was called on it
  bool unrecorded = false;  ///< a persistent one, started while recording was switched off

  /// Its posting is on record, so its completion has to be.
  bool on_record() const { return number != 0 && !unrecorded; }
};

namespace requests {

/// Several threads may be here at once.
extern bool threaded;

/// Before the first use.
void start(bool threads);

void add(MPI_Request handle, const Request& request);

/// An entry set aside for one call.
using Claim = uint32_t;
inline constexpr Claim kNoClaim = 0;

/// Before MPI's own work in a call that may complete the oldest request of a handle. kNoClaim when
/// there is none, or no need to claim it.
Claim claim_among_threads(MPI_Request handle);
inline Claim claim(MPI_Request handle) {
  return threaded ? claim_among_threads(handle) : kNoClaim;
}
/// It did not complete. Of several that were claimed, the last one comes first.
void release(MPI_Request handle, Claim claim);

/// A claim on one request, released by the destructor unless it was handed over, also if an
/// exception of the program's error handler passes through.
class OneClaim {
 public:
  explicit OneClaim(MPI_Request handle) : handle_(handle), claim_(requests::claim(handle)) {}
  ~OneClaim() {
    if (claim_ != kNoClaim) release(handle_, claim_);
  }
  OneClaim(const OneClaim&) = delete;
  OneClaim& operator=(const OneClaim&) = delete;

  Claim give() { return std::exchange(claim_, kNoClaim); }

 private:
  MPI_Request handle_;
  Claim claim_;
};

/// Removes a claimed request, or makes it inactive if `stays` (a persistent request that MPI did
/// not free). False if there is none, or it was not active.
bool take(MPI_Request handle, Claim claim, bool stays, Request& request);

/// A persistent request is started: false if the handle is unknown. `unrecorded`: recording is
/// switched off.
bool restart(MPI_Request handle, bool unrecorded, Request& request);

/// The oldest request of a handle, which stays; false if the handle is unknown.
bool find(MPI_Request handle, Request& request);

void mark_cancelled(MPI_Request handle);

/// Persistent requests have numbers of their own, because each start uses the same one again.
uint64_t next_persistent_number(uint32_t thread);

/// Queue of numbers under a key, which must not be a handle; first in, first out.
void add_number(uint64_t key, uint64_t number);
bool take_number(uint64_t key, uint64_t& number);

/// A message that MPI_Mprobe or MPI_Improbe found: communicator, source, tag, bytes; AnyOf of what
/// the probe asked for.
void add_message(MPI_Message handle, const Message& message, unsigned any);
/// As for requests.
Claim claim_message(MPI_Message handle);
void release_message(MPI_Message handle, Claim claim);
/// The message is received; false if it is unknown.
bool take_message(MPI_Message handle, Claim claim, Message& message, unsigned& any);

}  // namespace requests
}  // namespace tracing
}  // namespace rubato
