#include "tracer/call_completion.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace rubato {
namespace {

/// Grows by doubling, so that a program's largest array settles it soon.
struct Scratch {
  void* memory = nullptr;
  size_t bytes = 0;

  void* get(size_t wanted) {
    if (wanted <= bytes) return memory;
    const size_t size = std::max<size_t>(2 * bytes, (wanted + 4095) & ~size_t{4095});
    void* fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return nullptr;
    if (memory != nullptr) munmap(memory, bytes);
    memory = fresh;
    bytes = size;
    return memory;
  }
};

thread_local Scratch request_scratch;
thread_local Scratch status_scratch;

}  // namespace

RequestArray::RequestArray(Call& call, int count, const MPI_Request* requests, MPI_Status* statuses)
    : statuses_(statuses) {
  const auto n = static_cast<size_t>(std::max(count, 0));
  saved_ =
      static_cast<MPI_Request*>(request_scratch.get(std::max<size_t>(n, 1) * sizeof *requests));
  usable_ = saved_ != nullptr && (n == 0 || requests != nullptr) &&
            (n * kMaxItemWords < kFreeWords / 2 || call.reserve(n));
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
