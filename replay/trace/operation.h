#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/trace/action.h"
#include "replay/trace/traffic.h"

namespace rubato {

// The replay sees one timeline (a location that calls MPI: the main thread of a rank, or another
// thread of it) as a sequence of calls, each with its actions. Sources (event_files.cc,
// text_source.cc) make the calls; everything else in the replay works on calls alone.

/// The role of a call for the replay's clock.
enum class CallRole : uint8_t {
  kBegin,     ///< the first record of the location, which starts its clock; not a call
  kMpi,       ///< an MPI call; without actions it keeps its time
  kInit,      ///< MPI_Init or MPI_Init_thread: keeps its time, and the rank's window starts at its
              ///< leave; in a model at the leave of all ranks (common_start.h)
  kFinalize,  ///< the rank's window ends at its enter
  kOff,       ///< measurement was switched off: keeps its length, is not computation
  kFlush,     ///< the tracer wrote its buffer: kept on `measured` only
  kStolen,    ///< the thread could run, but had no core: kept on `measured` (--keep-stolen: by all)
  kThread,    ///< a thread and others of its rank: pthread_join, or a record of a begin, a creation
              ///< or an end without a call; without actions it is computation
  kEnd,       ///< the last record of the location; not a call
};

/// Flags of a call that polls, or obtains the result of previous polls (polling.h).
enum SpinningFlags : uint8_t {
  kSpinning = 1,        ///< found nothing, in a loop that waits
  kSpinningBefore = 2,  ///< no work was done between the previous call and this one
  kInVain = 4,          ///< an unsuccessful poll, in a loop that waits or not
  kLookedFor = 16,      ///< it obtains what previous calls looked for
  kNamesTests = 32,     ///< all its actions are kTested, except kLost
  // Not about spinning, but stored here:
  kLoses = 64,       ///< its last action is a kLost
  kOnlyLoses = 128,  ///< and it has no others
};

/// first_request of a call whose actions are shared by calls with the same slots, without orders.
inline constexpr uint32_t kNoRequests = UINT32_MAX;

/// Bits of CallFacts::first_action besides the index.
enum ActionPlace : uint32_t {
  kCommonActions = uint32_t{1} << 31,  ///< into Block::common, not Block::actions
  // The two most frequent kinds of calls, known before the replay (note_kind()):
  kStartsMessage = uint32_t{1} << 30,  ///< all that the call does is to start a message
  kOnlyWaits = uint32_t{1} << 29,      ///< all its actions are kWaitSend and kWaitReceive
  kActionIndex = kOnlyWaits - 1,
};

/// A call and its actions, without its times.
struct CallFacts {
  /// True when the archive has no information on what the call did.
  [[gnu::always_inline]] bool is_kept() const {
    return actions == 0 || (spinning & (kNamesTests | kOnlyLoses)) != 0;
  }

  bool has_common_actions() const { return (first_action & kCommonActions) != 0; }
  /// Index of the first action, in Block::actions or Block::common.
  uint32_t action_index() const { return first_action & kActionIndex; }
  /// Sets kStartsMessage or kOnlyWaits if the call has these actions.
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
  uint32_t function_records = 0;  ///< enters and leaves of functions since the previous call
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
  uint64_t event = 0;          ///< number of the Enter record in its location, from 1
  uint32_t first_record = 0;   ///< index into Block::records, after the previous call
  uint32_t first_request = 0;  ///< index into Block::requests, or kNoRequests
};
static_assert(sizeof(Call) == 48);

/// Ticks of a call that are neither waiting nor communication.
struct Lost {
  double flushing = 0;  ///< the tracer wrote its buffer
  double stolen = 0;    ///< the thread had no core
  /// The call's own work: callbacks of the program. Unlike the others, every scenario keeps it, as
  /// it keeps compute.
  double own = 0;
  double packing = 0;    ///< further own work, which a model has estimated; it may be any time
  int32_t callback = 0;  ///< LostAction::callback of `own`
};
/// The Lost of a call with kLoses and these actions.
inline Lost lost_in(std::span<const Action> actions) {
  Lost lost;
  for (size_t i = actions.size(); i > 0 && actions[i - 1].kind == ActionKind::kLost; --i) {
    if (is_packing(actions[i - 1])) {
      const uint32_t packing = actions[i - 1].packing.ticks;
      if (packing != kNoSlot) lost.packing = packing;
      continue;
    }
    const auto ticks = static_cast<double>(actions[i - 1].lost.ticks());
    const uint8_t kind = actions[i - 1].flags;
    (kind & kOwnWork ? lost.own : kind & kStolenInside ? lost.stolen : lost.flushing) += ticks;
    if (kind & kOwnWork) lost.callback = actions[i - 1].lost.callback;
  }
  return lost;
}

/// Where a record is relative to its call. It moves with the call, its enter or its leave
/// accordingly.
enum class RecordPhase : uint8_t {
  kBetween,  ///< after the previous call, before this call's Enter
  kHead,     ///< in the call, before its blocking point: keeps its distance to the enter
  kTail,     ///< in the call, after it: keeps its distance to the leave
};

struct Record {
  double time;
  RecordPhase phase;
};

/// Actions that calls of many timelines share (waiting for all requests, a collective). They
/// contain no sends and posts, because their peers differ.
struct CommonActions {
  std::vector<Action> actions;
  std::vector<Traffic> traffic;  ///< as Block::traffic
};

/// The next calls of one timeline, ready to be replayed: every posted receive has its peer.
struct Block {
  std::vector<Call> calls;
  std::vector<Action> actions;
  std::shared_ptr<const CommonActions> common;  ///< if calls share actions
  std::vector<Record> records;                  ///< only if the source keeps records

