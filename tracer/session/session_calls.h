#pragma once

#include "tracer/record/recorder.h"
#include "tracer/session/session.h"

/// The calls with which recording begins and ends.
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

template <class Real>
int record_abort(CallId, Real real, MPI_Comm comm, int code) {
  abort_session();
  return real(comm, code);
}

}  // namespace tracing
}  // namespace rubato
