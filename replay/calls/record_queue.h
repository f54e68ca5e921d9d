#pragma once

// Records of a thread that wait for those of the other threads of its rank.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "replay/calls/call_builder.h"

namespace rubato {

/// Records that wait for a CallBuilder, stored one after the other in one block of memory, which is
/// reused once all were passed on.
class RecordQueue {
 public:
  /// A record that calls `method` of the builder.
  template <typename Method, typename... Arguments>
  void push(uint64_t event, double time, Method method, Arguments... arguments) {
    const auto give = [=](CallBuilder& builder, const Head& head) {
      (builder.*method)(head.event, head.time, arguments...);
    };
    using Give = decltype(give);
    static_assert(std::is_trivially_copy_constructible_v<Give> && alignof(Give) <= kAlign);
    if (empty()) first_ = end_ = 0;
    if (bytes_.size() < end_ + kSizeOf<Give>) bytes_.resize(2 * (end_ + kSizeOf<Give>));
    std::byte* const place = bytes_.data() + end_;
    new (place) Head{time, event, &give_and_measure<Give>};
    new (place + sizeof(Head)) Give(give);
    end_ += kSizeOf<Give>;
  }

  bool empty() const { return first_ == end_; }
  /// Of the first record.
  double time() const { return head().time; }
  /// Passes the first record to `builder`.
  void give_next(CallBuilder& builder) { first_ += head().give(builder, head()); }

 private:
  static constexpr size_t kAlign = alignof(uint64_t);
  /// Header of a stored record.
  struct Head {
    double time;
    uint64_t event;
    size_t (*give)(CallBuilder&, const Head&);  ///< returns the size of the record
  };
  template <typename Give>
  static constexpr size_t kSizeOf = sizeof(Head) + (sizeof(Give) + kAlign - 1) / kAlign* kAlign;

  template <typename Give>
  static size_t give_and_measure(CallBuilder& builder, const Head& head) {
    (*reinterpret_cast<const Give*>(&head + 1))(builder, head);
    return kSizeOf<Give>;
  }
  const Head& head() const { return *reinterpret_cast<const Head*>(bytes_.data() + first_); }

  std::vector<std::byte> bytes_;  ///< records from first_ to end_
  size_t first_ = 0;
  size_t end_ = 0;
};

}  // namespace rubato
