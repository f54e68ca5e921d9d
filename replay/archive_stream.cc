// The events of an OTF2 archive, location by location.
//
// Each is read once, from its start to its end, before the replay begins: call_store.h says why.
// Ranks have nothing to do with each other here, so threads share them, each with a reader of its
// own.
//
// OTF2 calls back per record; a callback translates references and hands the record to the
// location's CallBuilder. Exceptions must not cross the C library: they are kept and thrown again
// behind it.

#include <otf2/otf2.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <thread>

#include "models/error.h"
#include "replay/archive.h"
#include "replay/call_store.h"
#include "replay/rank_calls.h"

namespace rubato {
namespace {

constexpr uint32_t kUndefined = UINT32_MAX;  ///< no reference
constexpr uint64_t kBurst = 4096;            ///< records between two looks at the calls they make

struct CloseEvents {
  OTF2_Reader* archive;
  void operator()(OTF2_EvtReader* events) const { OTF2_Reader_CloseEvtReader(archive, events); }
};

/// One location being read.
struct Location {
  Location(const Archive& a, uint64_t i, int r, int t, RankCalls& c)
      : archive(&a), id(i), rank(r), thread(t), calls(&c) {}

  const Archive* archive;
  uint64_t id;
  int rank;
  int thread;
  RankCalls* calls;
  std::unique_ptr<OTF2_EvtReader, CloseEvents> reader{nullptr, CloseEvents{nullptr}};
  uint64_t position = 0;  ///< records read
  std::exception_ptr error;

  double ticks(OTF2_TimeStamp time) const {
    return static_cast<double>(static_cast<int64_t>(time - archive->index.global_offset));
  }
  std::string place(uint64_t event, const char* what) const {
    return archive->anchor + ": rank " + std::to_string(rank) +
           (thread > 0 ? " thread " + std::to_string(thread) : "") + ", event " +
           std::to_string(event) + " (" + what + ")";
  }
  /// Hands a record to the builder of calls.
  template <typename Method, typename... Arguments>
  void record(uint64_t event, OTF2_TimeStamp time, Method method, Arguments... arguments) {
    calls->record(thread, event, ticks(time), method, arguments...);
  }
  uint32_t comm(uint32_t ref, uint64_t event, const char* what) {
    if (ref == last_ref) return last_comm;  // as nearly always
    const auto found = archive->index.comm_of_ref.get(ref);
    if (!found) {
      throw InputError(
          place(event, what) + ": communicator " + std::to_string(ref) +
          " is not defined, so that nobody can say who took part; the archive cannot be replayed");
    }
    last_ref = ref;
    last_comm = *found;
    const Communicator& c = archive->definitions.comms[last_comm];
    const bool across = c.inter && c.local_rank(rank) >= 0;
    last_peers = across ? &archive->index.remote_group.at(last_comm) : &c.members;
    return last_comm;
  }
  /// World rank of the `local`-th rank of the communicator that comm() was asked for last, seen
  /// from this rank.
  int32_t peer(uint32_t local, uint64_t event, const char* what) const {
    if (local < last_peers->size()) return (*last_peers)[local];
    return beyond(archive->definitions.comms[last_comm], local, event, what);
  }
  const Communicator& window(uint32_t index) const { return archive->definitions.comms[index]; }
  /// World rank of a member of a window.
  int32_t window_peer(uint32_t index, uint32_t local, uint64_t event, const char* what) const {
    const Communicator& members = window(index);
    if (local < members.members.size()) return members.members[local];
    return beyond(members, local, event, what);
  }

 private:
  /// A rank that a communicator does not have.
  int32_t beyond(const Communicator& comm, uint32_t local, uint64_t event, const char* what) const {
    if (comm.self_like) return rank;
    throw InputError(place(event, what) + ": rank " + std::to_string(local) + " is not in " +
                     (comm.window ? "window" : "communicator") + " '" + comm.name + "' of " +
                     std::to_string(comm.size()) + " members");
  }

