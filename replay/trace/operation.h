#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/cost/collectives.h"

namespace rubato {

// The replay sees one timeline (a location that calls MPI: the main thread of a rank, or another
// thread of it) as a sequence of calls, each with its actions. Sources (event_files.cc,
// text_source.cc) make the calls; everything else in the replay works on calls alone.

/// One thing that a call does.
enum class ActionKind : uint8_t {
  kNone,             ///< nothing, and known to be: a cancelled receive, a broadcast of no data
  kSend,             ///< a message leaves; the call waits for it when kBlocking
  kPost,             ///< a receive is posted; the call waits for it when kBlocking
  kWaitSend,         ///< completes the send in `slot`
  kWaitReceive,      ///< completes the receive in `slot`
  kCollective,       ///< also of a window: its creation and end, a fence
  kStartCollective,  ///< a collective is started that the call does not wait for
  kWaitCollective,   ///< completes the collective whose `slot` is in `tag`
  kTested,           ///< looked in vain whether the receive in `slot` is complete
  /// The collective before it sends nothing to `bytes` members, from `peer` on; `tag` more of these
  /// follow.
  kNothingTo,
  // One-sided communication; `comm` is the window (windows.h).
  kOneSided,      ///< a put, get or atomic operation in `slot` begins, and sends `bytes`
  kFetch,         ///< what the kOneSided before it brings back: `bytes`
  kOneSidedDone,  ///< those in `slot` are complete: their local ends, or, kRemote, all of them
  kEpoch,         ///< post, start, complete or wait towards `peer`; `tag` says which
  kLock,          ///< of the window at `peer`, kNoRoot: at all members
  kUnlock,
  // Among the threads of a rank, outside of MPI (engine/threads.h).
  kThreadStep,   ///< a thread is created, or ends, which others wait for by its `slot`
  kAwaitThread,  ///< waits for that step; kBegins: of the thread itself, for its creation
  /// Not of the program: the call took so much longer (lost_ticks()), as LostFlags says. Behind all
  /// other actions of a call, which has kLoses.
  kLost,
};
inline constexpr int kActionKinds = static_cast<int>(ActionKind::kLost) + 1;

/// Flags of a send or a post.
enum ActionFlags : uint8_t {
  kBlocking = 1,     ///< the call itself completes it
  kSynchronous = 2,  ///< Ssend, Issend: completes only once the receive is there
  kBuffered = 4,     ///< Bsend, Ibsend: completes at once
  kAnySource = 8,    ///< a receive that named MPI_ANY_SOURCE, where the archive says so
  /// A send that follows an open one: the one of its timeline before it, to other ranks both, is
  /// not known to be complete.
  kFollows = 16,
  kAnyTag = 64,        ///< as kAnySource: MPI_ANY_TAG
  kPartitioned = 128,  ///< only on the way to the action: then the tag says it
};

/// Flags of a collective, and of the start of one.
enum CollectiveFlags : uint8_t {
  /// Has no part in the data: waits for nobody, and nobody waits for it.
  kNoPart = 16,
  kSendsToSome = 32,  ///< an Alltoallv or Alltoallw that some get nothing from: kNothingTo follow
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

/// What a kEpoch does (`tag`).
enum class EpochStep : uint32_t { kPost, kStart, kComplete, kWait };

/// `slot` of an action whose completion the archive does not show.
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
/// `peer` of a collective without root.
inline constexpr int32_t kNoRoot = -1;
/// `peer` of a collective between groups whose root is another member of the own group.
inline constexpr int32_t kRootInOwnGroup = -2;

/// Where an action has its request.
enum class RequestField : uint8_t { kNone, kSlot, kTag };

struct Action {
  ActionKind kind = ActionKind::kNone;
  uint8_t flags = 0;
  CollectiveOp op = CollectiveOp::kBarrier;
  RequestField request = RequestField::kNone;  ///< set where actions are shared (Block)
  uint32_t comm = 0;                           ///< index into TraceDefinitions::comms
  int32_t peer = 0;  ///< world rank of the other side; for a collective the root's rank in comm
  /// Of a collective and of the start of one its `order`; of a kEpoch and of the wait of a
  /// collective see ActionKind.
  uint32_t tag = 0;
  /// Bytes of the message, also at the wait of a receive. Of a collective: bytes sent, as the
  /// archive counts them; a started collective has them at its wait. At the start of a collective:
  /// its number among the persistent collectives of its communicator, from 1, or 0.
  uint64_t bytes = 0;
  union {
    uint64_t bytes_received = 0;  ///< where `bytes` are those of a collective; counted likewise
    struct {
      uint32_t slot;  ///< request of a send, post, start or wait: small and reused where a rank has
                      ///< one timeline, else a new number for each
      /// Of a send or post: its number on its channel, from 1, over all timelines of the rank. Of a
      /// collective: its number on its communicator, or the number of the start of a persistent
      /// one. 0 where each rank has one timeline: then the order of the calls counts.
      uint32_t order;
    };
  };
};
static_assert(sizeof(Action) == 32);

/// The request that an action makes or completes, nullptr when it has none. `A` is Action or const
/// Action.
template <typename A>
auto request_of(A& action) -> decltype(&action.tag) {
  if (action.kind == ActionKind::kCollective) return nullptr;
  if (action.kind == ActionKind::kWaitCollective) return &action.tag;
  return action.slot == kNoSlot ? nullptr : &action.slot;
}

/// Ticks of a kLost. They are not part of the call's shape (packed_calls.h): the low part is stored
/// in the place of the request.
inline uint64_t lost_ticks(const Action& action) {
  return action.bytes << 32 | action.slot;
}
inline void set_lost_ticks(Action& action, uint64_t ticks) {
  action.bytes = ticks >> 32;
  action.slot = std::min(static_cast<uint32_t>(ticks), kNoSlot - 1);
  action.order = 0;
}

/// Where the order of an action stands, nullptr when it has none.
template <typename A>
auto order_of(A& action) -> decltype(&action.tag) {
  const bool collective =
      action.kind == ActionKind::kCollective || action.kind == ActionKind::kStartCollective;
  if (collective) return &action.tag;
  return action.kind == ActionKind::kWaitCollective ? nullptr : &action.order;
}

/// True for actions on a channel.
inline bool is_message(const Action& action) {
  return action.kind == ActionKind::kSend || action.kind == ActionKind::kPost;
}

/// Bytes that a call moves.
struct Traffic {
  uint64_t sent = 0;
  uint64_t received = 0;
};

/// Which bytes of an action count as moved, as masks: every call asks, and a branch by kind would
/// often be mispredicted.
struct TrafficMasks {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t both = 0;  ///< of Action::bytes_received, beside `sent`
};
consteval std::array<TrafficMasks, 2 * kActionKinds> traffic_masks() {
  constexpr uint64_t kAll = UINT64_MAX;
  std::array<TrafficMasks, 2 * kActionKinds> masks{};
  const auto set = [&](ActionKind kind, TrafficMasks mask) {
    masks[static_cast<size_t>(kind) * 2] = masks[static_cast<size_t>(kind) * 2 + kBlocking] = mask;
  };
  set(ActionKind::kSend, {kAll, 0, 0});
  set(ActionKind::kOneSided, {kAll, 0, 0});
  masks[static_cast<size_t>(ActionKind::kPost) * 2 + kBlocking] = {0, kAll, 0};
  set(ActionKind::kWaitReceive, {0, kAll, 0});
  set(ActionKind::kFetch, {0, kAll, 0});
  set(ActionKind::kCollective, {kAll, 0, kAll});
  set(ActionKind::kWaitCollective, {kAll, 0, kAll});
  return masks;
}
/// By kind, and whether the call itself completes it.
inline constexpr auto kTrafficMasks = traffic_masks();

/// Bytes that an action moves; `mask` is that of its kind.
[[gnu::always_inline]] inline Traffic traffic_of(const Action& action, const TrafficMasks& mask) {
  return {action.bytes & mask.sent,
          (action.bytes & mask.received) | (action.bytes_received & mask.both)};
}
/// Bytes that an action moves. Received bytes, and bytes of a started collective, are booked in the
/// call that completes the request, as in MPInside: in MPI_Wait.
[[gnu::always_inline]] inline Traffic traffic_of(const Action& action) {
  return traffic_of(
      action, kTrafficMasks[static_cast<size_t>(action.kind) * 2 + (action.flags & kBlocking)]);
}
/// What actions move.
Traffic traffic_of(std::span<const Action> actions);

/// What a call is to the replay's clock.
enum class CallRole : uint8_t {
  kBegin,     ///< the first record of the location, where its clock starts; not a call
  kMpi,       ///< an MPI call; its actions say what it does, without any it keeps its time
  kInit,      ///< MPI_Init or MPI_Init_thread: keeps its time, and the rank's window starts at its
              ///< leave
  kFinalize,  ///< the rank's window ends at its enter
  kOff,       ///< measurement was switched off: keeps its length, is no computation
  kFlush,     ///< the tracer wrote its buffer: kept on `measured` alone
  kStolen,    ///< the thread could run, but had no core: kept on `measured` (--keep-stolen: by all)
  kThread,    ///< what a thread has to do with others of its rank: pthread_join, or the mere record
              ///< of a begin, a creation or an end; without actions it is computation
  kEnd,       ///< the last record of the location; not a call
};

/// Flags of a call that looks for something, or gets it behind such calls (polling.h).
enum SpinningFlags : uint8_t {
  kSpinning = 1,        ///< found nothing, in a loop that waits
  kSpinningBefore = 2,  ///< between the call before and this one nothing was done
  kInVain = 4,          ///< it looked and found nothing, whether it waits or not
  kFound = 8,           ///< a probe that found what the call behind it receives
  kLookedFor = 16,      ///< it gets what calls before it looked for
  kNamesTests = 32,     ///< all its actions are kTested, but for kLost
  // Not about spinning, but there is room:
  kLoses = 64,       ///< its last action is a kLost
  kOnlyLoses = 128,  ///< and it has no others
};

/// first_request of a call that shares its actions with calls of the same slots, without orders.
inline constexpr uint32_t kNoRequests = UINT32_MAX;

/// What CallFacts::first_action says besides an index.
enum ActionPlace : uint32_t {
  kCommonActions = uint32_t{1} << 31,  ///< into Block::common, not Block::actions
  // The two most frequent kinds of calls, known before the replay (note_kind()):
  kStartsMessage = uint32_t{1} << 30,  ///< all that the call does is to start a message
  kOnlyWaits = uint32_t{1} << 29,      ///< all its actions are kWaitSend and kWaitReceive
  kActionIndex = kOnlyWaits - 1,
};

/// What a call is and does, without its times.
struct CallFacts {
  /// True when the archive says neither what the call did nor that it did nothing.
  [[gnu::always_inline]] bool is_kept() const {
    return actions == 0 || (spinning & (kNamesTests | kOnlyLoses)) != 0;
  }

