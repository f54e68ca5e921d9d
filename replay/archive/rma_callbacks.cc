// Translation of the records of one-sided communication; calls of other libraries than MPI keep
// their time.

#include "replay/archive/record_callback.h"

namespace rubato {
namespace {

/// Runs `body` with the window of a record, as an index into the communicators.
template <typename Body>
OTF2_CallbackCode on_window(void* user, uint64_t event, OTF2_TimeStamp time, OTF2_RmaWinRef ref,
                            Body body) {
  return guarded(user, [&](EventLocation& l) {
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
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
    // MPI_Win_free releases no member before all have entered, like a fence.
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
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
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
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
    l.record(event, time, &CallBuilder::one_sided_done, window, number, remote);
  });
}

OTF2_CallbackCode on_rma_group_sync(RUBATO_RECORD, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
                                    OTF2_GroupRef ref) {
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
    const auto group = l.archive->index.group_of_ref.get(ref);
    // An unsuccessful MPI_Win_test keeps its time, as MPI_Test does.
    if (!group || level == OTF2_RMA_SYNC_LEVEL_NONE) {
      l.record(event, time, &CallBuilder::other);
    } else {
      l.record(event, time, &CallBuilder::epoch, window, *group);
    }
  });
}

OTF2_CallbackCode on_rma_lock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t,
                              OTF2_LockType type) {
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
    l.record(event, time, &CallBuilder::lock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"),
             type == OTF2_LOCK_EXCLUSIVE);
  });
}

OTF2_CallbackCode on_rma_unlock(RUBATO_RECORD, OTF2_RmaWinRef win, uint32_t remote, uint64_t) {
  return on_window(user, event, time, win, [&](EventLocation& l, uint32_t window) {
    l.record(event, time, &CallBuilder::unlock, window,
             remote == kUndefined ? kNoRoot : l.window_peer(window, remote, event, "a lock"));
  });
}

}  // namespace

void set_rma_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(callbacks, on_rma_collective_end);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(callbacks, on_rma_put);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(callbacks, on_rma_get);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(callbacks, on_rma_atomic);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(callbacks, on_rma_done<false>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(callbacks, on_rma_done<true>);
  OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(callbacks, on_rma_group_sync);
  OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(callbacks, on_rma_lock);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(callbacks, on_rma_unlock);
}

}  // namespace rubato