  uint32_t last_ref = kUndefined;
  uint32_t last_comm = 0;
  const std::vector<int32_t>* last_peers = nullptr;
};

/// Runs `body` on the location behind `user`; keeps what it throws.
template <typename Body>
OTF2_CallbackCode guarded(void* user, Body body) {
  auto& location = *static_cast<Location*>(user);
  try {
    body(location);
    return OTF2_CALLBACK_SUCCESS;
  } catch (...) {
    location.error = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
}

int32_t call_of(const Location& location, OTF2_RegionRef region) {
  return location.archive->index.call_of_region.get(region).value_or(ArchiveIndex::kNotMpi);
}

// Parameters that every callback has: location, time, event number, user data, attributes.
#define RUBATO_RECORD                                                \
  OTF2_LocationRef, OTF2_TimeStamp time, uint64_t event, void *user, \
      [[maybe_unused]] OTF2_AttributeList *attributes

/// What our tracer says of a collective among neighbours where it enters the call.
void exchange_with_neighbours(Location& l, uint64_t event, OTF2_TimeStamp time, int32_t call,
                              const OTF2_AttributeList* attributes) {
  const ArchiveIndex& index = l.archive->index;
  uint32_t comm = 0;
  if (OTF2_AttributeList_GetCommRef(attributes, index.comm, &comm) != OTF2_SUCCESS) return;
  NeighbourExchange exchange{l.comm(comm, event, "ENTER"), 0, 0};
  uint64_t request = 0;
  OTF2_AttributeList_GetUint64(attributes, index.bytes_sent, &exchange.sent);
  OTF2_AttributeList_GetUint64(attributes, index.bytes_received, &exchange.received);
  OTF2_AttributeList_GetUint64(attributes, index.request, &request);
  const bool starts = l.archive->definitions.calls[call].among_neighbours;
  l.record(event, time, starts ? &CallBuilder::neighbours : &CallBuilder::neighbours_init, exchange,
           request);
}

OTF2_CallbackCode on_enter(RUBATO_RECORD, OTF2_RegionRef region) {
  return guarded(user, [&](Location& l) {
    const int32_t call = call_of(l, region);
    l.record(event, time, &CallBuilder::enter, call);
    if (l.archive->index.comm != kUndefined && call >= 0)
      exchange_with_neighbours(l, event, time, call, attributes);
  });
}

OTF2_CallbackCode on_leave(RUBATO_RECORD, OTF2_RegionRef region) {
  return guarded(
      user, [&](Location& l) { l.record(event, time, &CallBuilder::leave, call_of(l, region)); });
}

OTF2_CallbackCode on_send(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  return guarded(user, [&](Location& l) {
    const uint32_t c = l.comm(comm, event, "MPI_SEND");
    l.record(event, time, &CallBuilder::send, c, l.peer(receiver, event, "MPI_SEND"), tag, bytes);
  });
}

OTF2_CallbackCode on_isend(RUBATO_RECORD, uint32_t receiver, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  return guarded(user, [&](Location& l) {
    const uint32_t c = l.comm(comm, event, "MPI_ISEND");
    // A persistent send shows its mode here only; else the name of the call tells.
    uint8_t mode = 0;
    const uint32_t attribute = l.archive->index.send_mode;
    if (attribute != kUndefined) OTF2_AttributeList_GetUint8(attributes, attribute, &mode);
    const uint8_t flags = mode == 1 ? kBuffered : mode == 2 ? kSynchronous : 0;
    l.record(event, time, &CallBuilder::isend, c, l.peer(receiver, event, "MPI_ISEND"), tag, bytes,
             request, flags);
  });
}

OTF2_CallbackCode on_isend_complete(RUBATO_RECORD, uint64_t request) {
  return guarded(
      user, [&](Location& l) { l.record(event, time, &CallBuilder::isend_complete, request); });
}

OTF2_CallbackCode on_irecv_request(RUBATO_RECORD, uint64_t request) {
  return guarded(user, [&](Location& l) {
    int32_t source = 0;
    int32_t tag = 0;
    const ArchiveIndex& index = l.archive->index;
    if (index.posted_source != kUndefined)
      OTF2_AttributeList_GetInt32(attributes, index.posted_source, &source);
    if (index.posted_tag != kUndefined)
      OTF2_AttributeList_GetInt32(attributes, index.posted_tag, &tag);
    l.record(event, time, &CallBuilder::irecv_request, request, source < 0 || tag < 0);
  });
}

OTF2_CallbackCode on_recv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  return guarded(user, [&](Location& l) {
    const uint32_t c = l.comm(comm, event, "MPI_RECV");
    l.record(event, time, &CallBuilder::recv, c, l.peer(sender, event, "MPI_RECV"), tag, bytes);
  });
}

OTF2_CallbackCode on_irecv(RUBATO_RECORD, uint32_t sender, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  return guarded(user, [&](Location& l) {
    const uint32_t c = l.comm(comm, event, "MPI_IRECV");
    l.record(event, time, &CallBuilder::irecv, c, l.peer(sender, event, "MPI_IRECV"), tag, bytes,
             request);
  });
}

OTF2_CallbackCode on_cancelled(RUBATO_RECORD, uint64_t request) {
  return guarded(user,
                 [&](Location& l) { l.record(event, time, &CallBuilder::cancelled, request); });
}

/// OTF2's operation as ours; false for one that OTF2 does not define for MPI.
bool translate(OTF2_CollectiveOp op, CollectiveOp& ours) {
  switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
      ours = CollectiveOp::kBarrier;
      return true;
    case OTF2_COLLECTIVE_OP_BCAST:
      ours = CollectiveOp::kBcast;
      return true;
    case OTF2_COLLECTIVE_OP_GATHER:
      ours = CollectiveOp::kGather;
      return true;
    case OTF2_COLLECTIVE_OP_GATHERV:
      ours = CollectiveOp::kGatherv;
      return true;
    case OTF2_COLLECTIVE_OP_SCATTER:
      ours = CollectiveOp::kScatter;
      return true;
    case OTF2_COLLECTIVE_OP_SCATTERV:
      ours = CollectiveOp::kScatterv;
      return true;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
      ours = CollectiveOp::kAllgather;
      return true;
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
      ours = CollectiveOp::kAllgatherv;
      return true;
    case OTF2_COLLECTIVE_OP_ALLTOALL:
      ours = CollectiveOp::kAlltoall;
      return true;
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
      ours = CollectiveOp::kAlltoallv;
      return true;
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
      ours = CollectiveOp::kAlltoallw;
      return true;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
      ours = CollectiveOp::kAllreduce;
      return true;
    case OTF2_COLLECTIVE_OP_REDUCE:
      ours = CollectiveOp::kReduce;
      return true;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      ours = CollectiveOp::kReduceScatter;
      return true;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
      ours = CollectiveOp::kReduceScatterBlock;
      return true;
    case OTF2_COLLECTIVE_OP_SCAN:
      ours = CollectiveOp::kScan;
      return true;
    case OTF2_COLLECTIVE_OP_EXSCAN:
      ours = CollectiveOp::kExscan;
      return true;
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
      ours = CollectiveOp::kCreateHandle;
      return true;
    case OTF2_COLLECTIVE_OP_DESTROY_HANDLE:
      ours = CollectiveOp::kDestroyHandle;
      return true;
    default:
      return false;
  }
}

/// A collective as a record names it, in our terms.
struct RecordedCollective {
  RecordedCollective(Location& l, uint64_t event, const char* what, OTF2_CollectiveOp recorded_op,
                     OTF2_CommRef recorded_comm, uint32_t recorded_root) {
    if (!translate(recorded_op, op)) {
      throw InputError(l.place(event, what) + ": operation " + std::to_string(recorded_op) +
                       " is not an MPI collective this version knows");
    }
    comm = l.comm(recorded_comm, event, what);
    const ArchiveIndex& index = l.archive->index;
    const auto both = index.both_groups.find(comm);
    if (both != index.both_groups.end()) comm = both->second;
    const Communicator& communicator = l.archive->definitions.comms[comm];
    const int local = communicator.self_like ? 0 : communicator.local_rank(l.rank);
    kept = local < 0;
    if (recorded_root == OTF2_COLLECTIVE_ROOT_SELF) {
      root = local;
    } else if (recorded_root == OTF2_COLLECTIVE_ROOT_THIS_GROUP) {
      root = kRootInOwnGroup;
    } else if (recorded_root < static_cast<uint32_t>(communicator.peers(local))) {
      // Between groups it counts in the other one.
      root = static_cast<int32_t>(recorded_root) +
             (local < communicator.first_group ? communicator.first_group : 0);
    }
  }

