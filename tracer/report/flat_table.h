#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

/// Memory of bounded size for sums that are made while the program runs: mapped, so that the
/// program's allocator is not involved, and nothing throws.
namespace rubato {
inline namespace tracing {

/// Zeroed memory that ends with the process; null if there is none.
inline void* map_zeroed(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// An array that grows up to a limit. Values are trivial, and zero at first.
template <class Value>
class FlatArray {
 public:
  explicit FlatArray(size_t most) : most_(most) {}
  FlatArray(const FlatArray&) = delete;
  FlatArray& operator=(const FlatArray&) = delete;
  ~FlatArray() {
    if (values_ != nullptr) munmap(values_, capacity_ * sizeof(Value));
  }

  size_t size() const { return size_; }
  Value& operator[](size_t i) { return values_[i]; }
  const Value& operator[](size_t i) const { return values_[i]; }
  void clear() { size_ = 0; }
  /// Drops the values from the `size`-th on.
  void shrink(size_t size) { size_ = size; }

  /// False if the limit is reached or there is no memory.
  bool push(const Value& value) {
    if (size_ == capacity_ && !grow()) return false;
    values_[size_++] = value;
    return true;
  }

 private:
  bool grow() {
    if (capacity_ >= most_) return false;
    size_t larger = capacity_ == 0 ? kFirst : 2 * capacity_;
    if (larger > most_) larger = most_;
    auto* values = static_cast<Value*>(map_zeroed(larger * sizeof(Value)));
    if (values == nullptr) return false;
    for (size_t i = 0; i < size_; ++i) values[i] = values_[i];
    if (values_ != nullptr) munmap(values_, capacity_ * sizeof(Value));
    values_ = values;
    capacity_ = larger;
    return true;
  }

  static constexpr size_t kFirst = 64;
  size_t most_;
  Value* values_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// A hash table with linear probing. It doubles up to `most_places` (a power of two) and holds
/// three quarters of that. Values are trivial, and zero at first.
template <class Value>
class FlatTable {
 public:
  explicit FlatTable(size_t most_places) : most_(most_places) {}
  FlatTable(const FlatTable&) = delete;
  FlatTable& operator=(const FlatTable&) = delete;
  ~FlatTable() {
    if (places_ != nullptr) munmap(places_, capacity_ * sizeof(Place));
  }

  size_t size() const { return size_; }

  /// Null if there is none.
  Value* find(uint64_t key) {
    if (size_ == 0) return nullptr;
    Place& place = places_[place_of(key)];
    return place.key == 0 ? nullptr : &place.value;
  }

  /// The value of a key, zero if it is new; null if the table is full. Valid until the next call.
  Value* put(uint64_t key) {
    if (capacity_ > 0) {
      Place& place = places_[place_of(key)];
      if (place.key != 0) return &place.value;
    }
    if (4 * (size_ + 1) > 3 * capacity_ && !grow()) return nullptr;
    Place& place = places_[place_of(key)];
    place.key = key + 1;
    ++size_;
    return &place.value;
  }

  void erase(uint64_t key) {
    if (size_ == 0) return;
    size_t hole = place_of(key);
    if (places_[hole].key == 0) return;
    --size_;
    // What probing has put behind the hole moves forward.
    for (size_t at = hole;;) {
      at = (at + 1) & (capacity_ - 1);
      if (places_[at].key == 0) break;
      const size_t home = hash(places_[at].key - 1) & (capacity_ - 1);
      if (((at - home) & (capacity_ - 1)) < ((at - hole) & (capacity_ - 1))) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = Place{};
  }

  /// Calls `visit(key, value)` for each value, in no order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t i = 0; i < capacity_; ++i) {
      if (places_[i].key != 0) visit(places_[i].key - 1, places_[i].value);
    }
  }
  /// Removes the values for which `is_old(key, value)`.
  template <class IsOld>
  void erase_if(IsOld is_old) {
    FlatArray<uint64_t> keys(capacity_);
    for_each([&](uint64_t key, const Value& value) {
      if (is_old(key, value)) keys.push(key);
    });
    for (size_t i = 0; i < keys.size(); ++i) erase(keys[i]);
  }

 private:
  struct Place {
    uint64_t key;  ///< plus 1; 0: free
    Value value;
  };

  static uint64_t hash(uint64_t key) {
    const uint64_t x = key * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
  }
  /// The place of a key, or the free one for it.
  size_t place_of(uint64_t key) const {
    size_t at = hash(key) & (capacity_ - 1);
    while (places_[at].key != 0 && places_[at].key != key + 1) at = (at + 1) & (capacity_ - 1);
    return at;
  }
  bool grow() {
    if (capacity_ >= most_) return false;
    const size_t before = capacity_;
    const size_t larger = before == 0 ? kFirst : 2 * before;
    auto* places = static_cast<Place*>(map_zeroed(larger * sizeof(Place)));
    if (places == nullptr) return false;
    Place* const old = places_;
    places_ = places;
    capacity_ = larger;
    for (size_t i = 0; i < before; ++i) {
      if (old[i].key != 0) places_[place_of(old[i].key - 1)] = old[i];
    }
    if (old != nullptr) munmap(old, before * sizeof(Place));
    return true;
  }

  static constexpr size_t kFirst = 64;
  size_t most_;
  Place* places_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace tracing
}  // namespace rubato
