#pragma once

#include <tuple>

#include "tracer/hooks/call_collectives.h"
#include "tracer/objects/communicators.h"
#include "tracer/record/recorder.h"

/// Calls that make, name and free communicators.
namespace rubato {
inline namespace tracing {

/// The creation record of a new communicator, if this rank is in it and OTF2 can describe it.
inline void note_created(Call& call, const Communicator* entry) {
  if (entry != nullptr && entry->recordable) call.item(Item::kCommCreate, entry->id);
}

inline void note_handle_collective(Call& call, unsigned op, const Communicator* over) {
  if (over->recordable) {
    note_collective(call, op, over->id, OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
  }
}

/// Calls of the form MPI_X(parent, ..., &newcomm) that are collective over the parent.
template <class Real, class... Arguments>
int record_comm_create(Call call, Real real, MPI_Comm parent, Arguments... arguments) {
  const int result = real(parent, arguments...);
  if (result == MPI_SUCCESS) {
    MPI_Comm* const made = std::get<sizeof...(arguments) - 1>(std::make_tuple(arguments...));
    Communicator* over = communicators::find(parent);
    const uint32_t child = communicators::next_child(over);
    note_created(call, communicators::created(over, *made, child));
    note_handle_collective(call, OTF2_COLLECTIVE_OP_CREATE_HANDLE, over);
  }
  call.leave();
  return result;
}

/// The communicator exists when the request completes; its number among the children of its parent
/// follows the order of these calls. Both libraries return its handle at once. It is kept here,
/// since the program's variable may be gone by then.
template <class Real, class... Arguments>
int record_comm_idup(Call call, Real real, MPI_Comm parent, Arguments... arguments) {
  const int result = real(parent, arguments...);
  if (result == MPI_SUCCESS) {
    MPI_Comm* const made = std::get<sizeof...(arguments) - 2>(std::make_tuple(arguments...));
    Communicator* over = communicators::find(parent);
    Request request;
    request.kind = RequestKind::kCommIdup;
    request.message = {over->id, 0, static_cast<int32_t>(communicators::next_child(over)), 0};
    request.extra = handle_bits(*made);
    if (over->recordable) {
      request.number = call.next_request();
      call.item(Item::kCollectiveRequest, over->id);
    }
    requests::add(*last_of(arguments...), request);
  }
  call.leave();
  return result;
}

inline void note_idup_complete(Call& call, const Request& request) {
  Communicator* over = communicators::by_id(request.message.communicator);
  const auto made = (MPI_Comm)request.extra;  // see handle_bits()
  const Communicator* entry =
      communicators::created(over, made, static_cast<uint32_t>(request.message.tag));
  if (!request.on_record()) return;
  call.item(Item::kCollectiveComplete, request.number);
  call.word(collective_word(OTF2_COLLECTIVE_OP_CREATE_HANDLE, over->id, OTF2_COLLECTIVE_ROOT_NONE));
  call.word(0);
  call.word(0);
  note_created(call, entry);
}

/// The call is collective over the new communicator only, so its creation is recorded on itself.
inline void note_created_by_members(Call& call, MPI_Comm made, int tag = 0) {
  const Communicator* entry = communicators::created_by_members(made, tag);
  note_created(call, entry);
  note_handle_collective(call, OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                         entry != nullptr ? entry : communicators::find(handles.self));
}

template <class Real>
int record_comm_create_group(Call call, Real real, MPI_Comm comm, MPI_Group group, int tag,
                             MPI_Comm* made) {
  const int result = real(comm, group, tag, made);
  if (result == MPI_SUCCESS) note_created_by_members(call, *made, tag);
  call.leave();
  return result;
}

template <class Real>
int record_intercomm_create(Call call, Real real, MPI_Comm local, int local_leader, MPI_Comm peer,
                            int remote_leader, int tag, MPI_Comm* made) {
  const int result = real(local, local_leader, peer, remote_leader, tag, made);
  if (result == MPI_SUCCESS) note_created_by_members(call, *made);
  call.leave();
  return result;
}

/// Calls that return a communicator whose processes may belong to another job, as the last argument
/// or (`behind`) before it. It is registered now, in the same order on all its members.
template <size_t behind, class Real, class... Arguments>
int record_comm_meet(Call call, Real real, Arguments... arguments) {
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) {
    const MPI_Comm made =
        *std::get<sizeof...(arguments) - 1 - behind>(std::make_tuple(arguments...));
    if (made != handles.comm_null) note_created_by_members(call, made);
  }
  call.leave();
  return result;
}

/// The same communicator each time.
template <class Real>
int record_comm_get_parent(Call call, Real real, MPI_Comm* parent) {
  const int result = real(parent);
  if (result == MPI_SUCCESS && *parent != handles.comm_null) communicators::find(*parent);
  call.leave();
  return result;
}

template <class Real>
int record_comm_free(Call call, Real real, MPI_Comm* comm) {
  const MPI_Comm handle = comm != nullptr ? *comm : handles.comm_null;
  if (handle == handles.comm_null) {  // an error for MPI to report
    const int failed = real(comm);
    call.leave();
    return failed;
  }
  Communicator* entry = communicators::find(handle);
  // Before MPI may hand the handle to another thread.
  communicators::forget(handle);
  const int result = real(comm);
  if (result != MPI_SUCCESS) {
    communicators::restore(handle, entry);
  } else if (entry->recordable) {
    if (entry->has_events) call.item(Item::kCommDestroy, entry->id);
    note_handle_collective(call, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, entry);
  }
  call.leave();
  return result;
}

template <class Real>
int record_comm_set_name(Call call, Real real, MPI_Comm comm, const char* name) {
  const int result = real(comm, name);
  if (result == MPI_SUCCESS) communicators::set_name(comm, name);
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
