#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/network/in_port.h"
#include "replay/matching/collective_instances.h"
#include "replay/matching/matcher.h"
#include "replay/matching/origin.h"
#include "replay/matching/windows.h"
#include "replay/store/packed_calls.h"
#include "replay/trace/operation.h"

namespace rubato {

/// An event that the current call of a timeline waits for, or has waited for.
struct Awaited {
  enum class Kind : uint8_t {
    kSend,
    kReceive,
    kCollective,
    kOneSided,    ///< operations that a model completes (`action` a kOneSidedDone)
    kEpoch,       ///< the other side of a kEpoch
    kLock,        ///< the turn of a lock before that of a kLock
    kMainThread,  ///< the begin of a thread, at a certain point of the main thread of its rank
    kThread,      ///< the step of another thread of the rank (`action` a kAwaitThread)
    kProbe,       ///< the send of the message that a probe found
  };
  Kind kind = Kind::kSend;
  bool posted = true;  ///< false: a send or receive that another thread has still to post
  Synchronisation waits_for = Synchronisation::kAllToAll;  ///< in a collective
  /// The message, or the number of a started collective; kNoTransfer: neither.
  TransferId transfer = kNoTransfer;
  uint32_t slot = kNoSlot;         ///< of a request that is not posted, or the step of a thread
  int local = 0;                   ///< rank in the communicator of a collective
  const Action* action = nullptr;  ///< of a collective, one-sided, of a thread or a probe
  uint64_t instance = 0;           ///< of a collective; number of an epoch, or of a turn from 1
};

/// What one call waits for, in the order of its actions. Nearly always these are plain messages,
/// for which the number is enough: they take eight bytes each, because with many timelines every
/// cache line counts. Other entries are kept in a separate list.
class AwaitedList {
 public:
  struct Entry {
    uint32_t number;     ///< the message, or the index of the Awaited
    Awaited::Kind kind;  ///< of a message
    bool is_plain;       ///< a message, posted when the call began to wait
  };

