#pragma once

#include <otf2/otf2.h>

#include <tuple>

#include "tracer/hooks/call_collectives.h"
#include "tracer/objects/windows.h"

/// One-sided communication: operations, their completion, and the calls on windows. Levels, order
/// and bytes are Score-P's: the bytes of an operation are those of its origin.
namespace rubato {
inline namespace tracing {

inline constexpr unsigned kSyncNone = OTF2_RMA_SYNC_LEVEL_NONE;
inline constexpr unsigned kSyncProcess = OTF2_RMA_SYNC_LEVEL_PROCESS;
inline constexpr unsigned kSyncAll = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;

constexpr unsigned rma_atomic(OTF2_RmaAtomicType type) {
  return unsigned{kRmaAtomic} + unsigned{type};
}

/// An operation towards `target`. `how` is kRmaPut, kRmaGet, or kRmaAtomic and OTF2's type.
struct RmaUse {
  MPI_Win win;
  int target;
  unsigned how;
  uint64_t sent;
  uint64_t received;

  RmaClass kind() const {
    return how == kRmaPut || how == rma_atomic(OTF2_RMA_ATOMIC_TYPE_ACCUMULATE) ? RmaClass::kPut
                                                                                : RmaClass::kGet;
  }
};

struct Put {
  template <class Count, class... Rest>
  static RmaUse of(const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
                   MPI_Datatype, MPI_Win win, Rest...) {
    return {win, target, kRmaPut, bytes_of(count, type), 0};
  }
};
struct Get {
  template <class Count, class... Rest>
  static RmaUse of(void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count, MPI_Datatype,
                   MPI_Win win, Rest...) {
    return {win, target, kRmaGet, bytes_of(count, type), 0};
  }
};
struct Accumulate {
  template <class Count, class... Rest>
  static RmaUse of(const void*, Count count, MPI_Datatype type, int target, MPI_Aint, Count,
                   MPI_Datatype, MPI_Op, MPI_Win win, Rest...) {
    return {win, target, rma_atomic(OTF2_RMA_ATOMIC_TYPE_ACCUMULATE), bytes_of(count, type), 0};
  }
};
struct GetAccumulate {
  template <class Count, class... Rest>
  static RmaUse of(const void*, Count count, MPI_Datatype type, void*, Count results,
                   MPI_Datatype result_type, int target, MPI_Aint, Count, MPI_Datatype, MPI_Op op,
                   MPI_Win win, Rest...) {
    // With MPI_NO_OP the origin arguments are ignored.
    return {win, target, rma_atomic(OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE),
            op == handles.no_op ? 0 : bytes_of(count, type), bytes_of(results, result_type)};
  }
};
struct FetchAndOp {
  static RmaUse of(const void*, void*, MPI_Datatype type, int target, MPI_Aint, MPI_Op,
                   MPI_Win win) {
    return {win, target, rma_atomic(OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE), type_size(type),
            type_size(type)};
  }
};
struct CompareAndSwap {
  static RmaUse of(const void*, const void*, void*, MPI_Datatype type, int target, MPI_Aint,
                   MPI_Win win) {
    return {win, target, rma_atomic(OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP), type_size(type),
            type_size(type)};
  }
};

inline void note_rma(Call& call, const RmaUse& use, uint32_t window, uint64_t matching) {
  call.item(Item::kRmaOperation, window | uint64_t{use.how} << 20);
  call.word(static_cast<uint64_t>(use.target));
  call.word(use.sent);
  call.word(use.received);
  call.word(matching);
}

inline void note_rma_complete(Call& call, uint32_t window, uint64_t matching, bool local,
                              bool remote) {
  call.item(Item::kRmaComplete, window | uint64_t{local} << 20 | uint64_t{remote} << 21);
  call.word(matching);
}

/// The window of a call if it is to be recorded; null for MPI_PROC_NULL.
inline Window* window_of(MPI_Win win, int target = 0) {
  Window* window = target == MPI_PROC_NULL ? nullptr : windows::find(win);
  return window != nullptr && window->recordable ? window : nullptr;
}

/// The window of an operation. Its completion is recorded only if the operation is, and not if
/// recording is switched off meanwhile.
inline Window* window_on_record(const Call& call, const RmaUse& use) {
  return call.muted() ? nullptr : window_of(use.win, use.target);
}

template <class Operation, class Real, class... Arguments>
int record_rma(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const RmaUse use = Operation::of(arguments...);
    if (Window* window = window_on_record(call, use)) {
      note_rma(call, use, window->id, window->operation(use.kind(), use.target));
    }
  }
  call.leave();
  return result;
}

/// Records that the request of such an operation is complete.
inline void note_rma_request_complete(Call& call, const Request& request) {
  const bool remote = request.message.tag == static_cast<int32_t>(RmaClass::kGet);
  note_rma_complete(call, request.message.communicator, request.number, true, remote);
}

/// Operations with a request: each has a number of its own.
template <class Operation, class Real, class... Arguments>
int record_rrma(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const MPI_Request handle = *last_of(arguments...);
    const RmaUse use = Operation::of(arguments...);
    Request request;
    if (Window* window = window_on_record(call, use)) {
      request.kind = RequestKind::kRma;
      request.number = windows::next_matching();
      request.message = {window->id, use.target, static_cast<int32_t>(use.kind()), 0};
      note_rma(call, use, window->id, request.number);
      if (use.kind() == RmaClass::kPut) window->add_remote(request.number, use.target);
      if (handle == handles.request_null) note_rma_request_complete(call, request);
    }
    requests::add(handle, request);
  }
  call.leave();
  return result;
}

