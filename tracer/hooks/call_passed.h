#pragma once

#include <memory>
#include <new>

#include "tracer/objects/communicators.h"
#include "tracer/objects/datatypes.h"
#include "tracer/objects/requests.h"
#include "tracer/objects/windows.h"
#include "tracer/record/recorder.h"

/// Communicators, windows, datatypes and requests that a program frees or completes inside MPI's
/// callbacks (of attributes, of error handlers). Such calls are part of the call around them and
/// leave no record. But the freed objects are forgotten, since their handles may be used again.
/// mpi_header.py lists the kinds of calls that pass through here.
namespace rubato {
inline namespace tracing {

template <class Real>
int pass_comm_free(Real real, MPI_Comm* comm) {
  const MPI_Comm handle = comm != nullptr ? *comm : handles.comm_null;
  Communicator* entry = Recorder::on() ? communicators::known(handle) : nullptr;
  // Before MPI may hand the handle to another thread.
  if (entry != nullptr) communicators::forget(handle);
  const int result = real(comm);
  if (entry != nullptr && result != MPI_SUCCESS) communicators::restore(handle, entry);
  return result;
}

template <class Real>
int pass_win_free(Real real, MPI_Win* win) {
  Window* window = Recorder::on() && win != nullptr ? windows::find(*win) : nullptr;
  if (window == nullptr) return real(win);
  const MPI_Win handle = *win;
  windows::forget(handle);
  const int result = real(win);
  if (result != MPI_SUCCESS) windows::restore(handle, window);
  return result;
}

template <class Real>
int pass_type_free(Real real, MPI_Datatype* type) {
  if (type != nullptr) datatypes::forget(*type);
  return real(type);
}

/// The requests of a call. The destructor forgets the completed ones, except sends and foreign
/// requests: their handles may belong to unrecorded sends of such a callback. Persistent requests
/// are forgotten whatever they do: each has its own handle. Without memory, none is forgotten.
class PassedRequests {
 public:
  PassedRequests(int count, MPI_Request* requests) : requests_(requests) {
    if (!Recorder::on() || requests == nullptr) return;
    if (count > kFew) {
      many_.reset(new (std::nothrow) Passed[static_cast<size_t>(count)]);
      passed_ = many_.get();
      if (passed_ == nullptr) return;
    }
    for (; count_ < count; ++count_) {
      Request known;
      const MPI_Request handle = requests[count_];
      const bool ours = handle != handles.request_null && requests::find(handle, known) &&
                        (known.persistent ||
                         (known.kind != RequestKind::kSend && known.kind != RequestKind::kForeign));
      passed_[count_] = ours ? Passed{handle, requests::claim(handle)}
                             : Passed{handles.request_null, requests::kNoClaim};
    }
  }
  ~PassedRequests() {
    while (count_-- > 0) {
      const auto& [before, claim] = passed_[count_];
      Request done;
      if (before == handles.request_null) continue;
      if (requests_[count_] == handles.request_null) {
        requests::take(before, claim, false, done);
      } else {
        requests::release(before, claim);
      }
    }
  }
  PassedRequests(const PassedRequests&) = delete;
  PassedRequests& operator=(const PassedRequests&) = delete;

 private:
  struct Passed {
    MPI_Request before;
    requests::Claim claim;
  };
  static constexpr int kFew = 16;
  Passed few_[kFew];
  std::unique_ptr<Passed[]> many_;  // no Scratch: callbacks may be called in callbacks
  Passed* passed_ = few_;
  MPI_Request* requests_;
  int count_ = 0;
};

/// MPI_Request_free, Wait and Test of one request.
template <class Real, class... Rest>
int pass_one(Real real, MPI_Request* request, Rest... rest) {
  const PassedRequests passed(1, request);
  return real(request, rest...);
}

/// Wait and Test of an array.
template <class Real, class... Rest>
int pass_array(Real real, int count, MPI_Request* requests, Rest... rest) {
  const PassedRequests passed(count, requests);
  return real(count, requests, rest...);
}

}  // namespace tracing
}  // namespace rubato