  [[gnu::always_inline]] void push_message(Awaited::Kind kind, TransferId id) {
    if (size_ == room_.size()) make_space();
    room_[size_++] = {id, kind, true};
  }
  /// Adds any other entry.
  void push_back(const Awaited& awaited) {
    if (size_ == room_.size()) make_space();
    room_[size_++] = {static_cast<uint32_t>(others_.size()), awaited.kind, false};
    others_.push_back(awaited);
  }
  void clear() {
    size_ = 0;
    others_.clear();
  }
  void remove(size_t i) {
    std::copy(room_.begin() + i + 1, room_.begin() + size_, room_.begin() + i);
    --size_;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  /// Allows a loop over plain messages without constructing an Awaited for each.
  std::span<const Entry> entries() const { return {room_.data(), size_}; }
  Awaited& other(const Entry& entry) { return others_[entry.number]; }
  const Awaited& other(const Entry& entry) const { return others_[entry.number]; }

  Awaited operator[](size_t i) const {
    const Entry& entry = room_[i];
    if (!entry.is_plain) return other(entry);
    Awaited message;
    message.kind = entry.kind;
    message.transfer = entry.number;
    return message;
  }

  class Iterator {
   public:
    Iterator(const AwaitedList& list, size_t at) : list_(&list), at_(at) {}
    Awaited operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const AwaitedList* list_;
    size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  [[gnu::noinline]] void make_space() { room_.resize(std::max(size_t{8}, 2 * room_.size())); }

  std::vector<Entry> room_;
  size_t size_ = 0;              ///< number of entries in use
  std::vector<Awaited> others_;  ///< entries that are not plain messages
};

/// A collective that a rank has started and not completed.
template <int K>
struct StartedCollective {
  uint64_t instance = 0;
  int local = 0;
  Lanes<K> enter;  ///< of the call that started it
};

/// A send that a call completed when it was recorded, and a later call completes in the replay
/// (outcomes.h).
template <int K>
struct MovedCompletion {
  TransferId transfer;
  Lanes<K> since;  ///< enter of the call that completed it
};

/// State shared by the threads of a rank with several timelines.
template <int K>
struct ThreadedRank {
  /// A posted send or receive, until its completion takes it.
  struct Request {
    TransferId transfer;
    Lanes<K> enter;  ///< of the call that posted it
    double recorded_enter;
    int timeline;
  };
  std::unordered_map<uint32_t, Request> requests;  ///< by slot
  std::unordered_map<uint32_t, int> waiting;       ///< timeline to wake, by slot
  /// A thread was created, or has ended.
  struct Step {
    Lanes<K> time;
    double recorded;
    int timeline;
  };
  std::unordered_map<uint32_t, Step> steps;  ///< by slot, until the wait for it is over
  std::vector<int> unborn;                   ///< timelines that have not begun
  /// By timeline, in the first lane: origin of the request that delayed its current call.
  std::unordered_map<int, Origin> held_by;
};

/// The state of one timeline in the replay. Members that nearly every call uses come first: with
/// many timelines most cache lines come from main memory.
template <int K>
struct alignas(kCacheLine) TimelineState {
  enum class Status : uint8_t { kReady, kBlocked, kFinished };

  int number = 0;  ///< the timeline
  int rank = 0;
  uint32_t next_awaited = 0;  ///< the first entry not known to have happened
  bool in_call = false;       ///< the current call was entered
  bool has_moved = false;     ///< `moved` is not empty
  bool before_init = false;   ///< keeps its recorded times until it leaves MPI_Init
  Status status = Status::kReady;
  Lanes<K> clock;             ///< ticks; leave of the previous call
  double recorded_clock = 0;  ///< the same as recorded
  Lanes<K> out_port;          ///< when the timeline can send the next message
  Lanes<K> enter;             ///< of the current call
  Lanes<K> busy;              ///< enter plus the processor time of starting its messages
  InPort<K> in_port;

  /// When the ports have moved all messages so far.
  PortTimes<K> ports() const { return {out_port, in_port.done()}; }

  /// Recorded leaves of the latest calls that sent, and that received; -infinity: none.
  double sent_until = -std::numeric_limits<double>::infinity();
  double received_until = -std::numeric_limits<double>::infinity();

  ThreadedRank<K>* threads = nullptr;  ///< of its rank; null if the rank has one timeline
  CallUnpacker* unpacker = nullptr;    ///< source of the next calls; from EventSource::unpacker()
  uint32_t next_call = 0;              ///< index into block.calls
  uint32_t calls = 0;                  ///< number of calls in it
  std::vector<TransferId> slots;       ///< open requests of the only timeline of a rank
  /// By index into block.actions: the channel of a send or post, found once and shared by all calls
  /// with the same actions.
  std::vector<KnownChannel> channels;
  AwaitedList awaited;  ///< what the current call waits for
  Block block;
  uint64_t channels_of = 0;  ///< Block::shared
  std::vector<MovedCompletion<K>> moved;
  size_t moved_here = 0;  ///< number of `moved` that the current call waits for: the first
  Lanes<K> inverse_cpu;   ///< time of a recorded tick of compute, and of the own work of calls

  bool is_blocked() const { return status == Status::kBlocked; }
  KnownChannel& channel_of(const Action& action) {
    return channels[static_cast<size_t>(&action - block.actions.data())];
  }
  /// REQUIRES: `block` was just read.
  void forget_channels() {
    if (block.shared != 0 && block.shared == channels_of) return;
    channels.assign(block.actions.size(), {});
    channels_of = block.shared;
  }
};

/// Data that rules use to compute when a call leaves.
template <int K>
struct RuleContext {
  const TraceDefinitions* trace;
  Matcher<K>* matcher;
  CollectiveInstances<K>* collectives;
  const std::vector<StartedCollective<K>>* started;
  Windows<K>* windows;

  /// When the rank of `timeline` entered the collective `awaited`.
  const Lanes<K>& arrival(const TimelineState<K>& timeline, const Awaited& awaited) const {
    return awaited.transfer == kNoTransfer ? timeline.enter : (*started)[awaited.transfer].enter;
  }

  /// The message that `call`, a probe, found; null if that is unknown: there is none, or it was
  /// inferred wrongly, as it was sent later.
  const Transfer<K>* found_by(const Awaited& probe, const Call& call) const {
    if (probe.transfer == kNoTransfer) return nullptr;
    const Transfer<K>& message = (*matcher)[probe.transfer];
    const bool fits = !(probe.action->flags & kInferred) || message.recorded_send <= call.leave;
    return message.has_send && !message.abandoned && fits ? &message : nullptr;
  }
};

}  // namespace rubato
