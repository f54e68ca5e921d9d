#pragma once

// One-sided communication: dependencies, and the operations under way on each window.
//
// A window is a communicator of its own here (Communicator::window), so its collective calls
// (creation, end, MPI_Win_fence) are instances like any other. They cost a barrier or, for the
// creation, a small allgather. In a model:
//
//   put, accumulate   take o_s of the origin, start when its out-port is free, occupy it for g, and
//                     land at the target at start + T
//   get, atomics      start likewise with the bytes they send (a get: none); the result arrives at
//   that fetch        start + T(sent) + T(received); the results of one origin arrive one after the
//                     other, like messages
//   flush_local, Wait end when the data has left the origin and the results have arrived; in an
//                     epoch not before the target has notified the origin
//   flush, unlock     end when also an acknowledgment has come back: L after the data landed
//   fence             ends likewise, and when the operations with this rank as target since the
//                     previous fence have landed
//   post              notifies each origin; a notification takes L
//   start             does not wait: libraries differ, and may leave the wait to the complete
//   complete          ends when all targets have sent their notification and the data has left;
//                     operations begun before their target was ready start when it is
//   wait, test        end when the complete of each origin and its data have arrived
//   lock              is a round trip (2 L) to another rank, and waits there until the previous
//                     holders, in recorded order, have released it (lock_order.h); lock_all is a
//                     round trip to the most distant rank
//   unlock            releases the lock at the target when the data has landed, no earlier than L
//                     after its enter
//
// The processor of a target takes no part, and its ports carry messages only: concurrent operations
// of several origins at one target do not slow each other down. On a network with contention they
// do: rules/one_sided_flows.h.
//
// The k-th epoch of an origin towards a target on a window matches the k-th exposure of that target
// to it. The archive identifies the operations that a call completes: they share a number
// (OneSidedAction).
//
// In the recording, a call that left before its possible cause did not wait: starts, completes
// without data, and fences with an assertion need not wait. So an early end of these is no clock
// violation, and on `measured` a later event is no cause. A wait that ends before the complete was
// entered is a violation.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/placement/placement.h"
#include "replay/matching/landings.h"
#include "replay/matching/lock_order.h"
#include "replay/matching/origin.h"
#include "replay/trace/operation.h"

namespace rubato {

/// Transfers that start one after the other. Ticks; minus infinity means never.
template <int K>
struct Stream {
  Dated<K> landed;                   ///< arrival of the last transfer
  Lanes<K> gaps = Lanes<K>::Zero();  ///< how long they occupy the out-port
  Lanes<K> behind =
      never();  ///< arrival of the last transfer, after the earliest start of the first
  std::shared_ptr<Landing> flows;  ///< in the order of time, instead of the two arrivals

  static Lanes<K> never() { return Lanes<K>::Constant(-std::numeric_limits<double>::infinity()); }

  void add(const Dated<K>& start, const Lanes<K>& gap, const Lanes<K>& way) {
    landed.raise(start + way);
    behind = behind.max(gaps + way);
    gaps += gap;
  }
  /// Arrival of the last transfer if none may start before `ready`.
  Dated<K> from(const Dated<K>& ready) const {
    Dated<K> there = landed;
    there.raise(ready + behind);
    return there;
  }
  /// The first transfer starts at `ready`.
  void go(const Dated<K>& ready) {
    landed = from(ready);
    behind = never();
  }
};

/// The operations of one origin towards one target that share a number.
template <int K>
struct OneSided {
  int32_t target = 0;
  PairClass pair;
  bool fetches = false;  ///< has results to wait for
  Dated<K> left;         ///< when the out-port was free after the last one
  /// How long operations of any number towards the target, up to the last of these, occupy the
  /// out-port: in an epoch it is free again that long after the target is ready.
  Lanes<K> through = Lanes<K>::Zero();
  bool abandoned = false;  ///< the call in an epoch that waits for them keeps its recorded time
  Stream<K> stores;        ///< data put to the target
  Stream<K> results;       ///< data fetched from it
  Lanes<K> in_gaps = Lanes<K>::Zero();  ///< how long results occupy the in-port
  std::shared_ptr<SlotFlows> flows;     ///< in the order of time

