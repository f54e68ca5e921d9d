#pragma once

// When calls leave, by the evidence of the archive itself.
//
// Let W be the time of a call's cause on another rank. The call leaves at
//
//   leave' = max(enter' + a, W' + b)
//
// with a and b from the recording so that leave' = leave if nothing changed. A call waited if it
// took longer than its own time (recorded_minima.h) and its cause cannot have happened before its
// enter. Then a is its own time and b = leave - W: a later cause delays the call, an earlier cause
// shortens it. Otherwise a = leave - enter, and b is the least time from such a cause to such an
// end in the whole archive: the cause delays the call only if it comes late enough. If clocks put
// every such call before its cause, the archive does not bound its own time: then a is the
// receiver's overhead on the selected platform, or 0 without one, and a warning is printed.
//
// If the other side of a message lost its core, or flushed, between W and the leave of the call, a
// scenario without that loss lets the call leave that much earlier: the other side could not
// process the message meanwhile. The same holds for losses in a collective of the members that a
// member waits for, as far as they can lie after W: the largest of them counts. Where no cause came
// late, the largest loss of all other sides since the enter counts. All this is in addition to the
// call's own loss. b stays at least the least time, and a the own time.
//
// A call with several causes waited for at most one of them: the one whose least time ends last.
// The others get their least time.
//
// The own work of a call (Lost::own) lies behind its wait: the rules apply to the call without it,
// and add it to the leave, divided by the processor factor.
//
// A polling loop (polling.h) lasts as long as it has to wait, so in elastic lanes (where anything
// changes) it is one wait that starts at its first poll. `measured` itself keeps every poll in
// place.
//
// `undisturbed` subtracts the tracer's overhead: the outside part, and the cost of function
// records, from compute; the inside part after the MPI call; and the inside part before it only if
// the call did not wait (else it hid in the wait). The message left its sender earlier by that part
// before, which b loses too. The rules above carry the delay to the other ranks: a wait of W
// becomes max(0, W - (delay of the other - own delay)), the delay that messages carry in Malony and
// Shende's method ("Models for On-the-Fly Compensation of Measurement Overhead in Parallel
// Performance Profiling", 2005). `undisturbed:local` leaves that out: each rank loses its own
// overhead, and calls that waited wait as long as recorded.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/matching/own_work.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/trace/collective_sizes.h"
#include "replay/trace/recording_overhead.h"

namespace rubato {

/// Actions by the cost of recording them.
enum class RecordedAction { kMessage, kRequest, kCompletion, kCollective, kNothing };
inline constexpr int kRecordedActions = 5;

inline RecordedAction recorded_action(const Action& action) {
  switch (action.kind) {
    case ActionKind::kSend:
    case ActionKind::kPost:
      return action.message.slot == kNoSlot ? RecordedAction::kMessage : RecordedAction::kRequest;
    case ActionKind::kCollective:
      return RecordedAction::kCollective;
    case ActionKind::kParts:
    case ActionKind::kTested:
    case ActionKind::kProbe:
    case ActionKind::kLost:
      return RecordedAction::kNothing;
    default:
      return RecordedAction::kCompletion;
  }
}

/// A lane of `measured` or `undisturbed`: subtracted ticks, and compute speed.
struct MeasuredLane {
  double cpu = 1;
  double outside = 0;
  double inside_before = 0;
  double inside_after = 0;
  std::array<double, kRecordedActions> per_action{};  ///< by RecordedAction
  double function = 0;
  bool drop_flushes = false;
  bool drop_stolen = false;
  bool elastic = false;  ///< polling loops are waits
};

template <int K>
class MeasuredRules {
 public:
  static constexpr bool kMayBeDivided = true;
  static constexpr int kLanes = K;
  static constexpr bool kFollowsRecording = true;  ///< what blocks blocked when recorded

