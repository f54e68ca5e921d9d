#pragma once

// The recorded order of the holders of each window lock.
//
// An exclusive lock excludes all other holders; a shared lock excludes exclusive ones. No archive
// says when a lock was granted, so the holders of one lock (a window at one target) are ordered by
// their release, ties by timeline. Each exclusive holder has a turn of its own; shared holders with
// no exclusive one between them share a turn. A turn begins when all holders of the previous turn
// have released the lock. The order is the same on every machine; deciding it anew would need the
// order of time.
//
// Libraries may postpone a lock until it is needed, so a call that left before the previous turn
// was over, by the recorded clocks, did not wait. MPI_Win_lock_all and locks without exclusive
// holders have no turns.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// The recorded order of the holders of all locks.
class LockOrder {
 public:
  static constexpr uint32_t kFree = UINT32_MAX;  ///< a turn without dependencies

  struct Hold {
    uint32_t turn = kFree;
    bool waited = false;  ///< the call that took the lock may have waited for the previous turn
  };

  /// Reads all calls of `source` if it has windows; the caller rewinds it.
  explicit LockOrder(EventSource& source);

  /// The `number`-th lock (from 0) that a timeline took of a window at a target.
  Hold hold(int timeline, uint32_t window, int target, size_t number) const;
  size_t turns(uint32_t window, int target) const { return locks_.at({window, target, 0}).size(); }
  /// The timelines of a turn; a timeline that held the lock several times appears as often.
  const std::vector<int32_t>& holders(uint32_t window, int target, uint32_t turn) const {
    return locks_.at({window, target, 0})[turn];
  }

 private:
  struct Key {
    uint32_t window;
    int32_t target;
    int32_t timeline;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t h =
          (static_cast<uint64_t>(key.timeline) << 32 | static_cast<uint32_t>(key.target)) *
              0x9E3779B97F4A7C15u ^
          key.window * 0xC2B2AE3D27D4EB4Fu;
      return h ^ h >> 32;
    }
  };
  struct Recorded {
    double lock_leave, unlock_enter, unlock_leave;
    int32_t timeline;
    uint32_t number;
    bool exclusive;
  };

  void assign_turns(uint32_t window, int32_t target, std::vector<Recorded>& holds);

  std::unordered_map<Key, std::vector<Hold>, Hash> holds_;
  /// Holders, by window and target, then by turn.
  std::unordered_map<Key, std::vector<std::vector<int32_t>>, Hash> locks_;
};

}  // namespace rubato
