#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

namespace rubato {

/// Memory that a thread uses again and again. Grows by doubling, so that a program's largest array
/// settles it soon.
class Scratch {
 public:
  /// Room for `wanted` bytes, with what was in it lost; null when there is no memory.
  void* get(size_t wanted) {
    if (wanted <= bytes_) return memory_;
    const size_t size = std::max<size_t>(2 * bytes_, (wanted + 4095) & ~size_t{4095});
    void* fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return nullptr;
    if (memory_ != nullptr) munmap(memory_, bytes_);
    memory_ = fresh;
    bytes_ = size;
    return memory_;
  }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace rubato