  /// The operations started when the target was ready.
  void go(const Dated<K>& ready) {
    left.raise(ready + through);
    stores.go(ready);
    results.go(ready);
  }
};

/// One epoch of an origin and the exposure of its target.
template <int K>
struct Epoch {
  bool has_post = false;
  bool has_complete = false;
  bool abandoned = false;               ///< one side is missing: the other keeps its recorded time
  int departed = 0;                     ///< number of sides (complete, wait) that have left
  std::vector<int32_t> waiting_origin;  ///< timelines to wake
  int32_t waiting_target = -1;          ///< likewise
  int32_t poster = -1;                  ///< timeline of the post, and of the complete
  int32_t completer = -1;
  double recorded_post = 0;  ///< enter of the call, as recorded
  double recorded_complete = 0;
  double post_enter = 0;  ///< of the call, in the first lane
  double complete_enter = 0;
  /// When the notification went out (model), or the call was entered (measured).
  Lanes<K> posted = Stream<K>::never();
  Lanes<K> completed = Stream<K>::never();  ///< likewise
  Stream<K> stream;                         ///< operations of the origin with this target
  std::vector<uint32_t> unready;  ///< in the order of time: operations that wait for the post
};

/// A turn of a lock (lock_order.h).
template <int K>
struct LockTurn {
  std::vector<int32_t> holders;  ///< timelines that still hold the lock
  bool begun = false;            ///< `holders` has been filled
  uint32_t passed = 0;           ///< holders of the next turn that have passed this one
  double recorded_release = -std::numeric_limits<double>::infinity();  ///< enter of the last unlock
  /// When the lock was released at the target (model), or the last unlock was entered (measured).
  Dated<K> released;
  int32_t releaser = -1;         ///< timeline of that unlock, in the first lane
  std::vector<int32_t> waiting;  ///< timelines to wake
};

template <int K>
class Windows {
 public:
  /// An origin and a target on a window.
  struct Pair {
    std::deque<Epoch<K>> epochs;
    uint64_t first = 0;      ///< number of epochs.front()
    uint64_t next[4] = {};   ///< by EpochStep
    Stream<K> stream;        ///< since the last fence or epoch
    bool touched = false;    ///< in `touched_` of its origin
    bool completes = false;  ///< the current call of the origin ends the epoch `completing`
    uint64_t completing = 0;
    bool accesses = false;  ///< the epoch `accessed` has started, and is not complete
    uint64_t accessed = 0;
    bool started = false;                ///< in `started_` of its origin
    std::unordered_set<uint32_t> slots;  ///< of the operations begun in it
  };

  Windows() { over_.abandoned = true; }

  Pair& pair(uint32_t window, int origin, int target) { return pairs_[{window, origin, target}]; }

  /// The pair of `rank` and the peer of a kEpoch.
  Pair& pair_of(const Action& action, int rank) {
    return is_origin(action) ? pair(action.comm, rank, action.epoch.peer)
                             : pair(action.comm, action.epoch.peer, rank);
  }
  Epoch<K>& epoch(const Action& action, int rank, uint64_t number) {
    return epoch(pair_of(action, rank), number);
  }
  /// An abandoned epoch if both sides have left it; only contradictory records lead to this case.
  Epoch<K>& epoch(Pair& of, uint64_t number) {
    return number < of.first ? over_ : of.epochs[number - of.first];
  }

