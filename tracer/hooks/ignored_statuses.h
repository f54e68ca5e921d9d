#pragma once

#include "tracer/objects/communicators.h"
#include "tracer/objects/requests.h"

/// If a program ignores statuses, the tracer passes its own, since they describe the received
/// message. This must not change MPI's behaviour otherwise.
namespace rubato {
inline namespace tracing {

/// Completes an MPI_Waitall that the program called without statuses, after a call with the
/// tracer's statuses returned `result`: has the effect and the result of a call without statuses.
///
/// With statuses, Open MPI (seen in 4.1) reports a failed persistent request only in its status and
/// returns MPI_SUCCESS. Without statuses it frees that request, calls the error handler of the
/// request's communicator, and returns MPI_ERR_IN_STATUS. MPICH (4.0) makes no difference. MPI
/// leaves the error field undefined where the call returns MPI_SUCCESS; a version that does not set
/// it changes nothing, as RequestArray has set all to MPI_SUCCESS.
inline int result_without_statuses(int result, int count, MPI_Request* requests,
                                   [[maybe_unused]] const MPI_Status* statuses) {
#ifdef OPEN_MPI
  if (result != MPI_SUCCESS) return result;
  int code = MPI_SUCCESS;
  MPI_Comm comm = handles.world;
  for (int i = 0; i < count; ++i) {
    if (statuses[i].MPI_ERROR == MPI_SUCCESS) continue;
    Request failed;
    if (code == MPI_SUCCESS) {
      code = statuses[i].MPI_ERROR;
      if (requests::find(requests[i], failed) && failed.kind != RequestKind::kForeign)
        comm = (MPI_Comm)communicators::by_id(failed.message.communicator)->handle;
    }
    if (requests[i] != handles.request_null) PMPI(Request_free)(&requests[i]);
  }
  if (code == MPI_SUCCESS) return result;
  PMPI(Comm_call_errhandler)(comm, code);
  return MPI_ERR_IN_STATUS;
#else
  static_cast<void>(count);
  static_cast<void>(requests);
  return result;
#endif
}

}  // namespace tracing
}  // namespace rubato
