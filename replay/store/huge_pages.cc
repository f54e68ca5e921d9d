// The heap in large pages. An allocator of our own would have to reach every vector of a timeline.
// Instead the heap grows once by the expected size, and the kernel is asked for large pages there
// before any of it is touched.

#include "replay/store/huge_pages.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace rubato {
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr int kMostMappings = 65536;        ///< as glibc has it
constexpr int kLargeAllocation = 32 << 20;  ///< the most that glibc takes
constexpr int kUsualAllocation = 128 << 10;

}  // namespace

HugePages::HugePages(size_t bytes) {
  if (bytes == 0) return;
  in_use_ = true;
  mallopt(M_MMAP_MAX, 0);  // from the heap, however large
  mallopt(M_TRIM_THRESHOLD, -1);
  void* const all = std::malloc(bytes);
  if (all) {
    const auto begin = (reinterpret_cast<uintptr_t>(all) + kHugePage - 1) & ~(kHugePage - 1);
    const auto end = (reinterpret_cast<uintptr_t>(all) + bytes) & ~(kHugePage - 1);
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
    std::free(all);
  }
  mallopt(M_MMAP_MAX, kMostMappings);
  mallopt(M_MMAP_THRESHOLD, kLargeAllocation);
}

HugePages::~HugePages() {
  if (!in_use_) return;
  mallopt(M_MMAP_THRESHOLD, kUsualAllocation);
  mallopt(M_TRIM_THRESHOLD, kUsualAllocation);
  malloc_trim(0);
}

}  // namespace rubato
