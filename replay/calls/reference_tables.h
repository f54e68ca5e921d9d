#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rubato {

/// The values of an archive's references. Tracers count references from 0, so the lookup, one per
/// record, is an access to a vector; unusually large references are in a map.
template <typename Value>
class ReferenceTable {
 public:
  void set(uint32_t reference, Value value) {
    if (reference >= kDense) {
      sparse_[reference] = value;
      return;
    }
    if (reference >= dense_.size()) dense_.resize(reference + 1);
    dense_[reference] = value;
  }

  /// Nothing when it is not defined.
  std::optional<Value> get(uint32_t reference) const {
    if (reference < dense_.size()) return dense_[reference];
    if (reference < kDense) return {};
    const auto found = sparse_.find(reference);
    return found == sparse_.end() ? std::optional<Value>() : found->second;
  }

  /// Calls each() with all that it holds, for cluster/member_stream.h.
  template <typename Each>
  void list_parts(Each each) {
    each(dense_, sparse_);
  }

 private:
  static constexpr uint32_t kDense = 1 << 16;
  std::vector<std::optional<Value>> dense_;
  std::unordered_map<uint32_t, Value> sparse_;
};

/// The values of a rank's open requests: a hash table with open addressing, because every message
/// inserts one and removes it again.
template <typename Value>
class RequestTable {
 public:
  RequestTable() : slots_(16) {}

  /// The value of an open request, nullptr when it is not open. Valid until the next put() or
  /// take().
  Value* find(uint64_t request) {
    Slot& slot = slots_[position(request)];
    return slot.used ? &slot.value : nullptr;
  }

  /// Opens a request; returns its value, and whether it is new (false: it was open before). Valid
  /// as the result of find().
  std::pair<Value*, bool> open(uint64_t request) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[position(request)];
    const bool is_new = !slot.used;
    count_ += is_new;
    slot.request = request;
    slot.used = true;
    return {&slot.value, is_new};
  }

  /// Opens a request, or gives an open one another value.
  void put(uint64_t request, Value value) { *open(request).first = value; }

  /// Closes a request; nothing when it was not open.
  std::optional<Value> take(uint64_t request) {
    size_t hole = position(request);
    if (!slots_[hole].used) return {};
    const Value value = slots_[hole].value;
    // Moves up the entries behind it that would no longer be found.
    const size_t mask = slots_.size() - 1;
    for (size_t i = (hole + 1) & mask; slots_[i].used; i = (i + 1) & mask) {
      const size_t home = hash(slots_[i].request) & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].used = false;
    --count_;
    return value;
  }

  size_t size() const { return count_; }

 private:
  struct Slot {
    uint64_t request = 0;
    Value value{};
    bool used = false;
  };

  static size_t hash(uint64_t request) {
    const uint64_t h = request * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
  }

  size_t position(uint64_t request) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash(request) & mask;
    while (slots_[i].used && slots_[i].request != request) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.used) slots_[position(slot.request)] = slot;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them used
  size_t count_ = 0;
};

}  // namespace rubato
