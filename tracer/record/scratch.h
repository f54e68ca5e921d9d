#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

namespace rubato {
inline namespace tracing {

/// Reusable memory of a thread. Grows by doubling, so it soon fits a program's largest array. Only
/// for thread-local variables: the memory is freed when the thread ends.
class Scratch {
 public:
  /// Space for `wanted` bytes, without earlier contents; null if memory is exhausted.
  void* get(size_t wanted) {
    if (wanted <= bytes_) return memory_;
    const size_t size = std::max<size_t>(2 * bytes_, (wanted + 4095) & ~size_t{4095});
    void* fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return nullptr;
    if (memory_ != nullptr) munmap(memory_, bytes_);
    if (memory_ == nullptr) know();
    memory_ = fresh;
    bytes_ = size;
    return memory_;
  }

 private:
  /// All Scratch of a thread that hold memory. A destructor of Scratch itself would have to be
  /// registered wherever one is used; this one is registered once, off the hot path.
  struct OfThread {
    Scratch* first = nullptr;
    ~OfThread() {
      for (Scratch* s = first; s != nullptr; s = s->next_) {
        munmap(s->memory_, s->bytes_);
        s->memory_ = nullptr;
        s->bytes_ = 0;
      }
    }
  };
  void know() {
    static thread_local OfThread all;
    next_ = all.first;
    all.first = this;
  }

  void* memory_ = nullptr;
  size_t bytes_ = 0;
  Scratch* next_ = nullptr;
};

}  // namespace tracing
}  // namespace rubato