  CollectiveOp op{};
  uint32_t comm;
  int32_t root = kNoRoot;
  bool kept;  ///< the rank is no member: its call keeps its time
};

OTF2_CallbackCode on_collective_end(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                    uint32_t root, uint64_t sent, uint64_t received) {
  return guarded(user, [&](Location& l) {
    const RecordedCollective c(l, event, "MPI_COLLECTIVE_END", op, comm, root);
    if (c.kept) {
      l.record(event, time, &CallBuilder::other);
    } else {
      l.record(event, time, &CallBuilder::collective_end, c.op, c.comm, c.root, sent, received);
    }
  });
}

OTF2_CallbackCode on_icollective_request(RUBATO_RECORD, uint64_t request) {
  return guarded(user, [&](Location& l) {
    l.record(event, time, &CallBuilder::icollective_request, request);
  });
}

OTF2_CallbackCode on_icollective_complete(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                          uint32_t root, uint64_t sent, uint64_t received,
                                          uint64_t request) {
  return guarded(user, [&](Location& l) {
    const RecordedCollective c(l, event, "NON_BLOCKING_COLLECTIVE_COMPLETE", op, comm, root);
    if (c.kept) {
      l.record(event, time, &CallBuilder::icollective_kept, request);
    } else {
      l.record(event, time, &CallBuilder::icollective_complete, c.op, c.comm, c.root, sent,
               received, request);
    }
  });
}

OTF2_CallbackCode on_parameter(RUBATO_RECORD, OTF2_ParameterRef parameter, uint64_t value) {
  return guarded(user, [&](Location& l) {
    const ArchiveIndex& index = l.archive->index;
    if (parameter == index.request_start && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_start, value);
    } else if (parameter == index.request_end && parameter != kUndefined) {
      l.record(event, time, &CallBuilder::neighbours_end, value);
    } else {
      l.record(event, time, &CallBuilder::other);
    }
  });
}

