#pragma once

#include "tracer/hooks/call_collectives.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/hooks/call_completion.h"
#include "tracer/hooks/call_matched.h"
#include "tracer/hooks/call_messages.h"
#include "tracer/hooks/call_neighbours.h"
#include "tracer/hooks/call_passed.h"
#include "tracer/hooks/call_rma.h"
#include "tracer/hooks/callbacks.h"
#include "tracer/session/session.h"
#include "tracer/timing/periodic_sync.h"

/// What the generated wrappers include, and the few kinds of calls that fit nowhere else.
namespace rubato {
inline namespace tracing {

/// MPI_Init and MPI_Init_thread: recording starts when MPI is up.
template <class Real, class... Arguments>
int record_init(CallId id, const void* call_site, Real real, Arguments... arguments) {
  // If the MPI library was loaded after the program's start, wrapper libraries are found only here.
  if (find_wrapper_libraries() && rubato_mpi_entries[id] != rubato_pmpi_entries[id])
    return reinterpret_cast<Real>(rubato_mpi_entries[id])(arguments...);
  const InitStamp stamp = before_init(call_site);
  announce_rank();
  const int result = real(arguments...);
  if (result == MPI_SUCCESS) start_session(id, stamp);
  return result;
}
template <class Real, class... Arguments>
int record_init_thread(CallId id, const void* call_site, Real real, Arguments... arguments) {
  return record_init(id, call_site, real, arguments...);
}

/// MPI_Finalize: the archive is written while MPI still works.
template <class Real>
int record_finalize(CallId id, const void* call_site, Real real) {
  finish_session(id, call_site);
  return real();
}

/// MPI_Session_init: without MPI_Init, recording starts with the first session.
template <class Real, class Info, class Handler, class Session>
int record_session_init(CallId id, const void* call_site, Real real, Info info, Handler handler,
                        Session* session) {
  const InitStamp stamp = before_init(call_site);
  const int result = real(info, handler, session);
  if (result == MPI_SUCCESS) mpi_session_opened(id, stamp);
  return result;
}

template <class Real, class Session>
int record_session_finalize(CallId id, const void* call_site, Real real, Session* session) {
  mpi_session_closing();
  int result;
  if (ThreadLog* log = begin_call(call_site)) {
    Call call(log, id);
    result = real(session);
    call.leave();
  } else {
    result = real(session);
  }
  mpi_session_closed(result == MPI_SUCCESS);
  return result;
}

/// Blocks are counted behind the call, in time that is the tracer's.
template <class Real>
int record_type_commit(Call call, Real real, MPI_Datatype* type) {
  const int result = real(type);
  const uint64_t end = call.leave();
  if (result != MPI_SUCCESS) return result;
  datatypes::of(*type);
  call.tracer_time_since(end);
  return result;
}

template <class Real>
int record_type_free(Call call, Real real, MPI_Datatype* type) {
  const int result = pass_type_free(real, type);
  call.leave();
  return result;
}

template <class Real>
int record_abort(CallId, Real real, MPI_Comm comm, int code) {
  abort_session();
  return real(comm, code);
}

/// Level 0 switches recording off, any other on. MPI libraries ignore the other arguments, which
/// wrapper libraries get (gen_wrappers.py).
template <class Real>
int record_pcontrol(Call call, Real real, int level) {
  const int result = real(level);
  const uint64_t end = call.leave();
  level == 0 ? Recorder::pause(end) : Recorder::resume(end);
  return result;
}

}  // namespace tracing
}  // namespace rubato