  MeasuredRules(const std::vector<MeasuredLane>& lanes, const RecordedMinima& minima,
                const Placement& placement, const EagerLimits& limits, bool local = false)
      : minima_(&minima), placement_(&placement), limits_(&limits), local_(local) {
    for (int lane = 0; lane < K; ++lane) {
      inverse_cpu_[lane] = 1 / lanes[lane].cpu;
      outside_[lane] = lanes[lane].outside;
      before_[lane] = lanes[lane].inside_before;
      after_[lane] = lanes[lane].inside_after;
      for (int i = 0; i < kRecordedActions; ++i) per_action_[i][lane] = lanes[lane].per_action[i];
      function_[lane] = lanes[lane].function;
      keep_flush_[lane] = lanes[lane].drop_flushes ? 0 : 1;
      keep_stolen_[lane] = lanes[lane].drop_stolen ? 0 : 1;
      elastic_[lane] = lanes[lane].elastic;
    }
  }

  /// Compute between two calls, with `function_records` records of functions in it.
  Lanes<K> compute(double recorded, bool before_mpi_call, uint32_t function_records) {
    if (!before_mpi_call && function_records == 0) return recorded * inverse_cpu_;
    Lanes<K> left = recorded - function_ * static_cast<double>(function_records);
    if (before_mpi_call) left -= outside_;
    if (recorded >= 0 && left.minCoeff() < 0) clipped_.add(-left.minCoeff());
    // Never negative, unless the recorded clock itself ran backwards.
    return left.max(std::min(recorded, 0.0)) * inverse_cpu_;
  }
  const ClippedOverhead& clipped() const { return clipped_; }

  /// Own time of a call that the archive does not bound, in ticks: the receiver's overhead on a
  /// machine. Without a machine it is zero.
  using OwnPrice = std::function<double(Level, double bytes)>;
  void set_price(OwnPrice price) { price_ = std::move(price); }
  /// Number of calls that waited and whose own time is not bounded.
  uint64_t priced_calls() const { return priced_calls_; }

  /// Every call leaves as recorded, for which the minima are not needed. For lanes without changes.
  void follow() { follows_ = true; }
  /// After follow(): false if the recording contradicts itself. A call was not entered when it was
  /// recorded, or a send that waits for its receiver by the eager limits did not wait.
  bool was_followed() const { return was_followed_; }

  /// Notes the own work of a call that packs data, for which the recording has to be surveyed.
  void note_losses(TimelineState<K>& timeline, const Call& call) {
    if (!(call.spinning & kLoses)) [[likely]]
      return;
    const Action* const action = timeline.block.packing_of(call);
    if (!action) return;
    asks_for_survey_ = follows_;
    if (!follows_)
      timeline.block.set_packing(call, minima_->packing_of(call.name, action->packing));
  }
  bool asks_for_survey() const { return asks_for_survey_; }

  void begin_call(TimelineState<K>&) {}

  /// Enter of a call directly after a poll, with no work in between.
  Lanes<K> enter_in_loop(const TimelineState<K>& timeline) const {
    return elastic_.select(timeline.clock, timeline.enter);
  }

  void send(TimelineState<K>& timeline, const Call&, const Action& action, Transfer<K>& transfer) {
    transfer.sent = timeline.enter;
    const double limit = limits_->bytes[transfer.pair.number()];
    transfer.sender_waits =
        (action.flags & kSynchronous) ||
        (!(action.flags & kBuffered) && static_cast<double>(transfer.bytes) > limit);
  }
  void post(TimelineState<K>& timeline, const Action&, Transfer<K>& transfer) {
    transfer.posted = timeline.enter;
  }
  void matched(Transfer<K>&) {}
  /// To be called for both sides of each message, where drops_losses().
  void note_side(const TimelineState<K>& timeline, TransferId transfer, bool sends) {
    if (sides_.size() <= transfer) sides_.resize(transfer + 1);
    (sends ? sides_[transfer].sender : sides_[transfer].receiver) = timeline.number;
  }
  /// The part of a loss that a call keeps.
  Lanes<K> held(const Lost& lost) const {
    return lost.flushing * keep_flush_ + lost.stolen * keep_stolen_;
  }
  /// The part of a loss that a call does not keep.
  Lanes<K> dropped(const Lost& lost) const {
    return lost.flushing * (1 - keep_flush_) + lost.stolen * (1 - keep_stolen_);
  }
  /// True where losses of other ranks matter.
  bool drops_losses() const {
    return !local_ && !minima_->losses.empty() &&
           ((keep_flush_ < 1).any() || (keep_stolen_ < 1).any());
  }
  /// When the notification of a post or complete is sent.
  Lanes<K> notify(TimelineState<K>& timeline, PairClass) { return timeline.enter; }