// --- One-sided communication; what is not MPI's keeps its time ---

/// Runs `body` with the window that a record names, as an index into the communicators.
template <typename Body>
OTF2_CallbackCode on_window(void* user, uint64_t event, OTF2_TimeStamp time, OTF2_RmaWinRef ref,
                            Body body) {
  return guarded(user, [&](Location& l) {
    const auto window = l.archive->index.window_of_ref.get(ref);
    if (!window || (!l.window(*window).self_like && l.window(*window).local_rank(l.rank) < 0)) {
      l.record(event, time, &CallBuilder::other);
    } else {
      body(l, *window);
    }
  });
}

OTF2_CallbackCode on_rma_collective_end(RUBATO_RECORD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel,
                                        OTF2_RmaWinRef win, uint32_t, uint64_t, uint64_t) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    // MPI_Win_free lets nobody go before all have come, as a fence does.
    const bool creates = op == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
                         op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;
    l.record(event, time, &CallBuilder::collective_end,
             creates ? CollectiveOp::kCreateHandle : CollectiveOp::kBarrier, window, kNoRoot,
             uint64_t{0}, uint64_t{0});
  });
}

OTF2_CallbackCode one_sided(void* user, uint64_t event, OTF2_TimeStamp time, OTF2_RmaWinRef win,
                            uint32_t remote, uint64_t sent, uint64_t received, bool fetches,
                            uint64_t number) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::one_sided, window,
             l.window_peer(window, remote, event, "an RMA operation"), sent, received, fetches,
             number);
  });
}

OTF2_CallbackCode on_rma_put(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                             uint64_t number) {
  return one_sided(user, event, time, win, remote, bytes, 0, false, number);
}

OTF2_CallbackCode on_rma_get(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes,
                             uint64_t number) {
  return one_sided(user, event, time, win, remote, 0, bytes, true, number);
}

OTF2_CallbackCode on_rma_atomic(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote,
                                OTF2_RmaAtomicType type, uint64_t sent, uint64_t received,
                                uint64_t number) {
  return one_sided(user, event, time, win, remote, sent, received,
                   type != OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, number);
}

template <bool remote>
OTF2_CallbackCode on_rma_done(RUBATO_RECORD, OTF2_RmaWinRef win, uint64_t number) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::one_sided_done, window, number, remote);
  });
}

OTF2_CallbackCode on_rma_group_sync(RUBATO_RECORD, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
                                    OTF2_GroupRef ref) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    const auto group = l.archive->index.group_of_ref.get(ref);
    // An MPI_Win_test that found nothing keeps its time, as MPI_Test does.
    if (!group || level == OTF2_RMA_SYNC_LEVEL_NONE) {
      l.record(event, time, &CallBuilder::other);
    } else {
      l.record(event, time, &CallBuilder::epoch, window, *group);
    }
  });
}

