#pragma once

#include "tracer/hooks/call_messages.h"
#include "tracer/hooks/collective_sizes.h"

/// Matched probes and their receives, and sends and receives that share a request.
namespace rubato {
inline namespace tracing {

/// The message that a probe found, and a later receive will name.
inline void note_probed(Call& call, int source, int tag, MPI_Comm comm, const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;
  const Communicator* entry = communicators::find(comm);
  if (!entry->recordable) return;
  call.item(Item::kProbed, entry->id | uint64_t{any_of(source, tag)} << 32);
  call.word(static_cast<uint64_t>(static_cast<uint32_t>(status.MPI_SOURCE)) << 32 |
            static_cast<uint32_t>(status.MPI_TAG));
}

template <class Real>
int record_probe(Call call, Real real, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, status);
  if (result == MPI_SUCCESS) note_probed(call, source, tag, comm, *status);
  call.leave();
  return result;
}

template <class Real>
int record_iprobe(Call call, Real real, int source, int tag, MPI_Comm comm, int* flag,
                  MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, flag, status);
  if (result == MPI_SUCCESS && *flag != 0) note_probed(call, source, tag, comm, *status);
  call.leave();
  return result;
}

/// The receive names neither communicator nor envelope; the probe does.
inline void note_matched(Call& call, int source, int tag, MPI_Comm comm, MPI_Message message,
                         const MPI_Status& status) {
  note_probed(call, source, tag, comm, status);
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;  // MPI_MESSAGE_NO_PROC
  const Communicator* entry = communicators::find(comm);
  if (!entry->recordable) return;
  requests::add_message(
      message, {entry->id, status.MPI_SOURCE, status.MPI_TAG, library::received_bytes(status)},
      any_of(source, tag));
}

template <class Real>
int record_mprobe(Call call, Real real, int source, int tag, MPI_Comm comm, MPI_Message* message,
                  MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, message, status);
  if (result == MPI_SUCCESS) note_matched(call, source, tag, comm, *message, *status);
  call.leave();
  return result;
}

template <class Real>
int record_improbe(Call call, Real real, int source, int tag, MPI_Comm comm, int* flag,
                   MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, flag, message, status);
  if (result == MPI_SUCCESS && *flag != 0) note_matched(call, source, tag, comm, *message, *status);
  call.leave();
  return result;
}

/// A receive of a matched message has returned; false if the message is unknown or not received.
inline bool receive_matched(MPI_Message before, requests::Claim claim, MPI_Message after,
                            Message& matched, unsigned& any) {
  if (after != before) return requests::take_message(before, claim, matched, any);
  requests::release_message(before, claim);
  return false;
}

template <class Real, class Count>
int record_mrecv(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                 MPI_Message* message, MPI_Status* status) {
  if (message == nullptr) return record_mistake(call, real, buf, count, type, message, status);
  const MPI_Message before = *message;
  const requests::Claim claim = requests::claim_message(before);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(buf, count, type, message, status);
  Message matched;
  unsigned any = 0;
  const bool ours = receive_matched(before, claim, *message, matched, any);
  if (result == MPI_SUCCESS && ours) {
    const Data posted = data_of(count, type);
    note_received(call,
                  {matched.communicator, status->MPI_SOURCE, status->MPI_TAG,
                   library::received_bytes(*status), posted.block},
                  any, posted.bytes);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_imrecv(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                  MPI_Message* message, MPI_Request* request) {
  if (message == nullptr) return record_mistake(call, real, buf, count, type, message, request);
  const MPI_Message before = *message;
  const requests::Claim claim = requests::claim_message(before);
  const int result = real(buf, count, type, message, request);
  Message matched{};
  unsigned any = 0;
  const bool ours = receive_matched(before, claim, *message, matched, any);
  if (result == MPI_SUCCESS) {
    const Data posted = data_of(count, type);
    matched.bytes = posted.bytes;
    matched.block = posted.block;
    if (any & kOfAnySource) matched.peer = -1;
    if (any & kOfAnyTag) matched.tag = -1;
    note_posted(call, RequestKind::kRecv, matched, ours, *request);
  }
  call.leave();
  return result;
}

/// The two messages of MPI_Isendrecv.
template <class Count>
struct Exchange {
  int dest;
  int sendtag;
  Count sendcount;
  MPI_Datatype sendtype;
  int source;
  int recvtag;
  Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// One request for a send and a receive, each with its own number.
template <class Count>
void note_exchange(Call& call, const Exchange<Count>& e, MPI_Request handle) {
  const Communicator* entry = communicators::find(e.comm);
  const bool sends = entry->recordable && e.dest != MPI_PROC_NULL;
  const bool receives = entry->recordable && e.source != MPI_PROC_NULL;
  Request made;
  if (sends) {
    made.kind = RequestKind::kSend;
    made.number = call.next_request();
    const Message sent = message_of(entry, e.dest, e.sendtag, e.sendcount, e.sendtype);
    call.message(Item::kIsend, sent);
    call.block(sent);
  }
  if (receives) {
    made.kind = sends ? RequestKind::kSendRecv : RequestKind::kRecv;
    (sends ? made.extra : made.number) = call.next_request();
    made.message =
        message_of(entry, any_source(e.source), any_tag(e.recvtag), e.recvcount, e.recvtype);
    call.message(Item::kIrecvRequest, made.message);
    call.block(made.message);
  }
  requests::add(handle, made);
}

template <class Real, class Count>
int record_isendrecv(Call call, Real real, const void* sendbuf, Count sendcount,
                     MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf, Count recvcount,
                     MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                     MPI_Request* request) {
  const int result = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                          source, recvtag, comm, request);
  if (result == MPI_SUCCESS) {
    note_exchange<Count>(
        call, {dest, sendtag, sendcount, sendtype, source, recvtag, recvcount, recvtype, comm},
        *request);
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_isendrecv_replace(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                             int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request* request) {
  const int result = real(buf, count, type, dest, sendtag, source, recvtag, comm, request);
  if (result == MPI_SUCCESS) {
    note_exchange<Count>(call, {dest, sendtag, count, type, source, recvtag, count, type, comm},
                         *request);
  }
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