  Lanes<K> leave(TimelineState<K>& timeline, const Call& call, const RuleContext<K>& context) {
    if (follows_) {
      check_followed(timeline, call, context);
      return Lanes<K>::Constant(call.leave);
    }
    const double recorded = call.leave - call.enter;
    if (call.role != CallRole::kMpi && call.role != CallRole::kFinalize) {
      Lanes<K> kept = Lanes<K>::Constant(recorded);
      if (call.role == CallRole::kFlush) kept *= keep_flush_;
      if (call.role == CallRole::kStolen) kept *= keep_stolen_;
      if (call.spinning & kSpinning && elastic_.any())
        return leave_loop(timeline, call, kept, recorded - kept);
      return timeline.enter + kept;
    }

    if (context.trace->timelines() == 1) {  // all is own work
      const Lost parts = call.spinning & kLoses ? lost_in(timeline.block.actions_of(call)) : Lost();
      const Lanes<K> left = leave_mpi(timeline, call, recorded, dropped(parts), context);
      return timeline.enter + (left - timeline.enter) * timeline.inverse_cpu;
    }
    Lost parts;
    if (call.spinning & kLoses) [[unlikely]]
      parts = lost_in(timeline.block.actions_of(call));
    // Callbacks come last: without them the call would have left that much earlier.
    Call rest = call;
    rest.leave -= parts.own;
    const Lanes<K> leave =
        leave_mpi(timeline, rest, recorded - parts.own, dropped(parts), context) +
        parts.own * timeline.inverse_cpu;
    if ((timeline.inverse_cpu == 1).all()) return leave;
    return with_other_work(timeline, call, parts, leave, context);
  }

  Level level(int a, int b) const { return placement_->level(a, b); }

 protected:
  /// `leave` of an MPI call whose own work beyond callbacks and packing (own_work.h) takes a time
  /// by the processor.
  [[gnu::noinline]] Lanes<K> with_other_work(const TimelineState<K>& timeline, const Call& call,
                                             const Lost& parts, const Lanes<K>& leave,
                                             const RuleContext<K>& context) const {
    if (!may_have_own_work(timeline, call, *context.trace)) return leave;
    const double work = own_work(timeline, call, context).ticks - parts.own - parts.packing;
    return (leave + std::max(0.0, work) * (timeline.inverse_cpu - 1)).max(timeline.enter);
  }

  /// The leave of an MPI call of `recorded` ticks without its own work, of which lanes drop `lost`.
  Lanes<K> leave_mpi(TimelineState<K>& timeline, const Call& call, double recorded,
                     const Lanes<K>& lost, const RuleContext<K>& context) {
    if (call.spinning & kSpinning && elastic_.any())
      return leave_loop(timeline, call, left_of(recorded, before_ + after_ + lost), lost);
    collect_causes(timeline, context);
    Lanes<K> after = after_;
    for (const Action& action : timeline.block.actions_of(call)) {
      after += per_action_[static_cast<int>(recorded_action(action))];
    }
    const Lanes<K> leave = leave_after(timeline, call, call.enter, after, lost);
    const auto loop = loops_.find(timeline.number);
    if (loop == loops_.end()) return leave;
    const Loop polls = std::move(loop->second);
    loops_.erase(loop);
    if (!(call.spinning & kSpinningBefore)) return leave;
    return elastic_.select(leave_after(timeline, call, polls.enter, after, lost, &polls), leave);
  }

