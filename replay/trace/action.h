#pragma once

// What calls do: actions of 32 bytes. A struct per kind, or for a few kinds, names what they say.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/collective/collectives.h"

namespace rubato {

/// One thing that a call does.
enum class ActionKind : uint8_t {
  kNone,             ///< nothing, and known to be: a cancelled receive, a broadcast of no data
  kSend,             ///< a message leaves; the call waits for it when kBlocking
  kPost,             ///< a receive is posted; the call waits for it when kBlocking
  kWaitSend,         ///< completes the send of a slot
  kWaitReceive,      ///< completes the receive of a slot
  kCollective,       ///< also of a window: its creation and end, a fence
  kStartCollective,  ///< a collective is started that the call does not wait for
  kWaitCollective,   ///< completes the collective that was started in a slot
  kTested,           ///< looked in vain whether the receive of a slot is complete
  kParts,            ///< what the collective before it sends to each; more of these may follow
  // One-sided communication; `comm` is the window (windows.h).
  kOneSided,      ///< a put, get or atomic operation of a slot begins, and sends
  kFetch,         ///< what the kOneSided before it brings back
  kOneSidedDone,  ///< those of a slot are complete: their local ends, or, kRemote, all of them
  kEpoch,         ///< post, start, complete or wait (EpochStep) towards a peer
  kLock,          ///< of the window at a target, or at all members
  kUnlock,
  // Among the threads of a rank, outside of MPI (engine/threads.h).
  kThreadStep,   ///< a thread is created, or ends, which others wait for by its number
  kAwaitThread,  ///< waits for that step; kBegins: of the thread itself, for its creation
  /// Not of the program: the call took so much longer (LostAction), as LostFlags says. Behind all
  /// other actions of a call, which has kLoses.
  kLost,
};
inline constexpr int kActionKinds = static_cast<int>(ActionKind::kLost) + 1;

/// Flags of a send or a post.
enum MessageFlags : uint8_t {
  kBlocking = 1,     ///< the call itself completes it
  kSynchronous = 2,  ///< Ssend, Issend: completes only once the receive is there
  kBuffered = 4,     ///< Bsend, Ibsend: completes at once
  kAnySource = 8,    ///< a receive that named MPI_ANY_SOURCE, where the archive says so
  /// A send that follows an open one: the one of its timeline before it, to other ranks both, is
  /// not known to be complete.
  kFollows = 16,
  kFollowsFirst = 32,  ///< with kFollows: that one follows none, so this is the second of its burst
  kAnyTag = 64,        ///< as kAnySource: MPI_ANY_TAG
  kPartitioned = 128,  ///< only on the way to the action: then the tag says it
};

/// Flags of a collective, and of the start of one.
enum CollectiveFlags : uint8_t {
  /// Has no part in the data: waits for nobody, and nobody waits for it.
  kNoPart = 16,
  kHasParts = 8,      ///< of the Alltoallv, Alltoallw, or the root's Scatterv: kParts follow
  kSendsToSome = 32,  ///< with kHasParts: an Alltoallv or Alltoallw that some get nothing from
  /// Gives nothing to anybody, so nobody waits for it: an Allgatherv of no elements.
  kGivesNothing = 64,
  /// Gets nothing, so it may leave before the others come: a Reduce_scatter of no elements. Also at
  /// the wait of one that was started.
  kTakesNothing = 128,
};

/// Flags of one-sided communication.
enum OneSidedFlags : uint8_t {
  kFetches = 1,    ///< of a kOneSided: a kFetch follows
  kRemote = 2,     ///< of a kOneSidedDone
  kExclusive = 4,  ///< of a kLock
};

/// Flags of a kAwaitThread.
enum ThreadFlags : uint8_t {
  kBegins = 2,
};

/// Flags of a kLost: without one, the tracer wrote its buffer.
enum LostFlags : uint8_t {
  kStolenInside = 2,  ///< the thread could run, but had no core
};

/// What a kEpoch does.
enum class EpochStep : uint32_t { kPost, kStart, kComplete, kWait };

/// Slot of an action whose completion the archive does not show.
inline constexpr uint32_t kNoSlot = UINT32_MAX;
// Tags of messages that must not meet those of the program; tags of MPI are smaller.

/// Tag of the messages that stand for collectives among neighbours. The n-th persistent one of a
/// communicator uses `kNeighbourTag + n`.
inline constexpr uint32_t kNeighbourTag = uint32_t{1} << 31;
/// To be added to the tag of a partitioned message, as far as it is below 2^30.
inline constexpr uint32_t kPartitionedTag = uint32_t{3} << 30;

inline bool is_partitioned(uint32_t tag) {
  return tag >= kPartitionedTag;
}
inline bool is_among_neighbours(uint32_t tag) {
  return tag >= kNeighbourTag && !is_partitioned(tag);
}
/// Root of a collective without one, and target of a lock of all members.
inline constexpr int32_t kNoRoot = -1;
/// Root of a collective between groups that is another member of the own group.
inline constexpr int32_t kRootInOwnGroup = -2;

// Slots, bytes and orders stand at the same places in all structs, but for the order of a
// CollectiveAction: where kinds are treated alike, a member of one stands for all (as
// compilers allow; asserts below hold the places). Actions are
// hashed and compared as bytes, so there is no padding: `no_...` is what a kind does not have.
// Ranks are those in the world.

/// kWaitSend, kWaitReceive, kTested; of a kNone nothing but the absence of a slot.
struct RequestAction {
  int32_t no_peer = 0;
  /// The request: small and reused where a rank has one timeline, else a new number for each.
  uint32_t slot = kNoSlot;
  uint64_t bytes = 0;  ///< received, at a kWaitReceive
  uint64_t no_order = 0;
};

/// kSend, kPost.
struct MessageAction {
  int32_t peer = 0;         ///< rank of the other side
  uint32_t slot = kNoSlot;  ///< its request, if another call completes it
  uint64_t bytes = 0;       ///< its length
  uint32_t tag = 0;         ///< of MPI, or from kNeighbourTag on
  /// Its number on its channel, from 1, over all timelines of the rank. This and the orders below
  /// are 0 where each rank has one timeline: then the order of the calls counts.
  uint32_t order = 0;
};

/// kCollective, kWaitCollective.
struct CollectiveAction {
  int32_t root = 0;  ///< its rank in the communicator, kNoRoot or kRootInOwnGroup
  union {
    uint32_t order = 0;  ///< of a kCollective: its number on its communicator, from 1
    uint32_t slot;       ///< of a kWaitCollective: that of the start
  };
  uint64_t sent = 0;      ///< bytes, as the archive counts them
  uint64_t received = 0;  ///< likewise
};

/// kStartCollective. Its bytes are known at the wait.
struct StartAction {
  int32_t root = 0;         ///< its rank in the communicator
  uint32_t slot = kNoSlot;  ///< its request
  uint64_t payload = 0;     ///< as priced_bytes() of the wait: the bits of a double
  uint32_t persistent = 0;  ///< number among the persistent ones of the communicator, from 1, or 0
  uint32_t order = 0;       ///< number on the communicator, or of the start of a persistent one
};

/// So many members in a row that get so many bytes each.
struct Part {
  static constexpr int kBytesBits = 40;
  static Part of(uint64_t packed) {
    return {packed >> kBytesBits, packed & ((uint64_t{1} << kBytesBits) - 1)};
  }
  uint64_t packed() const { return members << kBytesBits | bytes; }

