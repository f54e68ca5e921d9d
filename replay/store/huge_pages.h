#pragma once

#include <cstddef>

namespace rubato {

/// While an object of this class exists, new allocations lie in large pages, where the kernel has
/// them. With a thousand timelines the replay touches ten thousand small pages in turn, more than a
/// TLB holds.
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
