#pragma once

// One-sided communication: who waits for whom, and what is under way on which window.
//
// A window is a communicator of its own here (Communicator::window), so that what is collective on
// it (its creation, its end, MPI_Win_fence) is an instance like any other, at the price of a
// barrier or, for the creation, of a small allgather. What calls do in a model:
//
//   put, accumulate   take o_s of the origin, start when its out-port is free, and occupy that for
//                     g; they are at the target at start + T
//   get, atomics      start likewise with what they send (a get: nothing); what they bring back is
//   that fetch        there at start + T(sent) + T(received), the results of one origin one after
//                     the other, as messages are
//   flush_local, Wait end when the data have left the origin and the results are there
//   flush, unlock     end when, besides, an acknowledgment came back: L after the data were at the
//                     target
//   fence             ends likewise, and when that is there which others aimed at this rank since
//                     the fence before
//   post              sends each origin a word, which is there after L
//   start             waits for nobody: libraries differ, and may leave that to the complete
//   complete          ends when the words of all targets are there and the data have left; what was
//                     begun before its target was ready goes out when it is
//   wait, test        end when the complete of each origin, and its data, are there
//   lock              is a round trip (2 L) to another rank, and waits there until those that held
//                     the lock before, as recorded, gave it back (lock_order.h); lock_all is a
//                     round trip to the most distant rank
//   unlock            frees the lock at the target when the data are there, no earlier than L after
//                     its enter
//
// The processor of a target takes no part, and its ports carry messages alone: what several origins
// put at one target at the same time does not get in each other's way, which would be contention.
//
// The k-th epoch of an origin towards a target on a window meets the k-th exposure of that target
// to it. Which operations a call completes, the archive says: they share a number (Action::slot).
//
// As for the recording: a call that left before what it might have waited for did not wait. Starts
// need not wait, nor completes without data, nor fences with an assertion. So an early end of these
// is no clock violation, and on `measured` what came later is no cause of it. A wait that ends
// before the complete was entered is a violation.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/cost/placement.h"
#include "models/lanes.h"
#include "replay/matching/lock_order.h"
#include "replay/trace/operation.h"

namespace rubato {

/// Some transfers that go out one behind the other. Ticks; what never happened lies at minus
/// infinity.
template <int K>
struct Stream {
  Lanes<K> landed = never();         ///< when the last one is there
  Lanes<K> gaps = Lanes<K>::Zero();  ///< for how long they occupy the out-port
  Lanes<K> behind = never();         ///< how long after the first may start the last one is there

  static Lanes<K> never() { return Lanes<K>::Constant(-std::numeric_limits<double>::infinity()); }

  void add(const Lanes<K>& start, const Lanes<K>& gap, const Lanes<K>& way) {
    landed = landed.max(start + way);
    behind = behind.max(gaps + way);
    gaps += gap;
  }
  /// When the last one is there if none may start before `ready`.
  Lanes<K> from(const Lanes<K>& ready) const { return landed.max(ready + behind); }
};

/// The operations that share a number, of one origin towards one target.
template <int K>
struct OneSided {
  int32_t target = 0;
  Level level = Level::kSelf;
  bool fetches = false;                 ///< results are to come
  Lanes<K> left = Stream<K>::never();   ///< when the out-port was free again
  Stream<K> stores;                     ///< what is put
  Stream<K> results;                    ///< what is fetched
  Lanes<K> in_gaps = Lanes<K>::Zero();  ///< for how long results occupy the in-port
};

/// One epoch of an origin and the exposure of its target.
template <int K>
struct Epoch {
  bool has_post = false;
  bool has_complete = false;
  bool abandoned = false;       ///< one side will never come: the other keeps its recorded time
  int departed = 0;             ///< of complete and wait
  int32_t waiting_origin = -1;  ///< timeline to wake
  int32_t waiting_target = -1;
  double recorded_post = 0;  ///< enter of the call, as recorded
  double recorded_complete = 0;
  /// When the word went out (model), or the call was entered (measured).
  Lanes<K> posted = Stream<K>::never();
  Lanes<K> completed = Stream<K>::never();  ///< likewise
  Stream<K> stream;                         ///< what the origin aimed at the target
};

/// A turn of a lock (lock_order.h).
template <int K>
struct LockTurn {
  std::vector<int32_t> holders;  ///< timelines that have still to give it back
  bool begun = false;            ///< `holders` was filled
  uint32_t passed = 0;           ///< holders of the next turn that need it no more
  double recorded_release = -std::numeric_limits<double>::infinity();  ///< enter of the last unlock
  /// When the lock was free again at the target (model), or the last unlock was entered (measured).
  Lanes<K> released = Stream<K>::never();
  std::vector<int32_t> waiting;  ///< timelines to wake
};

template <int K>
class Windows {
 public:
  /// One origin and one target on one window.
  struct Pair {
    std::deque<Epoch<K>> epochs;
    uint64_t first = 0;      ///< number of epochs.front()
    uint64_t next[4] = {};   ///< by EpochStep
    Stream<K> stream;        ///< since the last fence or epoch
    bool touched = false;    ///< in `touched_` of its origin
    bool completes = false;  ///< the current call of the origin ends the epoch `completing`
    uint64_t completing = 0;
  };

