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

/// Elements by number, of which only some are made: the timelines of one process of many. There is
/// room for all, but only addresses: pages in which nothing was made take no memory, and who looks
/// an element up pays no more than with a vector.
template <class T>
class PartialArray {
 public:
  struct Range {
    size_t first, end;
  };

  /// None is made yet. Errors: std::bad_alloc.
  explicit PartialArray(size_t size) : size_(size) {
    if (size == 0) return;
    void* room = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(room);
  }
  ~PartialArray() {
    for (const Range& range : made_) std::destroy(elements_ + range.first, elements_ + range.end);
    if (elements_) munmap(elements_, size_ * sizeof(T));
  }
  PartialArray(const PartialArray&) = delete;
  PartialArray& operator=(const PartialArray&) = delete;

  /// Makes those from `first` to before `end`, which must not be there yet.
  void make(size_t first, size_t end) {
    assert(first <= end && end <= size_);
    if (first == end) return;
    std::uninitialized_value_construct(elements_ + first, elements_ + end);
    if (!made_.empty() && made_.back().end == first)
      made_.back().end = end;
    else
      made_.push_back({first, end});
  }

  /// Makes those, or all where none are named.
  void make(const std::vector<int>* elements) {
    if (!elements) return make(0, size_);
    for (const int element : *elements) make(element, static_cast<size_t>(element) + 1);
  }

  /// Of one that is made.
  T& operator[](size_t i) {
    assert(is_made(i));
    return elements_[i];
  }
  const T& operator[](size_t i) const {
    assert(is_made(i));
    return elements_[i];
  }

  /// How many there is room for.
  size_t size() const { return size_; }
  /// In the order in which they were made.
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