OTF2_CallbackCode on_rma_lock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t,
                              OTF2_LockType type) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::lock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"),
             type == OTF2_LOCK_EXCLUSIVE);
  });
}

OTF2_CallbackCode on_rma_unlock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t) {
  return on_window(user, event, time, win, [&](Location& l, uint32_t window) {
    l.record(event, time, &CallBuilder::unlock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"));
  });
}

OTF2_CallbackCode on_measurement(RUBATO_RECORD, OTF2_MeasurementMode mode) {
  return guarded(user, [&](Location& l) {
    l.record(event, time, &CallBuilder::measurement, mode == OTF2_MEASUREMENT_ON);
  });
}

OTF2_CallbackCode on_buffer_flush(RUBATO_RECORD, OTF2_TimeStamp stop) {
  return guarded(
      user, [&](Location& l) { l.record(event, time, &CallBuilder::buffer_flush, l.ticks(stop)); });
}

/// Every record that is only somewhere in time.
template <typename... Rest>
OTF2_CallbackCode on_other(RUBATO_RECORD, Rest...) {
  return guarded(user, [&](Location& l) { l.record(event, time, &CallBuilder::other); });
}

#undef RUBATO_RECORD

/// Callbacks for all records.
class Callbacks {
 public:
  Callbacks() : callbacks_(OTF2_EvtReaderCallbacks_New()) {
    set_others();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks_, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks_, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks_, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks_, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks_, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks_, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks_, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks_, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks_, on_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks_, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks_,
                                                                    on_icollective_request);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks_,
                                                                     on_icollective_complete);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks_, on_parameter);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks_, on_rma_collective_end);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks_, on_rma_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks_, on_rma_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks_, on_rma_atomic);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks_, on_rma_done<false>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks_, on_rma_done<true>);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks_, on_rma_group_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks_, on_rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks_, on_rma_unlock);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(callbacks_, on_measurement);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks_, on_buffer_flush);
  }
  ~Callbacks() { OTF2_EvtReaderCallbacks_Delete(callbacks_); }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  OTF2_EvtReaderCallbacks* get() const { return callbacks_; }

 private:
  void set_others();

  OTF2_EvtReaderCallbacks* callbacks_;
};

void Callbacks::set_others() {
#define RUBATO_OTHER(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(callbacks_, on_other)
  RUBATO_OTHER(CallingContextEnter);
  RUBATO_OTHER(CallingContextLeave);
  RUBATO_OTHER(CallingContextSample);
  RUBATO_OTHER(CommCreate);
  RUBATO_OTHER(CommDestroy);
  RUBATO_OTHER(IoAcquireLock);
  RUBATO_OTHER(IoChangeStatusFlags);
  RUBATO_OTHER(IoCreateHandle);
  RUBATO_OTHER(IoDeleteFile);
  RUBATO_OTHER(IoDestroyHandle);
  RUBATO_OTHER(IoDuplicateHandle);
  RUBATO_OTHER(IoOperationBegin);
  RUBATO_OTHER(IoOperationCancelled);
  RUBATO_OTHER(IoOperationComplete);
  RUBATO_OTHER(IoOperationIssued);
  RUBATO_OTHER(IoOperationTest);
  RUBATO_OTHER(IoReleaseLock);
  RUBATO_OTHER(IoSeek);
  RUBATO_OTHER(IoTryLock);
  RUBATO_OTHER(Metric);
  RUBATO_OTHER(MpiCollectiveBegin);
  RUBATO_OTHER(MpiRequestTest);
  RUBATO_OTHER(OmpAcquireLock);
  RUBATO_OTHER(OmpFork);
  RUBATO_OTHER(OmpJoin);
  RUBATO_OTHER(OmpReleaseLock);
  RUBATO_OTHER(OmpTaskComplete);
  RUBATO_OTHER(OmpTaskCreate);
  RUBATO_OTHER(OmpTaskSwitch);
  RUBATO_OTHER(ParameterInt);
  RUBATO_OTHER(ParameterString);
  RUBATO_OTHER(ProgramBegin);
  RUBATO_OTHER(ProgramEnd);
  RUBATO_OTHER(RmaAcquireLock);
  RUBATO_OTHER(RmaCollectiveBegin);
  RUBATO_OTHER(RmaOpCompleteBlocking);
  RUBATO_OTHER(RmaOpTest);
  RUBATO_OTHER(RmaSync);
  RUBATO_OTHER(RmaTryLock);
  RUBATO_OTHER(RmaWaitChange);
  RUBATO_OTHER(RmaWinCreate);
  RUBATO_OTHER(RmaWinDestroy);
  RUBATO_OTHER(ThreadAcquireLock);
  RUBATO_OTHER(ThreadBegin);
  RUBATO_OTHER(ThreadCreate);
  RUBATO_OTHER(ThreadEnd);
  RUBATO_OTHER(ThreadFork);
  RUBATO_OTHER(ThreadJoin);
  RUBATO_OTHER(ThreadReleaseLock);
  RUBATO_OTHER(ThreadTaskComplete);
  RUBATO_OTHER(ThreadTaskCreate);
  RUBATO_OTHER(ThreadTaskSwitch);
  RUBATO_OTHER(ThreadTeamBegin);
  RUBATO_OTHER(ThreadTeamEnd);
  RUBATO_OTHER(ThreadWait);
  RUBATO_OTHER(Unknown);
#undef RUBATO_OTHER
}

