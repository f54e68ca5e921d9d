#pragma once

#include <cstddef>

namespace rubato {

/// While one is there, what is allocated newly lies in large pages, where the kernel has them. With
/// a thousand timelines the replay looks at ten thousand small pages in turn, more than a processor
/// keeps the places of (its TLB).
class HugePages {
 public:
  /// For up to so many bytes; what is not used takes no memory.
  explicit HugePages(size_t bytes);
  /// Gives back what is free by then.
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

 private:
  bool in_use_ = false;
};

}  // namespace rubato