  bool has_common_actions() const { return (first_action & kCommonActions) != 0; }
  /// Index of the first action, wherever it is.
  uint32_t action_index() const { return first_action & kActionIndex; }
  /// Sets kStartsMessage or kOnlyWaits of a call that does this.
  void note_kind(std::span<const Action> does) {
    const auto waits = [](const Action& action) {
      return action.kind == ActionKind::kWaitSend || action.kind == ActionKind::kWaitReceive;
    };
    if (does.size() == 1 && role == CallRole::kMpi && spinning == 0 && is_message(does[0]) &&
        !(does[0].flags & kBlocking)) {
      first_action |= kStartsMessage;
    } else if (std::all_of(does.begin(), does.end(), waits)) {
      first_action |= kOnlyWaits;
    }
  }

  uint32_t first_action = 0;  ///< index into Block::actions, and ActionPlace
  uint32_t actions = 0;
  uint32_t function_records = 0;  ///< enters and leaves of functions since the call before
  uint16_t name = 0;              ///< index into TraceDefinitions::calls
  CallRole role = CallRole::kMpi;
  uint8_t spinning = 0;  ///< SpinningFlags

  bool operator==(const CallFacts&) const = default;
};
static_assert(sizeof(CallFacts) == 16);

/// One MPI call (or switched-off interval) of one timeline, in ticks after the trace's start as
/// recorded and corrected.
struct Call : CallFacts {
  double enter = 0;
  double leave = 0;
  uint64_t event = 0;         ///< number of the Enter record in its location, from 1
  uint32_t first_record = 0;  ///< index into Block::records: the first record after the call before
  uint32_t first_request = 0;  ///< index into Block::requests, or kNoRequests
};
static_assert(sizeof(Call) == 48);

/// Ticks of a call that are not the program's.
struct Lost {
  double flushing = 0;  ///< the tracer wrote its buffer
  double stolen = 0;    ///< the thread had no core
};
/// What a call with kLoses that does `actions` lost.
inline Lost lost_in(std::span<const Action> actions) {
  Lost lost;
  for (size_t i = actions.size(); i > 0 && actions[i - 1].kind == ActionKind::kLost; --i) {
    const auto ticks = static_cast<double>(lost_ticks(actions[i - 1]));
    (actions[i - 1].flags & kStolenInside ? lost.stolen : lost.flushing) += ticks;
  }
  return lost;
}

/// Where a record lies. The record moves with its call, its enter or its leave accordingly.
enum class RecordPhase : uint8_t {
  kBetween,  ///< after the call before, before this call's Enter
  kHead,     ///< in the call, before its blocking point: keeps its distance to the enter
  kTail,     ///< in the call, after it: keeps its distance to the leave
};

struct Record {
  double time;
  RecordPhase phase;
};

/// Actions that calls of many timelines share (waiting for all requests, a collective). Sends and
/// posts are never among them: their peers differ.
struct CommonActions {
  std::vector<Action> actions;
  std::vector<Traffic> traffic;  ///< as Block::traffic
};

/// The next calls of one timeline, ready to be replayed: every posted receive in it knows its peer.
struct Block {
  std::vector<Call> calls;
  std::vector<Action> actions;
  std::shared_ptr<const CommonActions> common;  ///< where calls have some
  std::vector<Record> records;                  ///< only when the source was asked to keep them