/// libotf2 reports errors by code and by printing; the codes are enough.
OTF2_ErrorCode silent(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                      va_list) {
  return code;
}

/// The event files of an archive, opened by one thread for itself.
class EventFiles {
 public:
  struct Closing {
    void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
  };
  using Reader = std::unique_ptr<OTF2_Reader, Closing>;

  /// To read `locations` with a reader that has read no more than the anchor, or the definitions.
  EventFiles(const Archive& archive, bool ignore_offsets, Reader reader,
             const std::vector<uint64_t>& locations)
      : archive_(&archive), ignore_offsets_(ignore_offsets), reader_(std::move(reader)) {
    for (const uint64_t location : locations) OTF2_Reader_SelectLocation(reader_.get(), location);
    read_local_definitions(archive, reader_.get(), locations);
    if (OTF2_Reader_OpenEvtFiles(reader_.get()) != OTF2_SUCCESS) {
      throw InputError(archive.anchor + ": the event files beside it cannot be opened");
    }
  }
  ~EventFiles() { OTF2_Reader_CloseEvtFiles(reader_.get()); }
  EventFiles(const EventFiles&) = delete;
  EventFiles& operator=(const EventFiles&) = delete;

  static Reader open_anchor(const std::string& anchor) {
    Reader reader(OTF2_Reader_Open(anchor.c_str()));
    if (!reader) throw InputError(anchor + ": is not an OTF2 anchor file, or is damaged");
    OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
    return reader;
  }

  /// Decodes all locations of a rank into `store`.
  void load_rank(int rank, bool keep_records, CallStore& store, EventSource::Counts& counts) {
    const std::vector<int> timelines = archive_->definitions.timelines_of(rank);
    RankCalls calls(archive_->definitions, timelines);
    calls.keep_records(keep_records);
    std::vector<Location> locations;
    for (int thread = 0; thread < calls.threads(); ++thread) {
      const uint64_t id = archive_->definitions.location_of(timelines[thread]);
      locations.emplace_back(*archive_, id, rank, thread, calls);
    }
    Block block;
    const auto store_ready_calls = [&] {
      for (int thread = 0; thread < calls.threads(); ++thread) {
        while (calls.take(thread, block)) store.append(timelines[thread], block);
      }
    };
    for (int missing = calls.missing(); missing >= 0; missing = calls.missing()) {
      decode_burst(locations[missing]);
      store_ready_calls();
    }
    store_ready_calls();
    for (int thread = 0; thread < calls.threads(); ++thread) {
      store.close(timelines[thread]);
      const CallBuilder& builder = calls.builder(thread);
      counts.records += builder.records();
      counts.receives.add(builder.open_receives());
      counts.collectives.add(builder.open_collectives());
    }
  }

