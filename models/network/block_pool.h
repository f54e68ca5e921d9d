#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

/// Many short arrays in one vector, each identified by its begin. A returned array is reused for
/// the next one of the same length, so there should be few different lengths.
template <typename T>
class BlockPool {
 public:
  /// Pointers into the pool hold until the next take().
  uint32_t take(size_t length) {
    if (length < free_.size() && !free_[length].empty()) {
      const uint32_t at = free_[length].back();
      free_[length].pop_back();
      return at;
    }
    items_.resize(items_.size() + length);
    return static_cast<uint32_t>(items_.size() - length);
  }
  void give_back(uint32_t at, size_t length) {
    if (length >= free_.size()) free_.resize(length + 1);
    free_[length].push_back(at);
  }
  T* operator[](uint32_t at) { return items_.data() + at; }
  const T* operator[](uint32_t at) const { return items_.data() + at; }

 private:
  std::vector<T> items_;
  std::vector<std::vector<uint32_t>> free_;  ///< by length
};

}  // namespace rubato
