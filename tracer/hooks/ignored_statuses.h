#pragma once

#include "tracer/objects/communicators.h"
#include "tracer/objects/requests.h"

/// A program that ignores statuses gets ours, since they describe the received message. Their
/// presence must not change MPI's behaviour otherwise.
namespace rubato {
inline namespace tracing {

/// Completes a MPI_Waitall that the program called without statuses, after a call with ours that
/// returned `result`: returns and does the same as without statuses.
///
/// Open MPI's (seen in 4.1) finds no fault with a persistent request that failed as long as it has
/// a status to say so in: it returns MPI_SUCCESS. Without statuses it frees that request, calls the
/// error handler of the request's communicator, and returns MPI_ERR_IN_STATUS. MPICH (4.0) makes no
/// difference. MPI leaves the error in a status open where the call returns MPI_SUCCESS, so a
/// version that does not say it there changes nothing: RequestArray has set all to MPI_SUCCESS.
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
