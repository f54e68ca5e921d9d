#pragma once

// Who held the lock of a window before whom, as recorded.
//
// An exclusive lock keeps everybody else out; shared ones keep only exclusive ones out. No archive
// says when a lock was granted, so the holders of one lock (a window at one target) are put in the
// order in which they gave it back, ties by timeline: each exclusive one has a turn of its own,
// shared ones with no exclusive one between them have one together. A turn begins when all of the
// turn before have given the lock back. That order is kept on every machine; to decide it anew
// would take an engine that runs by time.
//
// Libraries may put off a lock until it is needed, so a call that left before the turn before was
// over, by the recorded clocks, did not wait. MPI_Win_lock_all takes no part in this, nor do locks
// that nobody took exclusively.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/trace/trace.h"

namespace rubato {

/// Who held the locks of all windows before whom, as recorded.
class LockOrder {
 public:
  static constexpr uint32_t kFree =
      UINT32_MAX;  ///< a turn that waits for nobody, nor anybody for it

  struct Hold {
    uint32_t turn = kFree;
    bool waited = false;  ///< the call that took the lock may have waited for the turn before
  };

  /// Reads all calls of `source` where it has windows; the caller rewinds it.
  explicit LockOrder(EventSource& source);

  /// The `number`-th lock (from 0) that a timeline took of a window at a target.
  Hold hold(int timeline, uint32_t window, int target, size_t number) const;
  size_t turns(uint32_t window, int target) const { return locks_.at({window, target, 0}).size(); }
  /// The timelines of a turn; one that held the lock several times is there as often.
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
  /// By window and target, then by turn: who holds it.
  std::unordered_map<Key, std::vector<std::vector<int32_t>>, Hash> locks_;
};

}  // namespace rubato
