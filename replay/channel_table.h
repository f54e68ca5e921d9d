#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato {

using TransferId = uint32_t;
inline constexpr TransferId kNoTransfer = UINT32_MAX;

/// What MPI matches by, seen from the receiver.
struct ChannelKey {
  int32_t source;
  uint32_t comm;
  uint32_t tag;
  bool operator==(const ChannelKey&) const = default;
};

/// A queue of transfers, linked by Transfer::next.
struct Channel {
  TransferId head = kNoTransfer;
  TransferId tail = kNoTransfer;
};

/// The channels that lead to one rank: a hash table with open addressing. A program may use a new
/// tag for every message, so channels that fell empty are dropped instead of growing the table.
class ChannelTable {
 public:
  /// The channel, made when it is not there. Valid until the next call.
  Channel& operator[](const ChannelKey& key) {
    if (!slots_.empty()) {
      Slot& slot = find(key);
      if (slot.used) return slot.channel;
    }
    if (2 * (used_ + 1) > slots_.size()) rebuild();
    Slot& slot = find(key);
    slot.used = true;
    slot.key = key;
    ++used_;
    return slot.channel;
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.used) visit(slot.channel);
    }
  }

  size_t capacity() const { return slots_.size(); }

 private:
  struct Slot {
    ChannelKey key{};
    bool used = false;
    Channel channel;
  };

  static size_t hash(const ChannelKey& key) {
    uint64_t h = (static_cast<uint64_t>(key.comm) << 32 | key.tag) * 0x9E3779B97F4A7C15u;
    h ^= static_cast<uint64_t>(key.source) * 0xC2B2AE3D27D4EB4Fu;
    return h ^ (h >> 32);
  }

  /// The slot of `key`, or the free one where it belongs. The table must not be full.
  Slot& find(const ChannelKey& key) {
    const size_t mask = slots_.size() - 1;
    size_t i = hash(key) & mask;
    while (slots_[i].used && !(slots_[i].key == key)) i = (i + 1) & mask;
    return slots_[i];
  }

  /// Drops the empty channels and leaves room for as many again.
  void rebuild() {
    size_t live = 0;
    for (const Slot& slot : slots_) live += slot.channel.head != kNoTransfer;
    size_t size = 16;
    while (size < 4 * (live + 1)) size *= 2;
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.channel.head == kNoTransfer) continue;
      find(slot.key) = slot;
      ++used_;
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them used
  size_t used_ = 0;
};

}  // namespace rubato
