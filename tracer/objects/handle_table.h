#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rubato {
inline namespace tracing {

/// Maps a handle (or another number) to its entry. Readers do not lock: a slot's key is set once
/// and stays, its value comes and goes; a full table is replaced by a larger one, and the old one
/// stays for readers that may still use it. The owner has to serialise writers.
template <class Entry>
class HandleTable {
 public:
  /// Null when the handle is not bound.
  Entry* find(uint64_t key) const {
    const Table* now = table_.load(std::memory_order_acquire);
    if (now == nullptr) return nullptr;
    const Slot& slot = slot_of(*now, key);
    if (slot.key.load(std::memory_order_acquire) != key) return nullptr;
    return slot.value.load(std::memory_order_acquire);
  }

  /// A null entry unbinds.
  void bind(uint64_t key, Entry* entry) {
    Table* now = table_.load();
    if (now == nullptr || 2 * (now->used + 1) > now->capacity) {
      auto* larger = new Table(now == nullptr ? kFirst : 2 * now->capacity);
      for (size_t i = 0; now != nullptr && i < now->capacity; ++i) {
        const Slot& slot = now->slots[i];
        if (slot.key.load() != kEmpty) put(*larger, slot.key.load(), slot.value.load());
      }
      table_.store(larger, std::memory_order_release);
      now = larger;
    }
    put(*now, key, entry);
  }

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;
  static constexpr size_t kFirst = 64;

  struct Slot {
    std::atomic<uint64_t> key{kEmpty};
    std::atomic<Entry*> value{nullptr};
  };
  struct Table {
    explicit Table(size_t n) : capacity(n), slots(new Slot[n]) {}
    size_t capacity;
    size_t used = 0;
    Slot* slots;
  };

  static Slot& slot_of(const Table& in, uint64_t key) {
    size_t i = (key * 0x9e3779b97f4a7c15u) >> 20 & (in.capacity - 1);
    while (true) {
      Slot& slot = in.slots[i];
      const uint64_t found = slot.key.load(std::memory_order_acquire);
      if (found == key || found == kEmpty) return slot;
      i = (i + 1) & (in.capacity - 1);
    }
  }

  static void put(Table& into, uint64_t key, Entry* value) {
    Slot& slot = slot_of(into, key);
    slot.value.store(value, std::memory_order_release);
    if (slot.key.load() == kEmpty) {
      slot.key.store(key, std::memory_order_release);
      ++into.used;
    }
  }

  std::atomic<Table*> table_{nullptr};
};

}  // namespace tracing
}  // namespace rubato