  /// `rank` performs the next step with its peer; returns the number of the epoch.
  uint64_t arrive(const Action& action, int rank) {
    Pair& of = pair_of(action, rank);
    // A start belongs to the next complete, even if their recorded numbers differ.
    const EpochStep step = action.epoch.step;
    const bool starts = step == EpochStep::kStart;
    uint64_t& next = of.next[static_cast<size_t>(starts ? EpochStep::kComplete : step)];
    // An epoch that both sides have left lacks this step: the step belongs to the next epoch.
    next = std::max(next, of.first);
    const uint64_t number =
        action.epoch.order > 0 ? std::max<uint64_t>(action.epoch.order - 1, of.first) : next;
    if (!starts) ++next;
    while (number >= of.first + of.epochs.size()) of.epochs.emplace_back();
    return number;
  }

  /// `rank` starts the epoch `number`.
  void start(const Action& action, int rank, uint64_t number) {
    Pair& of = pair_of(action, rank);
    if (!of.started) started_[{action.comm, rank, 0}].push_back(action.epoch.peer);
    of.started = of.accesses = true;
    of.accessed = number;
    of.slots = {};
  }
  /// An origin begins operations of `slot`; in an epoch they belong to it.
  void begin(uint32_t window, int origin, int target, uint32_t slot) {
    Pair& of = pair(window, origin, target);
    if (of.accesses) of.slots.insert(slot);
  }
  /// The complete of an epoch leaves; its target was ready at `ready`. Operations begun in the
  /// epoch that end later (a get whose request is waited for afterwards) started then.
  void end_epoch(Pair& of, int origin, const Dated<K>& ready) {
    of.completes = false;
    for (const uint32_t slot : std::exchange(of.slots, {})) {
      if (OneSided<K>* operation = find(origin, slot)) operation->go(ready);
    }
  }
  /// An origin synchronises in another way on a window: the epochs it started are over, even if no
  /// complete was recorded. Calls `visit(epoch)` for each.
  template <typename Visit>
  void end_accesses(uint32_t window, int origin, Visit visit) {
    const auto found = started_.find({window, origin, 0});
    if (found == started_.end()) return;
    for (const int32_t target : std::exchange(found->second, {})) {
      Pair& of = pair(window, origin, target);
      of.started = false;
      of.slots = {};
      if (std::exchange(of.accesses, false)) visit(epoch(of, of.accessed));
    }
  }

  /// The epoch whose post the operations of an origin need: the one that its current call
  /// completes, or else the one it has started; nullptr: none.
  Epoch<K>* accessed(Pair& of) {
    if (of.completes) return &epoch(of, of.completing);
    return of.accesses ? &epoch(of, of.accessed) : nullptr;
  }

  /// One side leaves the epoch, which is forgotten when both have left.
  void depart(const Action& action, int rank, uint64_t number) {
    Pair& of = pair_of(action, rank);
    ++epoch(of, number).departed;
    while (!of.epochs.empty() && of.epochs.front().departed == 2) {
      of.epochs.pop_front();
      ++of.first;
    }
  }

  /// True for the origin, false for the target.
  static bool is_origin(const Action& action) {
    return action.epoch.step == EpochStep::kStart || action.epoch.step == EpochStep::kComplete;
  }

  /// The operations of a number, created if there are none.
  OneSided<K>& operation(int rank, uint32_t slot) {
    return operations_[static_cast<uint64_t>(rank) << 32 | slot];
  }
  /// Null if there are none.
  OneSided<K>* find(int rank, uint32_t slot) {
    const auto found = operations_.find(static_cast<uint64_t>(rank) << 32 | slot);
    return found == operations_.end() ? nullptr : &found->second;
  }
  /// The operations are complete, and others may have this slot from now on.
  void forget(uint32_t window, int rank, uint32_t slot) {
    if (const OneSided<K>* operation = find(rank, slot))
      pair(window, rank, operation->target).slots.erase(slot);
    operations_.erase(static_cast<uint64_t>(rank) << 32 | slot);
  }

  /// The operations of an origin towards a target on a window since the last fence or complete;
  /// operations under a released lock count only until they landed.
  Stream<K>& stream(uint32_t window, int origin, int target) {
    Pair& of = pair(window, origin, target);
    if (!of.touched) touched_[{window, origin, 0}].push_back(target);
    of.touched = true;
    return of.stream;
  }