/// Number of completions that a call may record; 0 if its window is not recorded or the log has no
/// space. Call it before MPI's work (Call::reserve_words). The operations under way count twice,
/// since other threads may begin more meanwhile.
inline size_t completion_limit(Call& call, const Window* window) {
  constexpr size_t kWords = 2;
  constexpr size_t kAlways = 24;  // fits into kFreeWords with the call's other items
  static_assert(kAlways * kWords + 12 <= kFreeWords);
  if (window == nullptr) return 0;
  const size_t limit = 2 * window->open();
  if (limit <= kAlways) return kAlways;
  return call.reserve_words(limit * kWords) ? limit : 0;
}

/// Records the operations that a call completed: at one target, or at all targets (-1).
inline void complete_rma(Call& call, Window& window, int target, bool remotely, size_t limit) {
  const auto visit = [&](uint64_t matching, bool local, bool remote) {
    if (limit == 0) return;  // another thread has begun more
    --limit;
    note_rma_complete(call, window.id, matching, local, remote);
  };
  if (target < 0) {
    window.complete_all(remotely, visit);
  } else {
    window.complete(target, remotely, visit);
  }
}

inline void note_group_sync(Call& call, const Window& window, unsigned level, uint32_t group) {
  call.item(Item::kRmaGroupSync, window.id | uint64_t{level} << 20);
  call.word(group);
}

inline void note_rma_collective(Call& call, const Window& window, unsigned op, unsigned level) {
  call.item(Item::kRmaCollective, window.id | uint64_t{level} << 20 | uint64_t{op} << 24);
}

/// Index of the communicator among the arguments, and whether MPI allocates the memory.
struct WinCreate {
  static constexpr size_t kComm = 4;
  static constexpr bool kAllocates = false;
};
struct WinAllocate {
  static constexpr size_t kComm = 3;
  static constexpr bool kAllocates = true;
};
struct WinCreateDynamic {
  static constexpr size_t kComm = 1;
  static constexpr bool kAllocates = false;
};

