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

/// What a call is to the replay's clock.
enum class CallRole : uint8_t {
  kBegin,     ///< the first record of the location, where its clock starts; not a call
  kMpi,       ///< an MPI call; its actions say what it does, without any it keeps its time
  kInit,      ///< MPI_Init or MPI_Init_thread: keeps its time, and the rank's window starts at its
              ///< leave; in a model at that of all ranks (common_start.h)
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
    const auto ticks = static_cast<double>(actions[i - 1].lost.ticks());
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
  /// The records since the call before `call`, which is one of `calls`, up to its leave.
  std::span<Record> records_of(const Call& call) {
    return std::span(records).subspan(call.first_record, records_end(call) - call.first_record);
  }
  std::span<const Record> records_of(const Call& call) const {
    return std::span(records).subspan(call.first_record, records_end(call) - call.first_record);
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

  /// A call's records run up to those of the next one; the last one's to the end of the block.
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