  /// Not 0 where calls that do the same share their actions; another number for other actions.
  /// Then slots and orders are right only in the call that was taken up last.
  uint64_t shared = 0;
  /// Where actions are shared among calls of other slots: call by call the slot of each action that
  /// has one, and behind it, if they are numbered, its order.
  std::vector<uint32_t> requests;
  bool numbered = false;

  /// And what calls with several actions move, at the index of their first one.
  std::vector<Traffic> traffic;

  /// Gives the actions of `call` its slots and orders.
  [[gnu::always_inline]] void take_up(const Call& call) {
    if (call.first_request == kNoRequests || shared == 0) return;
    const uint32_t* request = requests.data() + call.first_request;
    Action* action = actions.data() + call.action_index();
    for (const Action* end = action + call.actions; action != end; ++action) {
      if (action->request == RequestField::kSlot) action->slot = *request++;
      if (action->request == RequestField::kTag) action->tag = *request++;
      if (!numbered) continue;
      if (uint32_t* order = order_of(*action)) *order = *request++;
    }
  }
  [[gnu::always_inline]] std::span<const Action> actions_of(const Call& call) const {
    if (call.has_common_actions())
      return {common->actions.data() + call.action_index(), call.actions};
    return {actions.data() + call.action_index(), call.actions};
  }
  /// CallFacts::note_kind(), where shapes of calls do not tell it.
  void note_kinds() {
    for (Call& call : calls) call.note_kind(actions_of(call));
  }
  /// What `call` moves.
  [[gnu::always_inline]] Traffic traffic_of(const Call& call) const {
    if (call.actions == 0) return {};
    if (call.actions == 1) return rubato::traffic_of(actions_of(call)[0]);
    if (call.has_common_actions()) return common->traffic[call.action_index()];
    if (shared != 0) return traffic[call.action_index()];
    return rubato::traffic_of(actions_of(call));
  }

  void clear() {
    calls.clear();
    actions.clear();
    records.clear();
    requests.clear();
    shared = 0;
  }
};

}  // namespace rubato