  /// Reads a side location on its own, to its end or until `look`, which gets its calls and
  /// records, returns false.
  template <typename Look>
  void read_apart(const SideLocation& side, Look look) {
    RankCalls calls(archive_->definitions, {side.rank});
    calls.keep_records(true);
    Location location(*archive_, side.id, side.rank, 0, calls);
    Block block;
    bool more = true;
    while (more && calls.missing() >= 0) {
      decode_burst(location);
      while (more && calls.take(0, block)) more = look(block);
    }
  }

 private:
  void open(Location& location) {
    const uint64_t id = location.id;
    location.reader = {OTF2_Reader_GetEvtReader(reader_.get(), id), CloseEvents{reader_.get()}};
    if (!location.reader) {
      throw InputError(archive_->anchor + ": the event file of location " + std::to_string(id) +
                       " (rank " + std::to_string(location.rank) +
                       ") is missing or cannot be read");
    }
    OTF2_EvtReader_ApplyMappingTables(location.reader.get(), true);
    OTF2_EvtReader_ApplyClockOffsets(location.reader.get(), !ignore_offsets_);
    OTF2_Reader_RegisterEvtCallbacks(reader_.get(), location.reader.get(), callbacks_.get(),
                                     &location);
  }

  [[noreturn]] void damaged(const Location& location, OTF2_ErrorCode error) const {
    throw InputError(archive_->anchor + ": the events of location " + std::to_string(location.id) +
                     " (rank " + std::to_string(location.rank) + ") cannot be read beyond event " +
                     std::to_string(location.position) + " (" + OTF2_Error_GetDescription(error) +
                     "); the file is truncated or damaged");
  }

  void decode_burst(Location& location) {
    if (!location.reader) open(location);
    uint64_t read = 0;
    const OTF2_ErrorCode error =
        OTF2_Reader_ReadLocalEvents(reader_.get(), location.reader.get(), kBurst, &read);
    location.position += read;
    if (location.error) std::rethrow_exception(location.error);
    if (error != OTF2_SUCCESS) damaged(location, error);
    if (read < kBurst) {
      // A file that was cut between two records reads well up to there.
      if (location.position < archive_->index.events_of_location.at(location.id)) {
        damaged(location, OTF2_ERROR_END_OF_BUFFER);
      }
      location.calls->end(location.thread);
      location.reader.reset();
    }
  }

  const Archive* archive_;
  bool ignore_offsets_;
  Reader reader_;
  Callbacks callbacks_;
};

/// How many processors this process may use.
int available_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

class ArchiveSource : public EventSource {
 public:
  ArchiveSource(const std::string& path, bool ignore_offsets, int threads)
      : ignore_offsets_(ignore_offsets), threads_(threads) {
    const std::string anchor = find_anchor(path);
    if (!std::ifstream(anchor)) throw InputError(anchor + ": " + std::strerror(errno));
    OTF2_Error_RegisterCallback(silent, nullptr);
    EventFiles::Reader reader = EventFiles::open_anchor(anchor);
    archive_ = read_definitions(anchor, reader.get());
    // Records outside of any MPI region need a name; call_builder.cc takes the last entry.
    archive_.definitions.calls.push_back({"(outside MPI calls)", CallClass::kLocal});
    std::vector<uint64_t> locations = archive_.definitions.location_of_rank;
    for (const SideLocation& side : archive_.definitions.side_locations)
      locations.push_back(side.id);
    files_.emplace(archive_, ignore_offsets, std::move(reader), locations);
    std::vector<SideLocation> mpi_threads;
    for (const SideLocation& side : archive_.definitions.side_locations) {
      if (side.thread && calls_mpi(side)) mpi_threads.push_back(side);
    }
    archive_.definitions.make_timelines(mpi_threads);
  }

  const TraceDefinitions& definitions() const override { return archive_.definitions; }

