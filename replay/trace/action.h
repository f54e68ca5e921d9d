#pragma once

// The actions of calls, 32 bytes each, with a struct for each kind or for a few kinds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/collective/collectives.h"

namespace rubato {

/// An action of a call.
enum class ActionKind : uint8_t {
  kNone,  ///< no effect, as known from the archive: a cancelled receive, a broadcast without data
  kSend,  ///< a message leaves; the call waits for it when kBlocking
  kPost,  ///< a receive is posted; the call waits for it when kBlocking
  kWaitSend,         ///< completes the send of a slot
  kWaitReceive,      ///< completes the receive of a slot
  kCollective,       ///< also of a window: its creation and end, a fence
  kStartCollective,  ///< a collective is started that the call does not wait for
  kWaitCollective,   ///< completes the collective that was started in a slot
  kTested,           ///< an unsuccessful test of the receive of a slot
  kProbe,            ///< found a message: the one that the next kPost on its channel receives
  kParts,  ///< what the collective before it sends to each member; more of these may follow
  // One-sided communication; `comm` is the window (windows.h).
  kOneSided,      ///< a put, get or atomic operation of a slot begins, and sends
  kFetch,         ///< the data fetched by the kOneSided before it
  kOneSidedDone,  ///< the operations of a slot are complete: locally, or with kRemote entirely
  kEpoch,         ///< post, start, complete or wait (EpochStep) towards a peer
  kLock,          ///< of the window at a target, or at all members
  kUnlock,
  // Among the threads of a rank, outside of MPI (engine/threads.h).
  kThreadStep,   ///< the creation or end of a thread; others wait for it by its number
  kAwaitThread,  ///< waits for such a step; kBegins: the thread itself waits for its creation
  /// A part of the call's time that is neither waiting nor communication (LostAction), of the kind
  /// given by LostFlags. Such actions are the last ones of a call, which has kLoses.
  kLost,
};
inline constexpr int kActionKinds = static_cast<int>(ActionKind::kLost) + 1;

/// Flags of a send or a post.
enum MessageFlags : uint8_t {
  kBlocking = 1,     ///< the call itself completes it
  kSynchronous = 2,  ///< Ssend, Issend: completes only once the receive has been posted
  kBuffered = 4,     ///< Bsend, Ibsend: completes at once
  kAnySource = 8,    ///< a receive that named MPI_ANY_SOURCE, if the archive has this information
  /// A send that follows an open one: the previous send of its timeline is not known to be
  /// complete. Both go to other ranks.
  kInBurst = 16,
  kSecondOfBurst = 32,  ///< with kInBurst: second of its burst
  kAnyTag = 64,         ///< as kAnySource: MPI_ANY_TAG
  kPartitioned = 128,   ///< intermediate; in the finished action the tag has it
};

/// Flags of a kProbe.
enum ProbeFlags : uint8_t {
  /// The archive does not contain what was found: the message of the receive after it is assumed.
  kInferred = 1,
};

/// Flags of a collective, and of the start of one.
enum CollectiveFlags : uint8_t {
  /// Of a started Allgatherv or Reduce_scatter: StartAction::payload is its own part, which is not
  /// the mean part.
  kUneven = 1,
  /// Has no part in the data: does not wait, and no member waits for it.
  kNoPart = 16,
  kHasParts = 8,      ///< an Alltoallv, Alltoallw, or the root's Scatterv: kParts follow
  kSendsToSome = 32,  ///< with kHasParts: nothing is sent to some members
  /// Gives nothing, so no member waits for it: an Allgatherv without elements.
  kGivesNothing = 64,
  /// Gets nothing, so it may leave before the others enter: a Reduce_scatter without elements. Also
  /// on the wait of a started one.
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

/// Flags of a kLost. None: the tracer wrote its buffer.
enum LostFlags : uint8_t {
  kStolenInside = 2,  ///< the thread could run, but had no core
  kOwnWork = 4,       ///< the call computed: callbacks of the program
  kPacks = 8,         ///< own work on data in blocks (PackingAction)
};

/// The step of a kEpoch.
enum class EpochStep : uint32_t { kPost, kStart, kComplete, kWait };

/// Slot of an action whose completion the archive does not show.
inline constexpr uint32_t kNoSlot = UINT32_MAX;
// Tags of messages that must not match those of the program; MPI tags are smaller.

/// Tag of the messages that represent neighbourhood collectives. The n-th persistent one of a
/// communicator uses `kNeighbourTag + n`.
inline constexpr uint32_t kNeighbourTag = uint32_t{1} << 31;
/// Combined with the low 30 bits of the tag of a partitioned message.
inline constexpr uint32_t kPartitionedTag = uint32_t{3} << 30;

inline bool is_partitioned(uint32_t tag) {
  return tag >= kPartitionedTag;
}
inline bool is_among_neighbours(uint32_t tag) {
  return tag >= kNeighbourTag && !is_partitioned(tag);
}
/// Root of a collective without one, and target of a lock of all members.
inline constexpr int32_t kNoRoot = -1;
/// Root of a collective on an intercommunicator, for members of the root's group other than the
/// root.
inline constexpr int32_t kRootInOwnGroup = -2;

// Slots, bytes and orders are at the same offset in all structs, except the order of a
// CollectiveAction. Where kinds are treated alike, the member of one struct is used for all
// (compilers allow it; the asserts below check the offsets). Actions are hashed and compared as
// bytes, so there is no padding: `no_...` fills the place of a member that a kind does not have.
// Ranks are world ranks.

/// kWaitSend, kWaitReceive, kTested; for a kNone it only shows that there is no slot.
struct RequestAction {
  int32_t no_peer = 0;
  /// The request: small and reused where a rank has one timeline, else a new number for each
  /// request.
  uint32_t slot = kNoSlot;
  uint64_t bytes = 0;  ///< received, at a kWaitReceive
  uint64_t no_order = 0;
};

/// kSend, kPost, kProbe.
struct MessageAction {
  int32_t peer = 0;         ///< rank of the other side
  uint32_t slot = kNoSlot;  ///< its request, if another call completes it
  uint64_t bytes = 0;       ///< its length
  uint32_t tag = 0;         ///< an MPI tag, or at least kNeighbourTag
  /// Its number on its channel, from 1, over all timelines of the rank. This and the orders below
  /// are 0 where each rank has one timeline: then the order of the calls is used.
  uint32_t order = 0;
};

/// kCollective, kWaitCollective.
struct CollectiveAction {
  int32_t root = 0;  ///< its rank in the communicator, kNoRoot or kRootInOwnGroup
  union {
    uint32_t order = 0;  ///< of a kCollective: its number on its communicator, from 1
    uint32_t slot;       ///< of a kWaitCollective: the slot of the start
  };
  uint64_t sent = 0;      ///< bytes, as the archive counts them
  uint64_t received = 0;  ///< likewise
};

/// kStartCollective. Its bytes are known at the wait.
struct StartAction {
  int32_t root = 0;         ///< its rank in the communicator
  uint32_t slot = kNoSlot;  ///< its request
  uint64_t payload = 0;     ///< as of the wait: OwnPart, or priced_bytes(); the bits of a double
  uint32_t persistent = 0;  ///< number among persistent ones, from 1; else 0
  uint32_t order = 0;       ///< number on the communicator, or of the start of a persistent one
};

/// Consecutive members with equal parts: their number, and the bytes of each.
struct Part {
  static constexpr int kBytesBits = 40;
  static Part of(uint64_t packed) {
    return {packed >> kBytesBits, packed & ((uint64_t{1} << kBytesBits) - 1)};
  }
  uint64_t packed() const { return members << kBytesBits | bytes; }