  uint64_t members = 0;
  uint64_t bytes = 0;
};

/// kParts: two of them, the second one perhaps of nobody; from local rank 0 on, or the first rank
/// of the other group.
struct PartsAction {
  int32_t follow = 0;  ///< further actions of this kind
  uint32_t no_slot = kNoSlot;
  uint64_t first = 0;  ///< Part::packed()
  uint64_t second = 0;
};

/// kOneSided, kFetch, kOneSidedDone, kLock, kUnlock.
struct OneSidedAction {
  int32_t target = 0;       ///< rank, not of a kFetch or kOneSidedDone; of a lock also kNoRoot
  uint32_t slot = kNoSlot;  ///< of operations that complete together: a number like a request's
  uint64_t bytes = 0;       ///< that move
  uint64_t no_order = 0;
};

/// kEpoch.
struct EpochAction {
  int32_t peer = 0;  ///< rank of the other side
  uint32_t no_slot = kNoSlot;
  uint64_t no_bytes = 0;
  EpochStep step = EpochStep::kPost;  ///< what the call does
  uint32_t order = 0;                 ///< number among these steps with this peer, from 1
};

/// kThreadStep, kAwaitThread.
struct ThreadAction {
  int32_t no_peer = 0;
  uint32_t step = kNoSlot;  ///< a number like a request's
  uint64_t no_bytes = 0;
  uint64_t no_order = 0;
};

/// kLost. Calls that lose are alike (packed_calls.h): most of the ticks stand in place of a slot.
struct LostAction {
  static LostAction of(uint64_t ticks) {
    return {.low = std::min(static_cast<uint32_t>(ticks), kNoSlot - 1), .high = ticks >> 32};
  }
  uint64_t ticks() const { return high << 32 | low; }