  struct CauseOf {
    double recorded;                                  ///< W
    Lanes<K> replayed;                                ///< W'
    double least;                                     ///< the least leave - W of its kind and size
    TransferId transfer = kNoTransfer;                ///< of a message
    bool is_send = false;                             ///< W is the time of its sender
    const CollectiveInstance<K>* instance = nullptr;  ///< of a collective
    int local = 0;                                    ///< rank in there
  };

  /// A polling loop in progress.
  struct Loop {
    double enter;  ///< of the first poll, as recorded
    struct LostUntil {
      double recorded;
      Lanes<K> ticks;
    };
    std::vector<LostUntil> lost;  ///< losses in the loop that lanes drop
    /// Sum of the losses after a recorded time.
    Lanes<K> lost_since(double recorded) const {
      Lanes<K> sum = Lanes<K>::Constant(0);
      for (const LostUntil& each : lost) {
        if (each.recorded > recorded) sum += each.ticks.min(each.recorded - recorded);
      }
      return sum;
    }
  };

  void check_followed(const TimelineState<K>& timeline, const Call& call,
                      const RuleContext<K>& context) {
    if ((timeline.enter != call.enter).any()) was_followed_ = false;
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kSend || awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = (*context.matcher)[awaited.transfer];
      if (transfer.synchronous) continue;
      // (The engine resets sender_waits to resolve a stall.)
      if (!transfer.sender_waits || call.leave < transfer.recorded_post) was_followed_ = false;
    }
  }

  /// The leave of a call by causes_; its wait began at `enter` in the recording, and begins at
  /// timeline.enter now. `after`: overhead in it after the MPI call; `lost`: flushes and lost cores
  /// in it that the lanes drop; `loop`: the polling loop that it ends.
  Lanes<K> leave_after(const TimelineState<K>& timeline, const Call& call, double enter,
                       const Lanes<K>& after, const Lanes<K>& lost, const Loop* loop = nullptr) {
    const double recorded = call.leave - enter;
    const auto lost_since = [&](double cause) {
      return loop ? Lanes<K>(lost + loop->lost_since(cause)) : lost;
    };
    if (causes_.empty())
      return timeline.enter + left_of(recorded, before_ + after + lost_since(enter));

    const CauseOf* critical = &causes_[0];
    for (const CauseOf& cause : causes_) {
      if (cause.recorded + cause.least > critical->recorded + critical->least) critical = &cause;
    }
    double own = minima_->own_cost(call.name, own_);
    const bool is_bounded = std::isfinite(own);
    if (!is_bounded) own = price();
    const bool waited = recorded > own && critical->recorded + critical->least > enter;
    if (waited && !is_bounded) ++priced_calls_;

    if (local_)
      return timeline.enter + left_of(recorded, lost + (waited ? after : before_ + after));
    const Lanes<K> there = lost_there(timeline, waited ? critical : nullptr,
                                      waited ? critical->recorded : enter, call.leave);
    Lanes<K> a = (own - (before_ + after)).max(std::min(own, 0.0));
    if (!waited) {
      const Lanes<K> left = left_of(recorded, before_ + after + lost_since(enter));
      a = (left - there).max(left.min(a));
    }
    Lanes<K> leave = timeline.enter + a;
    for (const CauseOf& cause : causes_) {
      const double residual = call.leave - cause.recorded;
      const double least = std::min(residual, cause.least);
      // A loss before the cause is part of the wait, and absorbed by it.
      const Lanes<K> b = waited && &cause == critical
                             ? Lanes<K>((residual - lost_since(cause.recorded) - there).max(least))
                             : Lanes<K>::Constant(least);
      leave = leave.max(cause.replayed + (b - (before_ + after)).max(b.min(0.0)));
    }
    return leave;
  }

  /// The leave of an unsuccessful poll in a loop, or of a loss between its polls. Lanes that do not
  /// replay the loop as one wait keep `kept` of it. `dropped`: the loss that lanes drop.
  Lanes<K> leave_loop(const TimelineState<K>& timeline, const Call& call, const Lanes<K>& kept,
                      const Lanes<K>& dropped) {
    if (!(call.spinning & kSpinningBefore)) loops_[timeline.number] = {call.enter, {}};
    if ((dropped > 0).any()) loops_[timeline.number].lost.push_back({call.leave, dropped});
    return elastic_.select(timeline.enter, timeline.enter + kept);
  }