  uint64_t members = 0;
  uint64_t bytes = 0;
};

/// kParts: two parts, the second one possibly of no members. They begin at local rank 0, or at the
/// first rank of the other group.
struct PartsAction {
  int32_t follow = 0;  ///< further actions of this kind
  uint32_t no_slot = kNoSlot;
  uint64_t first = 0;  ///< Part::packed()
  uint64_t second = 0;
};

/// kOneSided, kFetch, kOneSidedDone, kLock, kUnlock.
struct OneSidedAction {
  int32_t target = 0;       ///< rank, not set for a kFetch or kOneSidedDone; of a lock also kNoRoot
  uint32_t slot = kNoSlot;  ///< of operations that complete together: numbered like a request
  uint64_t bytes = 0;       ///< moved bytes
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

/// kLost. Calls with losses share shapes (packed_calls.h): most bits of the ticks are in place of a
/// slot.
struct LostAction {
  static LostAction of(uint64_t ticks) {
    return {.low = std::min(static_cast<uint32_t>(ticks), kNoSlot - 1), .high = ticks >> 32};
  }
  uint64_t ticks() const { return high << 32 | low; }

  int32_t callback = 0;  ///< with most of the own work: its number in the archive, from 1; 0: none
  uint32_t low = 0;      ///< 32 bits of the ticks
  uint64_t high = 0;     ///< the remaining bits
  uint64_t no_order = 0;
};

/// kLost with kPacks: the call packs or unpacks these data, or waits while MPI does.
struct PackingAction {
  int32_t earlier = 0;       ///< blocks of sends that another call started
  uint32_t ticks = kNoSlot;  ///< of that work, if they are known
  uint64_t bytes = 0;
  uint64_t blocks = 0;  ///< contiguous ones that they consist of
};

/// An action of any kind. Code that sets the kind also sets the struct of that kind.
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
    PackingAction packing;
  };
};
static_assert(sizeof(Action) == 32 && std::is_trivially_copyable_v<Action>);
static_assert(std::has_unique_object_representations_v<Action>);
static_assert(offsetof(MessageAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(CollectiveAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(StartAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(OneSidedAction, slot) == offsetof(RequestAction, slot) &&
              offsetof(ThreadAction, step) == offsetof(RequestAction, slot) &&
              offsetof(LostAction, low) == offsetof(RequestAction, slot) &&
              offsetof(PackingAction, ticks) == offsetof(RequestAction, slot));

/// The request that an action makes or completes; nullptr: none. `A` is Action or const Action.
template <typename A>
auto request_of(A& action) -> decltype(&action.request.slot) {
  const bool has_none = action.kind == ActionKind::kCollective || action.request.slot == kNoSlot;
  return has_none ? nullptr : &action.request.slot;
}

/// The order of an action; nullptr: it has none.
template <typename A>
auto order_of(A& action) -> decltype(&action.message.order) {
  switch (action.kind) {
    case ActionKind::kSend:
    case ActionKind::kPost:
    case ActionKind::kProbe:
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

/// Calls `take` with each Part after a collective, which must have kHasParts.
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

/// True for the PackingAction of a call.
inline bool is_packing(const Action& action) {
  return action.kind == ActionKind::kLost && action.flags & kPacks;
}

inline bool is_message(const Action& action) {
  return action.kind == ActionKind::kSend || action.kind == ActionKind::kPost;
}
/// True for actions whose message.peer differs between ranks.
inline bool is_on_channel(const Action& action) {
  return is_message(action) || action.kind == ActionKind::kProbe;
}

}  // namespace rubato
