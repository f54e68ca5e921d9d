#pragma once

#include <utility>

#include "tracer/hooks/call_collectives.h"
#include "tracer/hooks/call_communicators.h"
#include "tracer/hooks/call_rma.h"
#include "tracer/hooks/ignored_statuses.h"
#include "tracer/objects/requests.h"
#include "tracer/record/recorder.h"

/// Wait, Test, Cancel and Request_free in all their forms.
///
/// MPI overwrites the handles of completed requests, so they are saved before the call, and with
/// threads their entries are claimed (requests.h). A receive's source, tag and length are in its
/// status, so a call that ignores statuses is given the tracer's. Neither is visible to the
/// program: its request, index and status arrays are written by MPI alone.
namespace rubato {
inline namespace tracing {

/// Sends and receives.
inline void complete_message(Call& call, const Request& request, const MPI_Status& status) {
  const bool both = request.kind == RequestKind::kSendRecv;
  if (request.cancelled) {
    int cancelled = 0;
    PMPI(Test_cancelled)(&status, &cancelled);
    if (cancelled != 0) {
      call.item(Item::kRequestCancelled, request.number);
      if (both) call.item(Item::kRequestCancelled, request.extra);
      return;
    }
  }
  if (both || request.kind == RequestKind::kSend) {
    call.item(Item::kIsendComplete, request.number);
    if (!both) return;
  }
  if (request.kind == RequestKind::kPartitionedRecv || (both && !library::kSendrecvHasStatus)) {
    if (request.message.peer < 0 || request.message.tag < 0) {
      call.item(Item::kRequestCancelled, request.extra);  // source or tag unknown
      return;
    }
    call.message(Item::kIrecv, request.message);
  } else if (status.MPI_SOURCE >= 0) {
    call.message(Item::kIrecv, {request.message.communicator, status.MPI_SOURCE, status.MPI_TAG,
                                library::received_bytes(status)});
  } else {
    return;
  }
  call.word(both ? request.extra : request.number);
}

/// One request has completed: `before` is its handle before the call, `after` behind it.
inline void complete(Call& call, MPI_Request before, requests::Claim claim, MPI_Request after,
                     const MPI_Status& status) {
  if (before == handles.request_null) return;
  Request request;
  if (!requests::take(before, claim, after == before, request)) return;
  switch (request.kind) {
    case RequestKind::kForeign:
      return;
    case RequestKind::kCollective:
      if (request.on_record()) note_collective_complete(call, request);
      return;
    case RequestKind::kRma:
      note_rma_request_complete(call, request);
      return;
    case RequestKind::kNeighbours:
      if (request.on_record()) call.item(Item::kRequestEnd, request.number);
      return;
    case RequestKind::kCommIdup:
      note_idup_complete(call, request);
      return;
    default:
      if (request.on_record()) complete_message(call, request, status);
  }
}

/// A call on one request failed: if MPI released the request, so does the tracer.
inline void drop(MPI_Request before, requests::Claim claim, MPI_Request after) {
  Request request;
  if (before != handles.request_null && after != before) {
    requests::take(before, claim, false, request);
  } else {
    requests::release(before, claim);
  }
}

/// The requests of an array call as they were before it, and statuses to read.
class RequestArray {
 public:
  RequestArray(Call& call, int count, const MPI_Request* requests, MPI_Status* statuses);
  /// Releases the requests that did not complete.
  ~RequestArray() {
    if (claims_ != nullptr) release();
  }
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  MPI_Status* statuses() { return statuses_; }
  /// False: no memory, the call goes unrecorded.
  bool usable() const { return usable_; }

  /// The i-th request has completed, or its call failed.
  void complete(Call& call, int i, MPI_Request after, const MPI_Status& status) {
    rubato::complete(call, saved_[i], claim(i), after, status);
  }
  void drop(int i, MPI_Request after) { rubato::drop(saved_[i], claim(i), after); }

 private:
  requests::Claim claim(int i) {
    return claims_ == nullptr ? requests::kNoClaim : std::exchange(claims_[i], requests::kNoClaim);
  }
  void release();

  MPI_Request* saved_;
  requests::Claim* claims_ = nullptr;
  size_t count_;
  MPI_Status* statuses_;
  bool usable_;
};

template <class Real>
int record_wait(Call call, Real real, MPI_Request* request, MPI_Status* status) {
  if (request == nullptr) return record_mistake(call, real, request, status);
  const MPI_Request before = *request;
  requests::OneClaim claim(before);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(request, status);
  if (result == MPI_SUCCESS) {
    complete(call, before, claim.give(), *request, *status);
  } else {
    drop(before, claim.give(), *request);
  }
  call.leave();
  return result;
}

template <class Real>
int record_test(Call call, Real real, MPI_Request* request, int* flag, MPI_Status* status) {
  if (request == nullptr) return record_mistake(call, real, request, flag, status);
  const MPI_Request before = *request;
  requests::OneClaim claim(before);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real(request, flag, status);
  if (result != MPI_SUCCESS) {
    drop(before, claim.give(), *request);
  } else if (*flag != 0) {
    complete(call, before, claim.give(), *request, *status);
  }
  call.leave();
  return result;
}

/// All requests of an array completed, or, after MPI_ERR_IN_STATUS, those with a successful status.
inline void complete_all(Call& call, int result, int count, RequestArray& array,
                         const MPI_Request* requests, const MPI_Status* statuses) {
  for (int i = 0; i < count; ++i) {
    const bool good = result == MPI_SUCCESS ||
                      (result == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR == MPI_SUCCESS);
    if (good) {
      array.complete(call, i, requests[i], statuses[i]);
    } else {
      array.drop(i, requests[i]);
    }
  }
}

template <class Real>
int record_waitall(Call call, Real real, int count, MPI_Request* requests, MPI_Status* statuses) {
  RequestArray array(call, count, requests, statuses);
  int result = real(count, requests, array.statuses());
  if (array.usable() && statuses == MPI_STATUSES_IGNORE)
    result = result_without_statuses(result, count, requests, array.statuses());
  if (array.usable()) complete_all(call, result, count, array, requests, array.statuses());
  call.leave();
  return result;
}

template <class Real>
int record_testall(Call call, Real real, int count, MPI_Request* requests, int* flag,
                   MPI_Status* statuses) {
  RequestArray array(call, count, requests, statuses);
  const int result = real(count, requests, flag, array.statuses());
  if (array.usable() && (result != MPI_SUCCESS || *flag != 0)) {
    complete_all(call, result, count, array, requests, array.statuses());
  }
  call.leave();
  return result;
}

/// The one request that Waitany or Testany found.
inline void complete_one_of(Call& call, int result, int index, RequestArray& array,
                            const MPI_Request* requests, const MPI_Status& status) {
  if (!array.usable() || index == MPI_UNDEFINED || index < 0) return;
  if (result == MPI_SUCCESS) {
    array.complete(call, index, requests[index], status);
  } else {
    array.drop(index, requests[index]);
  }
}

template <class Real>
int record_waitany(Call call, Real real, int count, MPI_Request* requests, int* index,
                   MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  RequestArray array(call, count, requests, status);
  const int result = real(count, requests, index, status);
  // A failing call need not have set the index.
  complete_one_of(call, result, result == MPI_SUCCESS ? *index : MPI_UNDEFINED, array, requests,
                  *status);
  call.leave();
  return result;
}

template <class Real>
int record_testany(Call call, Real real, int count, MPI_Request* requests, int* index, int* flag,
                   MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  RequestArray array(call, count, requests, status);
  const int result = real(count, requests, index, flag, status);
  complete_one_of(call, result, result == MPI_SUCCESS && *flag != 0 ? *index : MPI_UNDEFINED, array,
                  requests, *status);
  call.leave();
  return result;
}

/// Waitsome and Testsome.
template <class Real>
int record_waitsome(Call call, Real real, int count, MPI_Request* requests, int* outcount,
                    int* indices, MPI_Status* statuses) {
  RequestArray array(call, count, requests, statuses);
  const int result = real(count, requests, outcount, indices, array.statuses());
  if (array.usable() && (result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS) &&
      *outcount != MPI_UNDEFINED) {
    for (int i = 0; i < *outcount; ++i) {
      const MPI_Status& status = array.statuses()[i];
      const int index = indices[i];
      if (result == MPI_SUCCESS || status.MPI_ERROR == MPI_SUCCESS) {
        array.complete(call, index, requests[index], status);
      } else {
        array.drop(index, requests[index]);
      }
    }
  }
  call.leave();
  return result;
}

template <class Real>
int record_request_free(Call call, Real real, MPI_Request* request) {
  if (request == nullptr) return record_mistake(call, real, request);
  const MPI_Request before = *request;
  requests::OneClaim claim(before);
  const int result = real(request);
  Request freed;
  if (result == MPI_SUCCESS && before != handles.request_null &&
      requests::take(before, claim.give(), false, freed) && freed.on_record()) {
    // In OTF2 the completion record also covers the release of a send that is still under way.
    const bool both = freed.kind == RequestKind::kSendRecv;
    if (freed.cancelled) {
      call.item(Item::kRequestCancelled, freed.number);
      if (both) call.item(Item::kRequestCancelled, freed.extra);
    } else if (both || freed.kind == RequestKind::kSend) {
      call.item(Item::kIsendComplete, freed.number);
    }
  }
  call.leave();
  return result;
}

template <class Real>
int record_cancel(Call call, Real real, MPI_Request* request) {
  if (request != nullptr) requests::mark_cancelled(*request);
  const int result = real(request);
  call.leave();
  return result;
}

}  // namespace tracing
}  // namespace rubato
