#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace rubato {

/// Array in which only some elements are constructed: the timelines of one process of many.
/// Addresses are reserved for all elements, but pages without constructed elements take no memory.
/// Access costs as much as with a vector.
template <class T>
class PartialArray {
 public:
  struct Range {
    size_t first, end;
  };

  /// Constructs no element. Errors: std::bad_alloc.
  explicit PartialArray(size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(memory);
  }
  ~PartialArray() {
    for (const Range& range : made_) std::destroy(elements_ + range.first, elements_ + range.end);
    if (elements_) munmap(elements_, size_ * sizeof(T));
  }
  PartialArray(const PartialArray&) = delete;
  PartialArray& operator=(const PartialArray&) = delete;

  /// Constructs the elements from `first` to before `end`, which must not exist yet.
  void make(size_t first, size_t end) {
    assert(first <= end && end <= size_);
    if (first == end) return;
    std::uninitialized_value_construct(elements_ + first, elements_ + end);
    if (!made_.empty() && made_.back().end == first)
      made_.back().end = end;
    else
      made_.push_back({first, end});
  }

  /// Constructs these elements; all for nullptr.
  void make(const std::vector<int>* elements) {
    if (!elements) return make(0, size_);
    for (const int element : *elements) make(element, static_cast<size_t>(element) + 1);
  }

  /// The element must be constructed.
  T& operator[](size_t i) {
    assert(is_made(i));
    return elements_[i];
  }
  const T& operator[](size_t i) const {
    assert(is_made(i));
    return elements_[i];
  }

  /// Number of elements, constructed or not.
  size_t size() const { return size_; }
  /// Ranges of constructed elements, in the order of construction.
  std::span<const Range> made() const { return made_; }

 private:
  bool is_made(size_t i) const {
    return std::any_of(made_.begin(), made_.end(),
                       [i](const Range& range) { return range.first <= i && i < range.end; });
  }

  size_t size_;
  T* elements_ = nullptr;
  std::vector<Range> made_;
};

}  // namespace rubato
