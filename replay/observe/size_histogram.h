#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rubato {

/// How many requests, and their bytes.
struct Requests {
  uint64_t count = 0;
  uint64_t bytes = 0;

  Requests& operator+=(const Requests& other) {
    count += other.count;
    bytes += other.bytes;
    return *this;
  }
};

/// Requests by size, in classes that double: 0, 1, 2 to 3, 4 to 7, ... bytes. Only classes up to
/// the largest one in use take memory.
class SizeHistogram {
 public:
  /// One request of `size` bytes that moves `bytes` (a collective moves its size several times).
  void add(uint64_t size, uint64_t bytes) {
    const auto at = static_cast<size_t>(std::bit_width(size));
    if (at >= classes_.size()) [[unlikely]]
      classes_.resize(at + 1);
    ++classes_[at].count;
    classes_[at].bytes += bytes;
  }

  /// Requests of one class, of any number.
  void add_class(size_t at, const Requests& requests) {
    if (at >= classes_.size()) classes_.resize(at + 1);
    classes_[at] += requests;
  }

  SizeHistogram& operator+=(const SizeHistogram& other) {
    if (other.classes_.size() > classes_.size()) classes_.resize(other.classes_.size());
    for (size_t at = 0; at < other.classes_.size(); ++at) classes_[at] += other.classes_[at];
    return *this;
  }

  Requests total() const {
    Requests sum;
    for (const Requests& each : classes_) sum += each;
    return sum;
  }

  /// Number of classes, and the contents of one; empty beyond the last class.
  size_t size() const { return classes_.size(); }
  Requests operator[](size_t at) const { return at < classes_.size() ? classes_[at] : Requests{}; }
  /// The smallest size of a class.
  static uint64_t least(size_t at) { return at == 0 ? 0 : uint64_t{1} << (at - 1); }

 private:
  std::vector<Requests> classes_;
};

}  // namespace rubato
