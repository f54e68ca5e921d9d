#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato {

using TransferId = uint32_t;
inline constexpr TransferId kNoTransfer = UINT32_MAX;

/// Source, destination, communicator and tag of a message.
struct Route {
  int32_t source = 0;
  int32_t destination = 0;
  uint32_t comm = 0;
  uint32_t tag = 0;
  auto operator<=>(const Route&) const = default;
};

/// The matching criteria of MPI, seen from the receiver.
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

using ChannelId = uint32_t;
inline constexpr int kGenerationBits = 24;  ///< of ChannelTable::generation()

/// All channels of a replay.
class ChannelPool {
 public:
  Channel& operator[](ChannelId id) { return channels_[id]; }
  const Channel& operator[](ChannelId id) const { return channels_[id]; }
  /// Rarely needed, so kept apart from the data that every message touches.
  const Route& route(ChannelId id) const { return routes_[id]; }

  ChannelId make(const Route& route) {
    auto id = static_cast<ChannelId>(channels_.size());
    if (free_.empty()) {
      channels_.emplace_back();
      routes_.push_back(route);
    } else {
      id = free_.back();
      free_.pop_back();
      channels_[id] = {};
      routes_[id] = route;
    }
    return id;
  }

  /// The number will be reused.
  void give_up(ChannelId id) { free_.push_back(id); }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (size_t id = 0; id < channels_.size(); ++id) visit(channels_[id], routes_[id]);
  }

 private:
  std::vector<Channel> channels_;  ///< empty if given up
  std::vector<Route> routes_;      ///< of each
  std::vector<ChannelId> free_;
};

/// The channels to one rank: a hash table with open addressing. A program may use a new tag for
/// every message, so empty channels are given up; callers that remember a channel number have to
/// check that the generation is unchanged.
class ChannelTable {
 public:
  /// The channel to `destination`, created if there is none.
  ChannelId find(const ChannelKey& key, int destination, ChannelPool& pool) {
    if (!slots_.empty()) {
      Slot& slot = slot_of(key);
      slot.asked_for = true;
      if (slot.used) return slot.channel;
    }
    if (2 * (used_ + 1) > slots_.size()) rebuild(pool);
    Slot& slot = slot_of(key);
    slot = {key, true, true, pool.make({key.source, destination, key.comm, key.tag})};
    ++used_;
    return slot.channel;
  }

  /// Changes when remembered channels become invalid; kGenerationBits wide, never 0.
  uint32_t generation() const { return generation_; }

  size_t capacity() const { return slots_.size(); }

 private:
  struct Slot {
    ChannelKey key{};
    bool used = false;
    bool asked_for = false;  ///< find() returned it since the last rebuild()
    ChannelId channel = 0;
  };

  static size_t hash(const ChannelKey& key) {
    uint64_t h = (static_cast<uint64_t>(key.comm) << 32 | key.tag) * 0x9E3779B97F4A7C15u;
    h ^= static_cast<uint64_t>(key.source) * 0xC2B2AE3D27D4EB4Fu;
    return h ^ (h >> 32);
  }

  /// The slot of `key`, or the free slot for it. REQUIRES: the table is not full.
  Slot& slot_of(const ChannelKey& key) {
    const size_t mask = slots_.size() - 1;
    size_t i = hash(key) & mask;
    while (slots_[i].used && !(slots_[i].key == key)) i = (i + 1) & mask;
    return slots_[i];
  }

  /// Gives up the empty channels that find() has not returned since the last rebuild(), and leaves
  /// space for as many as remain.
  void rebuild(ChannelPool& pool) {
    const auto stays = [&](const Slot& slot) {
      return slot.used && (slot.asked_for || pool[slot.channel].head != kNoTransfer);
    };
    // Small tables keep all channels: creating a channel again costs more than its memory.
    const bool keeps_all = slots_.size() < kSmall;
    used_ = 0;
    for (const Slot& slot : slots_) used_ += keeps_all ? slot.used : stays(slot);
    size_t size = 16;
    while (3 * size < 8 * used_) size *= 2;
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
    for (const Slot& slot : old) {
      if (keeps_all ? slot.used : stays(slot)) {
        slot_of(slot.key) = {slot.key, true, false, slot.channel};
      } else if (slot.used) {
        pool.give_up(slot.channel);
      }
    }
    generation_ = generation_ % ((1u << kGenerationBits) - 1) + 1;
  }

  static constexpr size_t kSmall = 1024;  ///< slots, of 24 bytes

  std::vector<Slot> slots_;  ///< a power of two of them, at most half of them used
  size_t used_ = 0;
  uint32_t generation_ = 1;
};

}  // namespace rubato
