#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "models/base/fixed_list.h"
#include "replay/cluster/transport.h"

namespace rubato {

/// Appends values to bytes. Processes run the same program on the same kind of processor.
class ByteWriter {
 public:
  /// A whole number; small ones take a byte.
  void number(uint64_t value) {
    std::byte* at = extend(10);
    while (value >= 128) {
      *at++ = static_cast<std::byte>(value | 128);
      value >>= 7;
    }
    *at++ = static_cast<std::byte>(value);
    size_ = static_cast<size_t>(at - bytes_.data());
  }
  /// A signed number close to 0.
  void near_zero(int64_t value) {
    number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void raw(const void* from, size_t size) {
    if (size == 0) return;
    std::memcpy(extend(size), from, size);
    size_ += size;
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void value(const T& value) { raw(&value, sizeof value); }
  /// Ticks: whole ones are stored as the difference from `base`, in few bytes; `base` is set to
  /// `value`.
  void ticks(double value, int64_t& base) {
    const bool is_whole = value > -kMostWhole && value < kMostWhole &&
                          value == static_cast<double>(static_cast<int64_t>(value)) &&
                          !(value == 0 && std::signbit(value));
    if (!is_whole) {
      number(1);
      return this->value(value);
    }
    const auto whole = static_cast<int64_t>(value);
    const int64_t step = whole - base;
    number((static_cast<uint64_t>(step) << 1 ^ static_cast<uint64_t>(step >> 63)) << 1);
    base = whole;
  }
  void text(const std::string& text) {
    number(text.size());
    raw(text.data(), text.size());
  }
  /// Elements that a reader can leave in place: ByteReader::list().
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void list(std::span<const T> elements) {
    static_assert(alignof(T) <= 8);
    number(elements.size());
    const uint64_t none = 0;
    raw(&none, -size_ % alignof(T));
    raw(elements.data(), elements.size_bytes());
  }

  size_t size() const { return size_; }
  Bytes take() {
    bytes_.resize(size_);
    size_ = 0;
    return std::move(bytes_);
  }

 private:
  static constexpr double kMostWhole = 1e18;

  std::byte* extend(size_t more) {
    if (size_ + more > bytes_.size()) bytes_.resize(2 * (size_ + more) + 256);
    return bytes_.data() + size_;
  }

  Bytes bytes_;
  size_t size_ = 0;
};

/// Takes values out of bytes in the order in which they were appended.
class ByteReader {
 public:
  ByteReader(const std::byte* begin, const std::byte* end) : at_(begin), end_(end) {}
  explicit ByteReader(const Bytes& bytes, size_t from = 0)
      : ByteReader(bytes.data() + from, bytes.data() + bytes.size()) {}

  bool empty() const { return at_ == end_; }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ == end_ || shift > 63) fail();
      const auto byte = std::to_integer<uint64_t>(*at_++);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  int64_t near_zero() { return unfold(number()); }
  void raw(void* to, size_t size) {
    if (static_cast<size_t>(end_ - at_) < size) fail();
    if (size > 0) std::memcpy(to, at_, size);
    at_ += size;
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void value(T& value) { raw(&value, sizeof value); }
  double ticks(int64_t& base) {
    const uint64_t step = number();
    if (step == 1) {
      double value = 0;
      this->value(value);
      return value;
    }
    base += unfold(step >> 1);
    return static_cast<double>(base);
  }
  std::string text() {
    std::string text(number(), '\0');
    raw(text.data(), text.size());
    return text;
  }
  /// A list that stays in the bytes, which `owner` keeps alive. The bytes must be aligned for any
  /// type.
  template <typename T>
  requires std::is_trivially_copyable_v<T> FixedList<T> list(std::shared_ptr<const void> owner) {
    const uint64_t count = number();
    const size_t gap = -reinterpret_cast<uintptr_t>(at_) % alignof(T);
    const auto left = static_cast<size_t>(end_ - at_);
    if (left < gap || (left - gap) / sizeof(T) < count) fail();
    const std::span elements(reinterpret_cast<const T*>(at_ + gap), count);
    at_ += gap + elements.size_bytes();
    return {elements, std::move(owner)};
  }

 private:
  static int64_t unfold(uint64_t value) {
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  [[noreturn]] static void fail() {
    throw std::logic_error("a message between processes ends too early");
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace rubato