  /// Not 0 if equal calls share their actions; another number if the actions changed. Then slots
  /// and orders are valid only for the call that was taken up last.
  uint64_t shared = 0;
  /// If actions are shared by calls with other slots: by call the slot of each action that has one,
  /// followed by its order if actions are numbered.
  std::vector<uint32_t> requests;
  bool numbered = false;

  /// The traffic of calls with several actions, at the index of their first one.
  std::vector<Traffic> traffic;

  /// Sets the slots and orders of the actions of `call`.
  [[gnu::always_inline]] void take_up(const Call& call) {
    if (call.first_request == kNoRequests || shared == 0) return;
    const uint32_t* request = requests.data() + call.first_request;
    Action* action = actions.data() + call.action_index();
    for (const Action* end = action + call.actions; action != end; ++action) {
      if (action->has_request) action->request.slot = *request++;
      if (!numbered) continue;
      if (uint32_t* order = order_of(*action)) *order = *request++;
    }
  }
  [[gnu::always_inline]] std::span<const Action> actions_of(const Call& call) const {
    if (call.has_common_actions())
      return {common->actions.data() + call.action_index(), call.actions};
    return {actions.data() + call.action_index(), call.actions};
  }
  /// The action of a call that packs data; null: it does not.
  const Action* packing_of(const Call& call) const {
    if (!(call.spinning & kLoses)) return nullptr;
    const std::span<const Action> all = actions_of(call);
    const auto found = std::find_if(all.begin(), all.end(), is_packing);
    return found == all.end() ? nullptr : &*found;
  }
  void set_packing(const Call& call, double ticks) {
    const Action* const action = packing_of(call);
    const double most = kNoSlot - 1;
    if (action)
      actions[action - actions.data()].packing.ticks = static_cast<uint32_t>(std::min(ticks, most));
  }
  /// The records from the previous call up to the leave of `call`, which is one of `calls`.
  std::span<Record> records_of(const Call& call) {
    return std::span(records).subspan(call.first_record, records_end(call) - call.first_record);
  }
  std::span<const Record> records_of(const Call& call) const {
    return std::span(records).subspan(call.first_record, records_end(call) - call.first_record);
  }
  /// CallFacts::note_kind() for all calls, if shapes do not have it.
  void note_kinds() {
    for (Call& call : calls) call.note_kind(actions_of(call));
  }
  /// The bytes moved by `call`.
  [[gnu::always_inline]] Traffic traffic_of(const Call& call) const {
    if (call.actions == 0) return {};
    if (call.actions == 1) return rubato::traffic_of(actions_of(call)[0]);
    if (call.has_common_actions()) return common->traffic[call.action_index()];
    if (shared != 0) return traffic[call.action_index()];
    return rubato::traffic_of(actions_of(call));
  }

  /// The records of a call end where those of the next one begin; those of the last call at the end
  /// of the block.
  size_t records_end(const Call& call) const {
    const size_t next = static_cast<size_t>(&call - calls.data()) + 1;
    return next < calls.size() ? calls[next].first_record : records.size();
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