  /// Ends the streams of an origin; `visit(target, stream)` for each.
  template <typename Visit>
  void end_streams(uint32_t window, int origin, Visit visit) {
    const auto found = touched_.find({window, origin, 0});
    if (found == touched_.end()) return;
    for (const int32_t target : found->second) {
      Pair& of = pair(window, origin, target);
      visit(target, of.stream);
      of.stream = {};
      of.touched = false;
    }
    found->second.clear();
  }

  /// Calls `visit(target, pair)` for each target of the streams of an origin.
  template <typename Visit>
  void visit_streams(uint32_t window, int origin, Visit visit) {
    const auto found = touched_.find({window, origin, 0});
    if (found == touched_.end()) return;
    for (const int32_t target : found->second) visit(target, pair(window, origin, target));
  }

  /// An origin releases its lock of a target (kNoRoot: of all): its next operations do not queue
  /// behind earlier ones.
  void end_lock(uint32_t window, int origin, int target) {
    const auto found = touched_.find({window, origin, 0});
    if (found == touched_.end()) return;
    for (const int32_t other : found->second) {
      if (target != kNoRoot && target != other) continue;
      Stream<K>& stream = pair(window, origin, other).stream;
      stream.gaps.setZero();
      stream.behind = Stream<K>::never();
    }
  }

  /// A turn of the lock of a window at a target.
  LockTurn<K>& turn(const LockOrder& order, const Action& lock, uint32_t number) {
    LockTurn<K>& turn = turns_[key_of(lock, number)];
    if (!turn.begun) turn.holders = order.holders(lock.comm, lock.one_sided.target, number);
    turn.begun = true;
    return turn;
  }
  LockTurn<K>& turn(const Action& lock, uint32_t number) { return turns_.at(key_of(lock, number)); }
  /// A holder of turn `number + 1` has passed turn `number`.
  void pass(const LockOrder& order, const Action& lock, uint32_t number) {
    ++turn(order, lock, number).passed;
    forget_turn(order, lock, number);
  }
  /// Forgets a turn that is over and no longer needed.
  void forget_turn(const LockOrder& order, const Action& lock, uint32_t number) {
    const LockTurn<K>& turn = this->turn(lock, number);
    if (!turn.holders.empty() || number + 1 >= order.turns(lock.comm, lock.one_sided.target))
      return;
    if (turn.passed == order.holders(lock.comm, lock.one_sided.target, number + 1).size())
      turns_.erase(key_of(lock, number));
  }
  /// How often a timeline took the lock of a window at a target, and whether it holds it.
  struct LockCounts {
    size_t taken = 0;
    bool held = false;
  };
  LockCounts& lock_counts(const Action& lock, int timeline) {
    return lock_counts_[{lock.comm, timeline, lock.one_sided.target}];
  }

 private:
  struct Key {
    uint32_t window;
    int32_t origin;
    int32_t target;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const uint64_t h =
          (static_cast<uint64_t>(key.origin) << 32 | static_cast<uint32_t>(key.target)) *
              0x9E3779B97F4A7C15u ^
          key.window * 0xC2B2AE3D27D4EB4Fu;
      return h ^ h >> 32;
    }
  };

  static Key key_of(const Action& lock, uint32_t turn) {
    return {lock.comm, lock.one_sided.target, static_cast<int32_t>(turn)};
  }

  std::unordered_map<Key, Pair, Hash> pairs_;
  Epoch<K> over_;
  std::unordered_map<Key, std::vector<int32_t>, Hash> started_;  ///< targets; the key's is 0
  std::unordered_map<Key, std::vector<int32_t>, Hash> touched_;  ///< targets; the key's is 0
  std::unordered_map<Key, LockTurn<K>, Hash> turns_;             ///< by window, target and number
  std::unordered_map<Key, LockCounts, Hash> lock_counts_;        ///< by window, timeline and target
  std::unordered_map<uint64_t, OneSided<K>> operations_;         ///< by rank and slot
};

}  // namespace rubato
