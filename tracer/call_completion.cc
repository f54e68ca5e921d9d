#include "tracer/call_completion.h"

#include <algorithm>
#include <cstring>

#include "tracer/scratch.h"

namespace rubato {
namespace {

thread_local Scratch request_scratch;
thread_local Scratch status_scratch;

}  // namespace

RequestArray::RequestArray(Call& call, int count, const MPI_Request* requests, MPI_Status* statuses)
    : statuses_(statuses) {
  const auto n = static_cast<size_t>(std::max(count, 0));
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
    }
  }
}

}  // namespace rubato