  void load(const std::function<void(double)>& progress) override {
    if (store_) return;
    const TraceDefinitions& trace = archive_.definitions;
    auto store = std::make_unique<CallStore>(trace.timelines(), keep_records_);
    const std::vector<int> shares = shares_of_ranks();
    const int helpers = static_cast<int>(shares.size()) - 2;
    std::vector<Counts> counts(helpers + 1);
    std::vector<std::exception_ptr> errors(helpers + 1);
    std::atomic<int> ranks_done = 0;
    std::atomic<bool> stop = false;
    const auto work = [&](int share, EventFiles& files) {
      for (int rank = shares[share]; rank < shares[share + 1] && !stop; ++rank) {
        files.load_rank(rank, keep_records_, *store, counts[share]);
        ++ranks_done;
        if (share == 0 && progress) progress(static_cast<double>(ranks_done) / trace.ranks());
      }
    };
    const auto guarded_work = [&](int share) {
      try {
        if (share == 0) return work(0, *files_);
        std::vector<uint64_t> locations;
        for (int rank = shares[share]; rank < shares[share + 1]; ++rank) {
          for (const int timeline : trace.timelines_of(rank))
            locations.push_back(trace.location_of(timeline));
        }
        EventFiles files(archive_, ignore_offsets_, EventFiles::open_anchor(archive_.anchor),
                         locations);
        work(share, files);
      } catch (...) {
        errors[share] = std::current_exception();
        stop = true;
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int share = 1; share <= helpers; ++share) threads.emplace_back(guarded_work, share);
      guarded_work(0);
    }
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    counts_ = {};
    for (const Counts& part : counts) counts_ += part;
    store_ = std::move(store);
  }

  bool read(int timeline, Block& block) override {
    load({});
    return store_->read(timeline, block);
  }

  void rewind() override {
    if (store_) store_->rewind();
  }

  void keep_records(bool keep) override {
    if (keep && !keep_records_) store_.reset();  // it has none
    keep_records_ = keep_records_ || keep;
  }

  std::vector<double> side_records(const SideLocation& side) override {
    std::vector<double> times;
    files_->read_apart(side, [&](const Block& block) {
      for (const Record& record : block.records) times.push_back(record.time);
      for (const Call& call : block.calls) {
        if (call.actions == 0) continue;
        throw InputError(archive_.anchor + ": location " + std::to_string(side.id) + ", event " +
                         std::to_string(call.event) +
                         ": MPI records on a location that is no thread of rank " +
                         std::to_string(side.rank) + "; they cannot be replayed");
      }
      return true;
    });
    return times;
  }

  Counts counts() const override { return counts_; }

 private:
  bool calls_mpi(const SideLocation& side) {
    bool found = false;
    files_->read_apart(side, [&](const Block& block) {
      found = std::any_of(block.calls.begin(), block.calls.end(), [](const Call& call) {
        return call.role == CallRole::kMpi || call.role == CallRole::kInit ||
               call.role == CallRole::kFinalize;
      });
      return !found;
    });
    return found;
  }

  /// The ranks that each thread decodes: from one entry up to the next. About the same number of
  /// records each; one thread where there are too few for more.
  std::vector<int> shares_of_ranks() const {
    const TraceDefinitions& trace = archive_.definitions;
    std::vector<uint64_t> sum = {0};
    for (int rank = 0; rank < trace.ranks(); ++rank) {
      uint64_t records = 0;
      for (const int timeline : trace.timelines_of(rank))
        records += archive_.index.events_of_location.at(trace.location_of(timeline));
      sum.push_back(sum.back() + records);
    }
    const int most = threads_ > 0 ? threads_ : std::min(available_processors(), kMostThreads);
    const uint64_t enough = threads_ > 0 ? 1 : kRecordsOfThread;
    const int threads = static_cast<int>(
        std::clamp<uint64_t>(sum.back() / enough, 1, std::min(most, std::max(1, trace.ranks()))));
    std::vector<int> shares = {0};
    for (int thread = 1; thread < threads; ++thread) {
      const uint64_t until = sum.back() * static_cast<uint64_t>(thread) / threads;
      const auto rank = std::lower_bound(sum.begin(), sum.end(), until) - sum.begin();
      shares.push_back(std::max(shares.back(), static_cast<int>(rank)));
    }
    shares.push_back(trace.ranks());
    return shares;
  }

  static constexpr int kMostThreads = 8;                 ///< more only wait for the disk
  static constexpr uint64_t kRecordsOfThread = 1000000;  ///< at least, to be worth starting one

  bool ignore_offsets_;
  int threads_;
  Archive archive_;
  std::optional<EventFiles> files_;
  std::unique_ptr<CallStore> store_;  ///< once it is filled
  Counts counts_;
  bool keep_records_ = false;
};

}  // namespace

std::unique_ptr<EventSource> open_archive(const std::string& path, bool ignore_offsets,
                                          int threads) {
  return std::make_unique<ArchiveSource>(path, ignore_offsets, threads);
}

}  // namespace rubato