  Windows() { over_.abandoned = true; }

  Pair& pair(uint32_t window, int origin, int target) { return pairs_[{window, origin, target}]; }

  /// The pair of a kEpoch that `rank` performs.
  Pair& pair_of(const Action& action, int rank) {
    return is_origin(action) ? pair(action.comm, rank, action.peer)
                             : pair(action.comm, action.peer, rank);
  }
  Epoch<K>& epoch(const Action& action, int rank, uint64_t number) {
    return epoch(pair_of(action, rank), number);
  }
  /// Abandoned if both have left it, which nobody asks for but where records contradict each other.
  Epoch<K>& epoch(Pair& of, uint64_t number) {
    return number < of.first ? over_ : of.epochs[number - of.first];
  }

  /// `rank` takes the next step with its peer; the number of the epoch.
  uint64_t arrive(const Action& action, int rank) {
    Pair& of = pair_of(action, rank);
    // A start belongs to the complete that comes next, however many of either are on record.
    const bool starts = step(action) == EpochStep::kStart;
    uint64_t& next = of.next[starts ? complete_ : action.tag];
    // An epoch that both have left lacks this step: then it belongs to the next one.
    next = std::max(next, of.first);
    const uint64_t number =
        action.order > 0 ? std::max<uint64_t>(action.order - 1, of.first) : next;
    if (!starts) ++next;
    while (number >= of.first + of.epochs.size()) of.epochs.emplace_back();
    return number;
  }

  /// One of both sides leaves the epoch; it is forgotten when both have.
  void depart(const Action& action, int rank, uint64_t number) {
    Pair& of = pair_of(action, rank);
    ++epoch(of, number).departed;
    while (!of.epochs.empty() && of.epochs.front().departed == 2) {
      of.epochs.pop_front();
      ++of.first;
    }
  }

  static EpochStep step(const Action& action) { return static_cast<EpochStep>(action.tag); }
  /// Else the target.
  static bool is_origin(const Action& action) {
    return step(action) == EpochStep::kStart || step(action) == EpochStep::kComplete;
  }

  /// The operations of a number, new ones where there are none.
  OneSided<K>& operation(int rank, uint32_t slot) {
    return operations_[static_cast<uint64_t>(rank) << 32 | slot];
  }
  /// Null when there are none.
  OneSided<K>* find(int rank, uint32_t slot) {
    const auto found = operations_.find(static_cast<uint64_t>(rank) << 32 | slot);
    return found == operations_.end() ? nullptr : &found->second;
  }
  void forget(int rank, uint32_t slot) {
    operations_.erase(static_cast<uint64_t>(rank) << 32 | slot);
  }

  /// What an origin aims at a target on a window, since the last fence or complete; of what it
  /// aimed under a lock that it gave back only when it landed.
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

  /// An origin gives back its lock of a target (kNoRoot: of all): what it aims next has nothing to
  /// queue behind.
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
    LockTurn<K>& turn = turns_[{lock.comm, lock.peer, static_cast<int32_t>(number)}];
    if (!turn.begun) turn.holders = order.holders(lock.comm, lock.peer, number);
    turn.begun = true;
    return turn;
  }
  LockTurn<K>& turn(const Action& lock, uint32_t number) {
    return turns_.at({lock.comm, lock.peer, static_cast<int32_t>(number)});
  }
  /// A holder of turn `number + 1` needs turn `number` no more.
  void pass(const LockOrder& order, const Action& lock, uint32_t number) {
    ++turn(order, lock, number).passed;
    forget_turn(order, lock, number);
  }
  /// If it is over, and nobody will ask for it any more.
  void forget_turn(const LockOrder& order, const Action& lock, uint32_t number) {
    const LockTurn<K>& turn = this->turn(lock, number);
    if (!turn.holders.empty() || number + 1 >= order.turns(lock.comm, lock.peer)) return;
    if (turn.passed == order.holders(lock.comm, lock.peer, number + 1).size())
      turns_.erase({lock.comm, lock.peer, static_cast<int32_t>(number)});
  }
  /// How often a timeline took the lock of a window at a target, and whether it has it.
  struct LockCounts {
    size_t taken = 0;
    bool held = false;
  };
  LockCounts& lock_counts(const Action& lock, int timeline) {
    return lock_counts_[{lock.comm, timeline, lock.peer}];
  }

 private:
  static constexpr auto complete_ = static_cast<size_t>(EpochStep::kComplete);

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

  std::unordered_map<Key, Pair, Hash> pairs_;
  Epoch<K> over_;
  std::unordered_map<Key, std::vector<int32_t>, Hash> touched_;  ///< targets; the key's is 0
  std::unordered_map<Key, LockTurn<K>, Hash> turns_;             ///< by window, target and number
  std::unordered_map<Key, LockCounts, Hash> lock_counts_;        ///< by window, timeline and target
  std::unordered_map<uint64_t, OneSided<K>> operations_;         ///< by rank and slot
};

}  // namespace rubato
