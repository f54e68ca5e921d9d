#pragma once

#include <tuple>

#include "tracer/objects/communicators.h"
#include "tracer/objects/datatypes.h"
#include "tracer/objects/requests.h"
#include "tracer/record/recorder.h"

/// Point-to-point calls: blocking, nonblocking, persistent. One function per kind of mpi_calls.txt;
/// each makes the real call and records its meaning. They are templates only because the
/// large-count forms have another type for counts.
///
/// Common rules: nothing is recorded for MPI_PROC_NULL or for a failed call; an ignored status is
/// replaced by one of ours; the result of the call is returned.
namespace rubato {
inline namespace tracing {

template <class Count>
Message message_of(const Communicator* entry, int peer, int tag, Count count, MPI_Datatype type) {
  const Data data = data_of(count, type);
  return {entry->id, peer, tag, data.bytes, data.block};
}

/// Records the message of a blocking send.
template <class Count>
void note_sent(Call& call, MPI_Comm comm, int peer, int tag, Count count, MPI_Datatype type) {
  const Communicator* entry = communicators::find(comm);
  if (!entry->recordable) return;
  const Message message = message_of(entry, peer, tag, count, type);
  call.message(Item::kSend, message);
  call.block(message);
}

/// AnyOf for a receive or probe.
inline unsigned any_of(int source, int tag) {
  return (source == MPI_ANY_SOURCE ? kOfAnySource : 0u) | (tag == MPI_ANY_TAG ? kOfAnyTag : 0u);
}

/// Records the message of a blocking receive. `any`: its wildcards; `posted`: bytes of its buffer.
inline void note_received(Call& call, const Message& message, unsigned any, uint64_t posted) {
  call.message(Item::kRecv, message);
  call.block(message);
  if (any != 0 || posted != message.bytes) call.item(Item::kAsked, Asked{any, posted}.value());
}
template <class Count>
void note_received(Call& call, MPI_Comm comm, int source, int tag, Count count, MPI_Datatype type,
                   const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;
  const Communicator* entry = communicators::find(comm);
  if (!entry->recordable) return;
  // A named source is certain; SMPI's MPI_Sendrecv to oneself puts another one into the status.
  const int from = source >= 0 ? source : status.MPI_SOURCE;
  const Data posted = data_of(count, type);
  note_received(call,
                {entry->id, from, status.MPI_TAG, library::received_bytes(status), posted.block},
                any_of(source, tag), posted.bytes);
}

/// MPI_ANY_SOURCE and MPI_ANY_TAG, which differ between libraries, as -1.
inline int any_source(int source) {
  return source == MPI_ANY_SOURCE ? -1 : source;
}
inline int any_tag(int tag) {
  return tag == MPI_ANY_TAG ? -1 : tag;
}

template <class Real, class Count>
int record_send(Call call, Real real, const void* buf, Count count, MPI_Datatype type, int dest,
                int tag, MPI_Comm comm) {
  const int result = real(buf, count, type, dest, tag, comm);
  if (result == MPI_SUCCESS && dest != MPI_PROC_NULL) {
    note_sent(call, comm, dest, tag, count, type);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_recv(Call call, Real real, void* buf, Count count, MPI_Datatype type, int source,
                int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(buf, count, type, source, tag, comm, status);
  if (result == MPI_SUCCESS) {
    note_received(call, comm, source, tag, count, type, *status);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_sendrecv(Call call, Real real, const void* sendbuf, Count sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, Count recvcount,
                    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                          source, recvtag, comm, status);
  if (result == MPI_SUCCESS) {
    if (dest != MPI_PROC_NULL) {
      note_sent(call, comm, dest, sendtag, sendcount, sendtype);
    }
    note_received(call, comm, source, recvtag, recvcount, recvtype, *status);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_sendrecv_replace(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                            int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(buf, count, type, dest, sendtag, source, recvtag, comm, status);
  if (result == MPI_SUCCESS) {
    if (dest != MPI_PROC_NULL) {
      note_sent(call, comm, dest, sendtag, count, type);
    }
    note_received(call, comm, source, recvtag, count, type, *status);
  }
  call.leave();
  return result;
}

/// An unrecorded request: entered only to keep its place in the queue of its handle (requests.h).
inline void foreign_request(Call&, int result, const MPI_Request* request) {
  if (result == MPI_SUCCESS && request != nullptr) requests::add(*request, Request{});
}

/// Enters a request posted on `comm`, and numbers it if the peer is a process.
inline void note_posted(Call& call, RequestKind kind, const Message& message, bool recordable,
                        MPI_Request handle) {
  Request request;
  if (recordable) {
    request.kind = kind;
    request.number = call.next_request();
    request.message.communicator = message.communicator;
    call.message(kind == RequestKind::kSend ? Item::kIsend : Item::kIrecvRequest, message);
    call.block(message);
  }
  requests::add(handle, request);
}

template <class Real, class Count>
int record_isend(Call call, Real real, const void* buf, Count count, MPI_Datatype type, int dest,
                 int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real(buf, count, type, dest, tag, comm, request);
  if (result == MPI_SUCCESS) {
    const Communicator* entry = communicators::find(comm);
    note_posted(call, RequestKind::kSend, message_of(entry, dest, tag, count, type),
                entry->recordable && dest != MPI_PROC_NULL, *request);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_irecv(Call call, Real real, void* buf, Count count, MPI_Datatype type, int source,
                 int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real(buf, count, type, source, tag, comm, request);
  if (result == MPI_SUCCESS) {
    const Communicator* entry = communicators::find(comm);
    note_posted(call, RequestKind::kRecv,
                message_of(entry, any_source(source), any_tag(tag), count, type),
                entry->recordable && source != MPI_PROC_NULL, *request);
  }
  call.leave();
  return result;
}

inline void note_initialised(Call& call, RequestKind kind, SendMode mode, const Message& message,
                             bool recordable, MPI_Request handle) {
  Request request;
  if (recordable) {
    request.kind = kind;
    request.number = requests::next_persistent_number(call.log().number);
    request.message = message;
    request.mode = mode;
  }
  request.persistent = true;
  request.active = false;
  requests::add(handle, request);
}

template <SendMode mode, class Real, class Count>
int record_any_send_init(Call call, Real real, const void* buf, Count count, MPI_Datatype type,
                         int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real(buf, count, type, dest, tag, comm, request);
  if (result == MPI_SUCCESS) {
    const Communicator* entry = communicators::find(comm);
    note_initialised(call, RequestKind::kSend, mode, message_of(entry, dest, tag, count, type),
                     entry->recordable && dest != MPI_PROC_NULL, *request);
  }
  call.leave();
  return result;
}

template <class... Arguments>
int record_send_init(Call call, Arguments... arguments) {
  return record_any_send_init<SendMode::kStandard>(std::move(call), arguments...);
}
template <class... Arguments>
int record_bsend_init(Call call, Arguments... arguments) {
  return record_any_send_init<SendMode::kBuffered>(std::move(call), arguments...);
}
template <class... Arguments>
int record_ssend_init(Call call, Arguments... arguments) {
  return record_any_send_init<SendMode::kSynchronous>(std::move(call), arguments...);
}
template <class... Arguments>
int record_rsend_init(Call call, Arguments... arguments) {
  return record_any_send_init<SendMode::kReady>(std::move(call), arguments...);
}

template <class Real, class Count>
int record_recv_init(Call call, Real real, void* buf, Count count, MPI_Datatype type, int source,
                     int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real(buf, count, type, source, tag, comm, request);
  if (result == MPI_SUCCESS) {
    const Communicator* entry = communicators::find(comm);
    note_initialised(call, RequestKind::kRecv, SendMode::kStandard,
                     message_of(entry, any_source(source), any_tag(tag), count, type),
                     entry->recordable && source != MPI_PROC_NULL, *request);
  }
  call.leave();
  return result;
}

/// A partitioned message is recorded as one message of all its partitions. A receive is recorded
/// from its arguments: there are no wildcards, both sides agree on the length, and MPI need not
/// fill its status.
template <RequestKind kind, class Real, class Buffer>
int record_partitioned_init(Call call, Real real, Buffer buf, int partitions, MPI_Count count,
                            MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  const int result = real(buf, partitions, count, type, peer, tag, comm, info, request);
  if (result == MPI_SUCCESS) {
    const Communicator* entry = communicators::find(comm);
    note_initialised(call, kind, SendMode::kPartitioned,
                     message_of(entry, peer, tag, partitions * count, type),
                     entry->recordable && peer != MPI_PROC_NULL, *request);
  }
  call.leave();
  return result;
}
template <class... Arguments>
int record_psend_init(Call call, Arguments... arguments) {
  return record_partitioned_init<RequestKind::kSend>(std::move(call), arguments...);
}
template <class... Arguments>
int record_precv_init(Call call, Arguments... arguments) {
  return record_partitioned_init<RequestKind::kPartitionedRecv>(std::move(call), arguments...);
}

/// MPI_Pready and similar calls, whose last argument is the request. It is looked up before MPI
/// learns of the partition: with the last partition another thread may complete the request.
template <class Real, class... Arguments>
int record_pready(Call call, Real real, Arguments... arguments) {
  Request request;
  const MPI_Request handle = std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...));
  const bool known = requests::find(handle, request) && request.active && request.on_record();
  const int result = real(arguments...);
  if (known && result == MPI_SUCCESS) call.item(Item::kRequestReady, request.number);
  call.leave();
  return result;
}

inline void note_started(Call& call, MPI_Request handle) {
  Request request;
  if (!requests::restart(handle, call.muted(), request) || request.kind == RequestKind::kForeign)
    return;
  if (request.kind == RequestKind::kCollective) {
    call.item(Item::kCollectiveStart, request.number);
    call.word(request.message.communicator | uint64_t{request.init_order} << 32);
    return;
  }
  if (request.kind == RequestKind::kNeighbours) {
    call.item(Item::kRequestStart, request.number);
    return;
  }
  const bool send = request.kind == RequestKind::kSend;
  call.message(send ? Item::kIsendStart : Item::kIrecvStart, request.message);
  call.word(request.number | static_cast<uint64_t>(request.mode) << 56);
  call.block(request.message);
}

template <class Real>
int record_start(Call call, Real real, MPI_Request* request) {
  const int result = real(request);
  if (result == MPI_SUCCESS) note_started(call, *request);
  call.leave();
  return result;
}

template <class Real>
int record_startall(Call call, Real real, int count, MPI_Request* requests) {
  const bool reserved = count <= 0 || call.reserve(static_cast<size_t>(count));
  const int result = real(count, requests);
  if (result == MPI_SUCCESS && reserved) {
    for (int i = 0; i < count; ++i) note_started(call, requests[i]);
  }
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