  int32_t no_peer = 0;
  uint32_t low = 0;   ///< 32 bits of the ticks
  uint64_t high = 0;  ///< the others
  uint64_t no_order = 0;
};

/// An action of any kind. Who sets the kind also sets the struct of that kind.
struct Action {
  constexpr Action() : request{} {}

  ActionKind kind = ActionKind::kNone;
  uint8_t flags = 0;                         ///< by kind
  CollectiveOp op = CollectiveOp::kBarrier;  ///< of a collective, its start and its wait
  bool has_request = false;                  ///< request_of(), where actions are shared (Block)
  uint32_t comm = 0;                         ///< index into TraceDefinitions::comms; the window
  union {
    RequestAction request;  ///< any with a slot has it here
    MessageAction message;
    CollectiveAction collective;
    StartAction start;
    PartsAction parts;
    OneSidedAction one_sided;
    EpochAction epoch;
    ThreadAction thread;
    LostAction lost;
  };
};
static_assert(sizeof(Action) == 32 && std::is_trivially_copyable_v<Action>);
static_assert(std::has_unique_object_representations_v<Action>);
static_assert(offsetof(MessageAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(CollectiveAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(StartAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(OneSidedAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(ThreadAction, step) == offsetof(RequestAction, slot) &&
              offsetof(LostAction, low) == offsetof(RequestAction, slot));

/// The request that an action makes or completes, nullptr when it has none. `A` is Action or const
/// Action.
template <typename A>
auto request_of(A& action) -> decltype(&action.request.slot) {
  const bool has_none = action.kind == ActionKind::kCollective || action.request.slot == kNoSlot;
  return has_none ? nullptr : &action.request.slot;
}

/// Where the order of an action stands, nullptr when it has none.
template <typename A>
auto order_of(A& action) -> decltype(&action.message.order) {
  switch (action.kind) {
    case ActionKind::kSend:
    case ActionKind::kPost:
      return &action.message.order;
    case ActionKind::kCollective:
      return &action.collective.order;
    case ActionKind::kStartCollective:
      return &action.start.order;
    case ActionKind::kEpoch:
      return &action.epoch.order;
    default:
      return nullptr;
  }
}

/// Hands each Part behind a collective, which kHasParts, to `take`.
template <typename Take>
void for_each_part(const Action& collective, Take take) {
  const Action* behind = &collective;
  do {
    for (const uint64_t packed : {(++behind)->parts.first, behind->parts.second}) {
      const Part part = Part::of(packed);
      if (part.members > 0) take(part);
    }
  } while (behind->parts.follow > 0);
}

/// True for actions on a channel.
inline bool is_message(const Action& action) {
  return action.kind == ActionKind::kSend || action.kind == ActionKind::kPost;
}

}  // namespace rubato