  /// Fills causes_ and own_ with the causes of the current call.
  void collect_causes(const TimelineState<K>& timeline, const RuleContext<K>& context) {
    causes_.clear();
    own_ = {};
    own_.packs = timeline.block.packing_of(timeline.block.calls[timeline.next_call]) != nullptr;
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind >= Awaited::Kind::kCollective) {
        if (awaited.kind == Awaited::Kind::kCollective) add_collective(timeline, awaited, context);
        if (awaited.kind == Awaited::Kind::kLock) add_lock(timeline, awaited, context);
        if (awaited.kind == Awaited::Kind::kEpoch) add_epoch(timeline, awaited, context);
        if (awaited.kind == Awaited::Kind::kProbe) add_probe(timeline, awaited, context);
        continue;
      }
      if (awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = (*context.matcher)[awaited.transfer];
      if (transfer.abandoned) continue;
      const auto bytes = static_cast<double>(transfer.bytes);
      const int level = surveyed_level(transfer.pair);
      if (awaited.kind == Awaited::Kind::kReceive) {
        causes_.push_back({transfer.recorded_send, transfer.sent, least_receive(level, bytes),
                           awaited.transfer, true});
        own_.add(bytes, level, transfer.recorded_send);
      } else if (transfer.sender_waits) {
        causes_.push_back({transfer.recorded_post, transfer.posted, least_synchronous(level, bytes),
                           awaited.transfer, false});
        own_.add(bytes, level, transfer.recorded_post);
      }
    }
  }

  void add_collective(const TimelineState<K>& timeline, const Awaited& awaited,
                      const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Communicator& comm = context.trace->comms[action.comm];
    if (comm.size() <= 1) return;
    const auto& instance = context.collectives->get(action.comm, awaited.instance);
    const double leave = timeline.block.calls[timeline.next_call].leave;
    CauseOf cause{};
    if (instance.abandoned || !collective_cause(instance, action, awaited.local, comm, leave,
                                                cause.recorded, cause.replayed)) {
      return;
    }
    const double bytes = payload_bytes(*context.trace, action, awaited.local);
    const auto table =
        minima_->collective.find(RecordedMinima::collective_key(action.op, comm.size()));
    cause.least = table == minima_->collective.end() ? std::numeric_limits<double>::infinity()
                                                     : table->second.at(bytes);
    cause.instance = &instance;
    cause.local = awaited.local;
    causes_.push_back(cause);
    own_.add_collective(bytes, comm.size(), cause.recorded);
  }

  void add_epoch(const TimelineState<K>& timeline, const Awaited& awaited,
                 const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const Epoch<K>& epoch = context.windows->epoch(action, timeline.rank, awaited.instance);
    CauseOf cause{};
    const double leave = timeline.block.calls[timeline.next_call].leave;
    if (!epoch_cause(epoch, action, leave, cause.recorded, cause.replayed)) return;
    const int distance = surveyed_level(level(timeline.rank, action.epoch.peer));
    cause.least = minima_->epoch[distance].at(0);
    causes_.push_back(cause);
    own_.add(0, distance, cause.recorded);
  }

  void add_lock(const TimelineState<K>& timeline, const Awaited& awaited,
                const RuleContext<K>& context) {
    const Action& action = *awaited.action;
    const LockTurn<K>& turn =
        context.windows->turn(action, static_cast<uint32_t>(awaited.instance - 1));
    // A turn that never ends (records are missing) delays no call.
    if (!std::isfinite(turn.recorded_release)) return;
    const int distance = surveyed_level(level(timeline.rank, action.one_sided.target));
    causes_.push_back({turn.recorded_release, turn.released.time, minima_->epoch[distance].at(0)});
    own_.add(0, distance, turn.recorded_release);
  }

  void add_probe(const TimelineState<K>& timeline, const Awaited& awaited,
                 const RuleContext<K>& context) {
    const Call& call = timeline.block.calls[timeline.next_call];
    const Transfer<K>* message = context.found_by(awaited, call);
    if (!message) return;
    const auto bytes = static_cast<double>(message->bytes);
    const int level = surveyed_level(message->pair);
    causes_.push_back({message->recorded_send, message->sent, minima_->probe[level].at(bytes),
                       awaited.transfer, true});
    own_.add(bytes, level, message->recorded_send);
  }

  double least_receive(int level, double bytes) const {
    return (own_.packs ? minima_->packed_receive : minima_->receive)[level].at(bytes);
  }
  double least_synchronous(int level, double bytes) const {
    return (own_.packs ? minima_->packed_synchronous : minima_->synchronous)[level].at(bytes);
  }

  /// The own time of the current call by the platform.
  double price() const {
    if (!price_ || own_.members > 0) return 0;
    return price_(static_cast<Level>(own_.level), own_.bytes);
  }

  /// The largest loss of the other sides of a call's causes, from `since` to its leave. Of the
  /// cause `only`, or of all (null).
  Lanes<K> lost_there(const TimelineState<K>& timeline, const CauseOf* only, double since,
                      double leave) const {
    Lanes<K> most = Lanes<K>::Zero();
    if (!drops_losses()) return most;
    for (const CauseOf& cause : causes_) {
      if (only != nullptr && &cause != only) continue;
      const double from = std::max(since, cause.recorded);
      if (cause.instance != nullptr) {
        most = most.max(lost_by_members(*cause.instance, cause.local, from));
      } else if (cause.transfer < sides_.size()) {
        const Sides& sides = sides_[cause.transfer];
        const int other = cause.is_send ? sides.sender : sides.receiver;
        if (other != timeline.number)
          most = most.max(dropped(minima_->losses.between(other, from, leave)));
      }
    }
    return most;
  }

  /// The largest loss after `since` of the members that `local` waits for. (In operations in which
  /// some members do not wait, others may not have entered yet. On an intercommunicator it is
  /// unknown.)
  Lanes<K> lost_by_members(const CollectiveInstance<K>& instance, int local, double since) const {
    Lanes<K> most = Lanes<K>::Constant(0);
    if (instance.losses.empty() || !instance.parts.empty() || !instance.groups.empty()) return most;
    for (const auto& [member, enter, leave, lost] : instance.losses) {
      const bool is_awaited = instance.how == Synchronisation::kOneToAll ? member == instance.root
                              : instance.how == Synchronisation::kPrefix ? member < local
                                                                         : member != local;
      if (!is_awaited || !(leave > std::max(enter, since))) continue;
      most = most.max(dropped(lost).min(leave - std::max(enter, since)));
    }
    return most;
  }

  /// The `recorded` ticks of a call less its overhead.
  [[gnu::always_inline]] Lanes<K> left_of(double recorded, const Lanes<K>& overhead) {
    const Lanes<K> left = recorded - overhead;
    if (recorded >= 0 && left.minCoeff() < 0) clipped_.add(-left.minCoeff());
    return left.max(std::min(recorded, 0.0));
  }

  const RecordedMinima* minima_;
  std::vector<CauseOf> causes_;  ///< of the current call; a member to spare the allocation
  OwnCost own_;                  ///< of the current call

 private:
  const Placement* placement_;
  const EagerLimits* limits_;
  Lanes<K> inverse_cpu_, outside_, before_, after_, function_, keep_flush_, keep_stolen_;
  std::array<Lanes<K>, kRecordedActions> per_action_;
  Eigen::Array<bool, K, 1> elastic_;
  std::unordered_map<int, Loop> loops_;  ///< by timeline inside a loop
  struct Sides {
    int sender = 0, receiver = 0;  ///< timelines
  };
  std::vector<Sides> sides_;  ///< by TransferId, while the message is in progress
  bool local_;
  bool follows_ = false;
  bool asks_for_survey_ = false;
  bool was_followed_ = true;
  ClippedOverhead clipped_;
  OwnPrice price_;
  uint64_t priced_calls_ = 0;
};

}  // namespace rubato
