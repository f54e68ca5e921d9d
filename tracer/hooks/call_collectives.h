#pragma once

#include <tuple>

#include "tracer/hooks/collective_sizes.h"
#include "tracer/objects/requests.h"
#include "tracer/record/recorder.h"

/// Collective calls, blocking, nonblocking and persistent; `Operation` is one of
/// collective_sizes.h.
namespace rubato {
inline namespace tracing {

inline void note_collective(Call& call, unsigned op, uint32_t communicator, uint32_t root,
                            uint64_t sent, uint64_t received) {
  const CollectiveItem item{op, communicator, root, sent, received};
  const uint64_t what = collective_word(op, communicator, root);
  if (item.is_tiny()) {
    call.item(Item::kTinyCollective, item.tiny());
  } else if ((sent | received) >> 32 == 0) {
    call.item(Item::kSmallCollective, what);
    call.word(sent << 32 | received);
  } else {
    call.item(Item::kCollective, what);
    call.word(sent);
    call.word(received);
  }
}

template <class... Arguments>
auto last_of(Arguments... arguments) {
  return std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...));
}

/// True for operations with a part for each peer.
template <class Operation, class... Arguments>
inline constexpr bool has_parts = requires(Arguments... arguments) {
  Operation::parts(arguments...);
};

/// Reserves words for the longest list that note_parts() writes; call it before MPI's work.
template <class Operation, class... Arguments>
bool reserve_parts(Call& call) {
  if constexpr (has_parts<Operation, Arguments...>) {
    return call.reserve_words(kMaxPartRuns + 2);
  } else {
    return true;
  }
}

/// Records the parts of a call as runs of equal parts. A list that is too long is not recorded;
/// readers then have only the sums. `request` is 0 except for a persistent collective.
template <class Operation, class... Arguments>
void note_parts(Call& call, uint64_t request, Arguments... arguments) {
  if constexpr (has_parts<Operation, Arguments...>) {
    if (call.muted()) return;
    const auto parts = Operation::parts(arguments...);
    uint64_t* const runs = call.behind(request != 0 ? 2 : 1);
    const size_t n = put_part_runs(runs, parts.peers, parts.bytes);
    if (n == 0) return;
    call.item(Item::kParts, PartsHead{n, request != 0}.value());
    if (request != 0) call.word(request);
    call.skip(n);
  }
}

template <class Operation, class Real, class... Arguments>
int record_collective(Call call, Real real, Arguments... arguments) {
  const bool reserved = reserve_parts<Operation, Arguments...>(call);
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const CollectiveUse use = Operation::of(arguments...);
    if (use.entry->recordable) {
      if (reserved) note_parts<Operation>(call, 0, arguments...);
      note_collective(call, use.op, use.entry->id, use.root, use.sent, use.received);
    }
  }
  const uint64_t end = call.leave();
  if constexpr (std::is_same_v<Operation, Barrier>) {
    if (last_of(arguments...) == handles.world) Recorder::barrier_passed(end);
  }
  return result;
}

/// Data of a request for its completion record.
inline Request collective_request(const CollectiveUse& use, uint64_t number) {
  Request request;
  request.kind = RequestKind::kCollective;
  request.number = number;
  request.message = {use.entry->id, static_cast<int32_t>(use.root), static_cast<int32_t>(use.op),
                     use.sent};
  request.extra = use.received;
  return request;
}

inline void note_collective_complete(Call& call, const Request& request) {
  const Message& m = request.message;
  call.item(Item::kCollectiveComplete, request.number);
  call.word(
      collective_word(static_cast<unsigned>(m.tag), m.communicator, static_cast<uint32_t>(m.peer)));
  call.word(m.bytes);
  call.word(request.extra);
}

template <class Operation, class Real, class... Arguments>
int record_icollective(Call call, Real real, Arguments... arguments) {
  const bool reserved = reserve_parts<Operation, Arguments...>(call);
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const MPI_Request handle = *last_of(arguments...);
    const CollectiveUse use = Operation::of(arguments...);
    if (use.entry->recordable) {
      if (reserved) note_parts<Operation>(call, 0, arguments...);
      call.item(Item::kCollectiveRequest, use.entry->id);
      const Request request = collective_request(use, call.next_request());
      // The operation may be complete at once, without a request.
      if (handle == handles.request_null && request.on_record())
        note_collective_complete(call, request);
      requests::add(handle, request);
    } else {
      requests::add(handle, Request{});
    }
  }
  call.leave();
  return result;
}

/// Persistent collectives: each start posts the same number again, with the same parts. All ranks
/// initialise the persistent collectives of a communicator in the same order, but may start them in
/// different orders.
template <class Operation, class Real, class... Arguments>
int record_collective_init(Call call, Real real, Arguments... arguments) {
  const bool reserved = reserve_parts<Operation, Arguments...>(call);
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const CollectiveUse use = Operation::of(arguments...);
    Request request;
    if (use.entry->recordable) {
      request = collective_request(use, requests::next_persistent_number(call.log().number));
      request.init_order = ++use.entry->persistent;
      if (reserved) note_parts<Operation>(call, request.number, arguments...);
    }
    request.persistent = true;
    request.active = false;
    requests::add(*last_of(arguments...), request);
  }
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