template <class Form, class Real, class... Arguments>
int record_win_create(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const MPI_Comm comm = std::get<Form::kComm>(std::make_tuple(arguments...));
    const Window* window = windows::created(*last_of(arguments...), comm, Form::kAllocates);
    if (window->recordable) {
      call.item(Item::kRmaCollectiveBegin, 0);
      call.item(Item::kWinCreate, window->id);
      note_rma_collective(call, *window,
                          Form::kAllocates ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE
                                           : OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                          kSyncProcess);
    }
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_free(Call call, Real real, MPI_Win* win) {
  if (win == nullptr) return record_mistake(call, real, win);
  const MPI_Win handle = *win;
  Window* window = windows::find(handle);
  // Before MPI may hand the handle to another thread.
  if (window != nullptr) windows::forget(handle);
  const int result = real(win);
  if (window != nullptr && result != MPI_SUCCESS) {
    windows::restore(handle, window);
  } else if (window != nullptr && window->recordable) {
    call.item(Item::kRmaCollectiveBegin, 0);
    call.item(Item::kWinDestroy, window->id);
    note_rma_collective(call, *window,
                        window->allocated ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE
                                          : OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
                        kSyncProcess);
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_set_name(Call call, Real real, MPI_Win win, const char* name) {
  const int result = real(win, name);
  if (result == MPI_SUCCESS) windows::set_name(win, name);
  call.leave();
  return result;
}

template <class Real>
int record_win_fence(Call call, Real real, int assertion, MPI_Win win) {
  Window* window = window_of(win);
  const size_t limit = completion_limit(call, window);
  const int result = real(assertion, win);
  if (result == MPI_SUCCESS && limit > 0) {
    call.item(Item::kRmaCollectiveBegin, 0);
    complete_rma(call, *window, -1, true, limit);
    note_rma_collective(call, *window, OTF2_COLLECTIVE_OP_BARRIER, kSyncAll);
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_lock(Call call, Real real, int type, int target, int assertion, MPI_Win win) {
  const int result = real(type, target, assertion, win);
  const Window* window = window_of(win, target);
  if (result == MPI_SUCCESS && window != nullptr) {
    const unsigned lock = type == MPI_LOCK_EXCLUSIVE ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED;
    call.item(Item::kRmaLock, window->id | uint64_t{lock} << 20);
    call.word(static_cast<uint64_t>(target));
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_lock_all(Call call, Real real, int assertion, MPI_Win win) {
  const int result = real(assertion, win);
  const Window* window = window_of(win);
  if (result == MPI_SUCCESS && window != nullptr) {
    call.item(Item::kRmaLock, window->id | uint64_t{OTF2_LOCK_SHARED} << 20);
    call.word(OTF2_UNDEFINED_UINT32);
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_unlock(Call call, Real real, int target, MPI_Win win) {
  Window* window = window_of(win, target);
  const size_t limit = completion_limit(call, window);
  const int result = real(target, win);
  if (result == MPI_SUCCESS && limit > 0) {
    complete_rma(call, *window, target, true, limit);
    call.item(Item::kRmaUnlock, window->id);
    call.word(static_cast<uint64_t>(target));
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_unlock_all(Call call, Real real, MPI_Win win) {
  Window* window = window_of(win);
  const size_t limit = completion_limit(call, window);
  const int result = real(win);
  if (result == MPI_SUCCESS && limit > 0) {
    complete_rma(call, *window, -1, true, limit);
    call.item(Item::kRmaUnlock, window->id);
    call.word(OTF2_UNDEFINED_UINT32);
  }
  call.leave();
  return result;
}

/// MPI_Win_flush and MPI_Win_flush_local.
template <bool remotely, class Real>
int record_win_flush(Call call, Real real, int target, MPI_Win win) {
  Window* window = window_of(win, target);
  const size_t limit = completion_limit(call, window);
  const int result = real(target, win);
  if (result == MPI_SUCCESS && limit > 0) complete_rma(call, *window, target, remotely, limit);
  call.leave();
  return result;
}
template <bool remotely, class Real>
int record_win_flush_all(Call call, Real real, MPI_Win win) {
  Window* window = window_of(win);
  const size_t limit = completion_limit(call, window);
  const int result = real(win);
  if (result == MPI_SUCCESS && limit > 0) complete_rma(call, *window, -1, remotely, limit);
  call.leave();
  return result;
}

/// MPI_Win_post and MPI_Win_start. The call that ends the epoch records the same group.
template <std::atomic<uint32_t> Window::*epoch, class Real>
int record_win_epoch(Call call, Real real, MPI_Group group, int assertion, MPI_Win win) {
  const int result = real(group, assertion, win);
  Window* window = window_of(win);
  if (result == MPI_SUCCESS && window != nullptr) {
    const uint32_t number = windows::group_number(group);
    (window->*epoch).store(number);
    note_group_sync(call, *window, kSyncProcess, number);
  }
  call.leave();
  return result;
}
template <class... Arguments>
int record_win_start(Call call, Arguments... arguments) {
  return record_win_epoch<&Window::access>(std::move(call), arguments...);
}
template <class... Arguments>
int record_win_post(Call call, Arguments... arguments) {
  return record_win_epoch<&Window::exposure>(std::move(call), arguments...);
}

template <class Real>
int record_win_complete(Call call, Real real, MPI_Win win) {
  Window* window = window_of(win);
  const size_t limit = completion_limit(call, window);
  const int result = real(win);
  if (result == MPI_SUCCESS && limit > 0) {
    complete_rma(call, *window, -1, true, limit);
    note_group_sync(call, *window, kSyncAll, window->access.load());
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_wait(Call call, Real real, MPI_Win win) {
  const int result = real(win);
  const Window* window = window_of(win);
  if (result == MPI_SUCCESS && window != nullptr) {
    note_group_sync(call, *window, kSyncAll, window->exposure.load());
  }
  call.leave();
  return result;
}

template <class Real>
int record_win_test(Call call, Real real, MPI_Win win, int* flag) {
  const int result = real(win, flag);
  const Window* window = window_of(win);
  if (result == MPI_SUCCESS && window != nullptr) {
    note_group_sync(call, *window, *flag != 0 ? kSyncAll : kSyncNone, window->exposure.load());
  }
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
