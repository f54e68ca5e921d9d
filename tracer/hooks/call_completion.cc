#include "tracer/hooks/call_completion.h"

#include <algorithm>
#include <cstring>

#include "tracer/record/scratch.h"

namespace rubato {
inline namespace tracing {
namespace {

thread_local Scratch request_scratch;
thread_local Scratch status_scratch;
thread_local Scratch claim_scratch;

}  // namespace

RequestArray::RequestArray(Call& call, int count, const MPI_Request* requests, MPI_Status* statuses)
    : count_(static_cast<size_t>(std::max(count, 0))), statuses_(statuses) {
  const size_t n = count_;
  saved_ =
      static_cast<MPI_Request*>(request_scratch.get(std::max<size_t>(n, 1) * sizeof *requests));
  usable_ = saved_ != nullptr && (n == 0 || requests != nullptr) &&
            (n * kMaxRequestWords < kFreeWords / 2 || call.reserve(n));
  if (!usable_) return;
  if (n > 0) std::memcpy(saved_, requests, n * sizeof *requests);
  if (statuses == MPI_STATUSES_IGNORE) {
    auto* own =
        static_cast<MPI_Status*>(status_scratch.get(std::max<size_t>(n, 1) * sizeof(MPI_Status)));
    if (own == nullptr) {
      usable_ = false;
    } else {
      statuses_ = own;
      // The memory is reused, and MPI need not write MPI_ERROR without an error.
      for (size_t i = 0; i < n; ++i) own[i].MPI_ERROR = MPI_SUCCESS;
    }
  }
  if (!requests::threaded || n == 0 || !usable_) return;
  claims_ = static_cast<requests::Claim*>(claim_scratch.get(n * sizeof *claims_));
  usable_ = claims_ != nullptr;
  for (size_t i = 0; usable_ && i < n; ++i) claims_[i] = requests::claim(saved_[i]);
}

void RequestArray::release() {
  for (size_t i = count_; i-- > 0;) requests::release(saved_[i], claims_[i]);
}

}  // namespace tracing
}  // namespace rubato
