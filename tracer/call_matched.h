#pragma once

#include "tracer/call_messages.h"
#include "tracer/collective_sizes.h"

/// Matched probes and their receives, and sends and receives that share a request.
namespace rubato {

/// The receive will not say on which communicator; the probe knows.
inline void note_matched(MPI_Comm comm, MPI_Message message, const MPI_Status& status) {
  if (status.MPI_SOURCE == MPI_PROC_NULL) return;  // MPI_MESSAGE_NO_PROC
  const Communicator* entry = communicators::find(comm);
  if (!entry->recordable) return;
  requests::add_message(message,
                        {entry->id, status.MPI_SOURCE, status.MPI_TAG, received_bytes(status)});
}

template <class Real>
int record_mprobe(Call call, Real real, int source, int tag, MPI_Comm comm, MPI_Message* message,
                  MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, message, status);
  if (result == MPI_SUCCESS) note_matched(comm, *message, *status);
  call.leave();
  return result;
}

template <class Real>
int record_improbe(Call call, Real real, int source, int tag, MPI_Comm comm, int* flag,
                   MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(source, tag, comm, flag, message, status);
  if (result == MPI_SUCCESS && *flag != 0) note_matched(comm, *message, *status);
  call.leave();
  return result;
}

template <class Real, class Count>
int record_mrecv(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                 MPI_Message* message, MPI_Status* status) {
  if (message == nullptr) return record_mistake(call, real, buf, count, type, message, status);
  const MPI_Message before = *message;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(buf, count, type, message, status);
  Message matched;
  const bool ours = *message != before && requests::take_message(before, matched);
  if (result == MPI_SUCCESS && ours) {
    call.message(Item::kRecv, {matched.communicator, status->MPI_SOURCE, status->MPI_TAG,
                               received_bytes(*status)});
  }
  call.leave();
  return result;
}

template <class Real, class Count>
int record_imrecv(Call call, Real real, void* buf, Count count, MPI_Datatype type,
                  MPI_Message* message, MPI_Request* request) {
  if (message == nullptr) return record_mistake(call, real, buf, count, type, message, request);
  const MPI_Message before = *message;
  const int result = real(buf, count, type, message, request);
  Message matched{};
  const bool ours = *message != before && requests::take_message(before, matched);
  if (result == MPI_SUCCESS) {
    matched.bytes = 0;
    note_posted(call, RequestKind::kRecv, matched, ours, *request);
  }
  call.leave();
  return result;
}

/// What MPI_Isendrecv has to say of its two messages.
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

/// One request for a send and a receive, which are numbered each.
template <class Count>
void note_exchange(Call& call, const Exchange<Count>& e, MPI_Request handle) {
  const Communicator* entry = communicators::find(e.comm);
  const bool sends = entry->recordable && e.dest != MPI_PROC_NULL;
  const bool receives = entry->recordable && e.source != MPI_PROC_NULL;
  Request made;
  if (sends) {
    made.kind = RequestKind::kSend;
    made.number = call.next_request();
    call.message(Item::kIsend, {entry->id, e.dest, e.sendtag, bytes_of(e.sendcount, e.sendtype)});
  }
  if (receives) {
    made.kind = sends ? RequestKind::kSendRecv : RequestKind::kRecv;
    (sends ? made.extra : made.number) = call.next_request();
    made.message = {entry->id, any_source(e.source), any_tag(e.recvtag), 0};
    call.message(Item::kIrecvRequest, made.message);
    made.message.bytes = bytes_of(e.recvcount, e.recvtype);
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

}  // namespace rubato
