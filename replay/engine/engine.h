#pragma once

// The engine: see the essay in replay.h. The main loop is Replay::run(), just below. It is compiled
// for every set of rules and every number of lanes: engine/recorded.cc, engine/models.cc,
// engine/wide.cc.

#include "replay/engine/replay.h"

#include <algorithm>
#include <limits>

#include "models/base/error.h"
#include "replay/engine/collectives.h"
#include "replay/engine/divided.h"
#include "replay/engine/messages.h"
#include "replay/engine/one_sided.h"
#include "replay/engine/stalls.h"
#include "replay/engine/threads.h"
#include "replay/engine/waits.h"
#include "replay/rules/recorded/recorded_minima.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
ReplayOutcome Replay<Rules>::run() {
  source_->rewind();
  if (progress_) {
    const std::vector<uint64_t> sizes = source_->sizes_of_ranks();
    if (!sizes.empty()) sizes_.assign(sizes.begin() + first_rank_, sizes.begin() + end_rank_);
  }
  for (Observer<K>* observer : observers_) observer->begin();
  if constexpr (kDividable<Rules>) {
    if (boundary_) return run_divided();
  }
  if constexpr (kTimeOrdered<Rules>) matcher_.keep_routes();
  for (auto timeline = local_timelines_.rbegin(); timeline != local_timelines_.rend(); ++timeline)
    start(*timeline);
  while (finished_ < trace_->timelines()) {
    if constexpr (kTimeOrdered<Rules>) {
      run_in_order();
    } else {
      while (!ready_.empty()) run_until_blocked(ready_.pop());
    }
    if (finished_ == trace_->timelines()) break;
    const auto served = serve_earliest();
    if (served == Presence<K>::Served::kLanesDisagree) {
      outcome_.lanes_disagree = true;
      return outcome_;
    }
    if (served == Presence<K>::Served::kSome || move_completions()) continue;
    if (matches_by_arrival()) {
      // Which receive would have matched which message is unknown, so missing records cannot be
      // distinguished from a deadlock.
      outcome_.deadlock = describe_deadlock();
      break;
    }
    if (release_hopeless()) continue;
    if (may_lack_partner(Awaited::Kind::kSend)) {
      outcome_.asks_for_receivers = true;
      break;
    }
    if (release_hole()) continue;
    if (may_lack_partner(Awaited::Kind::kReceive)) {
      outcome_.asks_for_receivers = true;
      break;
    }
    outcome_.deadlock = describe_deadlock();
    break;
  }
  sum_up();
  return outcome_;
}

template <class Rules>
void Replay<Rules>::sum_up() {
  matcher_.list_unmatched(outcome_.unmatched_sends, outcome_.unmatched_receives, outcome_.in_order);
  for (int number = 0; number < PairClass::kMost; ++number) {
    const auto level = static_cast<size_t>(PairClass::from_number(number).level());
    outcome_.level_messages[level] += pair_traffic_[number].messages;
    outcome_.level_bytes[level] += pair_traffic_[number].bytes;
  }
}

// --- Scheduling ---

template <class Rules>
void Replay<Rules>::start(int timeline) {
  TimelineState<K>& state = timelines_[timeline];
  state.number = timeline;
  state.rank = trace_->rank_of(timeline);
  ++running_[state.rank];
  const auto threads = threads_of_rank_.find(state.rank);
  if (threads != threads_of_rank_.end()) {
    state.threads = &threads->second;
    presence_.always_inside(timeline);
    if constexpr (kTimeOrdered<Rules>) rules_->order().always_inside(timeline);
  }
  state.clock = Lanes<K>::Constant(0);
  // No message has passed the ports yet, whenever the timeline starts.
  state.out_port = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  state.before_init = begins_later_ && timeline < trace_->ranks() && begins_later(state) >= 0;
  if (timeline < trace_->ranks()) {
    make_ready(timeline);
  } else {
    run_until_blocked(timeline);  // up to its begin, for which it waits
  }
}

template <class Rules>
void Replay<Rules>::make_ready(int timeline) {
  TimelineState<K>& state = timelines_[timeline];
  state.status = Status::kReady;
  ready_.push(timeline, state.recorded_clock);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::wake(int timeline) {
  if (timeline >= 0 && timelines_[timeline].status == Status::kBlocked) make_ready(timeline);
}

template <class Rules>
void Replay<Rules>::run_until_blocked(int timeline) {
  if (--turns_to_progress_ == 0) [[unlikely]]
    report_progress();
  TimelineState<K>& state = timelines_[timeline];
  for (int turn = 0; turn < kCallsInTurn; ++turn) {
    if (state.next_call == state.calls && !read_calls(state)) return finish(timeline);
    const Call& call = state.block.calls[state.next_call];
    if (only_starts(state, call)) {
      start_message(state, call);
    } else {
      if (!state.in_call) {
        if constexpr (kTimeOrdered<Rules>) {
          if (!is_due(timeline, call)) return;
        }
        enter(state, call);
      }
      if (!everything_is_there(state)) {
        state.status = Status::kBlocked;
        return;
      }
      leave(state, call);
    }
    ++state.next_call;
  }
  make_ready(timeline);
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::read_calls(TimelineState<K>& state) {
  state.next_call = 0;
  state.calls = 1;
  return (state.unpacker && state.unpacker->read_next(state.block)) || read_block(state);
}

template <class Rules>
RUBATO_RARE bool Replay<Rules>::read_block(TimelineState<K>& state) {
  state.calls = 0;
  state.unpacker = nullptr;  // the unpacker is invalid after the end of the timeline
  if (!source_->read(state.number, state.block)) return false;
  state.calls = static_cast<uint32_t>(state.block.calls.size());
  state.unpacker = source_->unpacker(state.number);
  if (state.block.shared == 0) state.block.note_kinds();
  state.forget_channels();
  return true;
}

template <class Rules>
void Replay<Rules>::finish(int timeline) {
  TimelineState<K>& state = timelines_[timeline];
  state.status = Status::kFinished;
  ++finished_;
  --running_[state.rank];
  if (has_unborn(state)) {  // a main thread without records
    Call nothing;
    nothing.role = CallRole::kBegin;
    nothing.leave = std::numeric_limits<double>::infinity();
    begin_threads(timeline, nothing);
  }
  if constexpr (kMayNeedPresence<Rules>) {
    presence_.end(timeline);
    take_arrivals();
  }
  if constexpr (kTimeOrdered<Rules>) answer_all(rules_->order().end(timeline));
  if (progress_ && sizes_.empty())
    progress_(static_cast<double>(finished_) / static_cast<double>(local_timelines_.size()));
}

// All timelines of a program in lockstep finish at once, so progress counts events, not timelines.
template <class Rules>
RUBATO_RARE void Replay<Rules>::report_progress() {
  turns_to_progress_ =
      std::max(kTurnsToProgress, 16 * static_cast<int64_t>(local_timelines_.size()));
  if (sizes_.empty()) return;
  uint64_t done = 0, all = 0;
  for (const int timeline : local_timelines_) {
    const int rank = trace_->rank_of(timeline);
    const uint64_t size = sizes_[rank - first_rank_];
    if (timeline == rank) all += size;
    if (running_[rank] == 0) {
      if (timeline == rank) done += size;
    } else if (const TimelineState<K>& state = timelines_[timeline];
               state.next_call < state.block.calls.size()) {
      done += state.block.calls[state.next_call].event;
    }
  }
  if (all > 0) progress_(std::min(1.0, static_cast<double>(done) / static_cast<double>(all)));
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::has_unborn(const TimelineState<K>& state) const {
  return state.threads && state.number == state.rank && !state.threads->unborn.empty();
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::begin_threads(int timeline, const Call& call) {
  const TimelineState<K>& main = timelines_[timeline];
  std::erase_if(main.threads->unborn, [&](int thread) {
    TimelineState<K>& born = timelines_[thread];
    const double begin = current_call(thread).enter;
    if (begin >= call.leave && call.role != CallRole::kEnd) return false;
    if (call.role == CallRole::kBegin) {
      // Before the main thread: it begins at its recorded time.
    } else if (begin >= call.enter) {
      born.enter = main.enter + (begin - call.enter);
    } else {
      born.enter = main.clock + compute(timeline, 0, begin - main.recorded_clock, false, 0);
    }
    born.awaited.clear();
    wake(thread);
    return true;
  });
}

// --- One call ---

template <class Rules>
RUBATO_HOT Lanes<Replay<Rules>::K> Replay<Rules>::compute(int timeline, uint64_t event,
                                                          double recorded, bool before_mpi_call,
                                                          uint32_t function_records) {
  Lanes<K> ticks = rules_->compute(recorded, before_mpi_call, function_records);
  if (compute_changes_) ticks = (*compute_changes_)(timeline, event, ticks);
  return ticks;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::enter(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  state.in_call = true;
  state.awaited.clear();
  state.next_awaited = 0;
  if (call.role == CallRole::kBegin) {
    const double later = begins_later_ ? std::max(begins_later(state), 0.0) : 0;
    state.enter = Lanes<K>::Constant(call.enter + later);
    if (timeline >= trace_->ranks() && call.actions > 0) {
      state.block.take_up(call);
      await_thread(state, state.block.actions_of(call)[0]);
    } else if (timeline >= trace_->ranks()) {
      state.threads->unborn.push_back(timeline);
      state.awaited.push_back({.kind = Awaited::Kind::kMainThread});
    } else if (has_unborn(state)) {
      begin_threads(timeline, call);
    }
    return;
  }
  if constexpr (!kTimeOrdered<Rules>) find_enter(state, call);
  if (call.role == CallRole::kInit) state.before_init = false;
  if constexpr (K == 1) {
    if (enter_watcher_) [[unlikely]]
      enter_watcher_->entered(timeline, call, state.clock, state.recorded_clock, state.enter);
  }
  begin_call(state, call);
  const std::span<const Action> actions = state.block.actions_of(call);
  bool chooses = false;
  if constexpr (kTimeOrdered<Rules>) chooses = begins_to_choose(state, call);
  if (chooses) {
    // Its receives are awaited once they are chosen.
  } else if (call.first_action & kOnlyWaits && !state.threads) {
    for (const Action& action : actions) await_own_request(state, call, action);
  } else {
    for (const Action& action : actions) perform(state, call, action);
  }
  if (state.has_moved) await_moved(state, call);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::begin_call(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  rules_->begin_call(state);
  if (is_asked_for(state, call)) [[unlikely]] {
    presence_.enter(timeline, state.enter);
    take_arrivals();
  }
  if constexpr (kTimeOrdered<Rules>) {
    if (makes_progress(call)) answer_all(rules_->order().enter(timeline));
  }
  if (has_unborn(state)) begin_threads(timeline, call);
  state.block.take_up(call);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::find_enter(TimelineState<K>& state, const Call& call) {
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  if (state.before_init) [[unlikely]] {
    state.enter = Lanes<K>::Constant(call.enter + begins_later(state));
    return;
  }
  bool spins = false;
  if constexpr (!Rules::kFollowsRecording) spins = rules_->spins(call, kSpinningBefore);
  if (spins) {
    state.enter = state.clock;
  } else {
    enter_after_compute(state, call, is_mpi);
    if constexpr (requires { rules_->enter_in_loop(state); }) {
      if (call.spinning & kSpinningBefore) [[unlikely]]
        state.enter = rules_->enter_in_loop(state);
    }
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::enter_after_compute(TimelineState<K>& state, const Call& call,
                                                   bool is_mpi) {
  state.enter = state.clock + compute(state.number, call.event, call.enter - state.recorded_clock,
                                      is_mpi, call.function_records);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::perform(TimelineState<K>& state, const Call& call,
                                       const Action& action) {
  const int timeline = state.number;
  switch (action.kind) {
    case ActionKind::kNone:
    case ActionKind::kFetch:   // belongs to the action before it
    case ActionKind::kParts:   // likewise
    case ActionKind::kTested:  // see outcomes.h
    case ActionKind::kLost:    // handled by the rules
      return;
    case ActionKind::kSend:
      return send(state, call, action);
    case ActionKind::kPost:
      return post(state, call, action);
    case ActionKind::kWaitSend:
      return await_request(state, call, Awaited::Kind::kSend, action.request.slot);
    case ActionKind::kWaitReceive:
      return await_request(state, call, Awaited::Kind::kReceive, action.request.slot);
    case ActionKind::kCollective:
      return collective(timeline, call, action);
    case ActionKind::kStartCollective:
      return start_collective(timeline, call, action);
    case ActionKind::kWaitCollective:
      return await_collective(timeline, action);
    case ActionKind::kOneSided:
      return begin_one_sided(timeline, action);
    case ActionKind::kEpoch:
      return enter_epoch(timeline, call, action);
    case ActionKind::kOneSidedDone:
      return finish_one_sided(timeline, action);
    case ActionKind::kLock:
      return lock(timeline, action);
    case ActionKind::kUnlock:
      return unlock(timeline, call, action);
    case ActionKind::kThreadStep:
      return thread_step(state, call, action);
    case ActionKind::kAwaitThread:
      return await_thread(state, action);
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::await(TimelineState<K>& state, Awaited::Kind kind, TransferId id) {
  state.awaited.push_message(kind, id);
  if constexpr (kMayNeedPresence<Rules>) {
    if (!matcher_[id].handshake_pending) return;
    if (kind == Awaited::Kind::kReceive) presence_.await_receive(id);
    if (kind == Awaited::Kind::kSend) presence_.await_send(id);
    take_arrivals();
  }
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::everything_is_there(TimelineState<K>& state) {
  if constexpr (kTimeOrdered<Rules>) {
    if (!choosers_.empty() && !has_chosen(state)) return false;
  }
  const auto entries = state.awaited.entries();
  for (; state.next_awaited < entries.size(); ++state.next_awaited) {
    const AwaitedList::Entry& entry = entries[state.next_awaited];
    const bool is_there = entry.is_plain ? message_is_there(state.number, entry.kind, entry.number)
                                         : other_is_there(state, state.awaited.other(entry));
    if (!is_there) return false;
  }
  return true;
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::message_is_there(int timeline, Awaited::Kind kind, TransferId id) {
  Transfer<K>& transfer = matcher_[id];
  if (transfer.abandoned) return true;
  if (kind == Awaited::Kind::kReceive) {
    if (transfer.has_send && !is_held_up(id, transfer)) return true;
    transfer.waiting_receiver = timeline;
  } else {
    if (!transfer.sender_waits || (transfer.has_post && !is_held_up(id, transfer))) return true;
    transfer.waiting_sender = timeline;
  }
  return false;
}

template <class Rules>
RUBATO_RARE bool Replay<Rules>::other_is_there(TimelineState<K>& state, Awaited& awaited) {
  const int timeline = state.number;
  if (awaited.kind == Awaited::Kind::kMainThread) return false;
  if (awaited.kind == Awaited::Kind::kThread) return thread_step_is_there(state, awaited);
  if (!awaited.posted && !find_request(timeline, awaited)) return false;
  if (awaited.kind >= Awaited::Kind::kCollective) return others_are_there(timeline, awaited);
  return awaited.transfer == kNoTransfer ||
         message_is_there(timeline, awaited.kind, awaited.transfer);
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::others_are_there(int timeline, const Awaited& awaited) {
  switch (awaited.kind) {
    case Awaited::Kind::kEpoch:
      return other_side_is_there(timeline, awaited);
    case Awaited::Kind::kLock: {
      if (awaited.instance == 0) return true;
      LockTurn<K>& turn = turn_before(awaited);
      if (turn.holders.empty()) return true;
      turn.waiting.push_back(timeline);
      return false;
    }
    case Awaited::Kind::kCollective: {
      const uint32_t number = awaited.action->comm;
      const Communicator& comm = trace_->comms[number];
      if (comm.size() <= 1) return true;
      CollectiveInstance<K>& instance = collectives_.get(number, awaited.instance);
      if (collectives_.ready(instance, comm, awaited.local, awaited.waits_for)) {
        if (!instance.abandoned && !messages_are_there(timeline, instance, awaited.local)) {
          instance.waiting.push_back(timeline);  // to be woken if the instance is abandoned
          return false;
        }
        if constexpr (kTimeOrdered<Rules>) return has_landed(timeline, instance, awaited.local);
        return true;
      }
      instance.waiting.push_back(timeline);
      return false;
    }
    case Awaited::Kind::kOneSided:
      if (!target_is_ready(timeline, awaited)) return false;
      if constexpr (kTimeOrdered<Rules>) return is_done(timeline, awaited);
      return true;
    default:
      return true;
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::leave(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  if constexpr (requires { rules_->note_losses(state, call); }) rules_->note_losses(state, call);
  const Lanes<K>& leave = call.role == CallRole::kBegin || call.role == CallRole::kEnd
                              ? std::as_const(state.enter)
                          : call.role == CallRole::kThread ? leave_thread(state, call)
                                                           : rules_->leave(state, call, context_);
  if (waits_) note_wait(state, call, leave);
  if (state.moved_here > 0) [[unlikely]]
    end_moved(state);
  for (const AwaitedList::Entry& entry : state.awaited.entries()) {
    if (entry.is_plain) {
      complete_message(state, call, entry.kind, entry.number);
    } else {
      complete_other(state, call, state.awaited.other(entry));
    }
  }
  const bool begins = call.role == CallRole::kBegin;
  const double recorded_before = begins ? call.enter : state.recorded_clock;
  if (begins) state.clock = state.enter;
  report_call<false>(state, call, state.block.traffic_of(call), recorded_before, leave);
  state.in_call = false;
  if (is_asked_for(state, call)) [[unlikely]] {
    leave_presence(state, leave);
  }
  if constexpr (kTimeOrdered<Rules>) {
    if (makes_progress(call)) rules_->order().leave(timeline, leave[0]);
  }
}

template <class Rules>
template <bool kOnlyStarts>
RUBATO_HOT void Replay<Rules>::report_call(TimelineState<K>& state, const Call& call,
                                           Traffic traffic, double recorded_before,
                                           const Lanes<K>& leave) {
  const int timeline = state.number;
  const bool counted =
      profile_ && profile_->template call<kOnlyStarts>(timeline, call, traffic, state.enter, leave);
  Lost lost;
  if constexpr (!kOnlyStarts) {
    if (call.spinning & kLoses) lost = lost_in(state.block.actions_of(call));
    if (call.spinning & kLoses && profile_)
      profile_->lose(timeline, call, lost, state.enter, leave);
  }
  if (coverage_ && (!counted || (!kOnlyStarts && (call.is_kept() || call.spinning & kLoses))))
    coverage_->call(timeline, call, counted, lost.flushing + lost.stolen);
  for (Observer<K>* observer : observers_) {
    observer->call(timeline, call, state.block, state.clock, recorded_before, state.enter, leave);
  }
  state.clock = leave;
  state.recorded_clock = call.leave;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::complete_message(const TimelineState<K>& state, const Call& call,
                                                Awaited::Kind kind, TransferId id) {
  Transfer<K>& transfer = matcher_[id];
  double cause = 0;
  if (recorded_cause(kind, transfer, cause) && call.leave < cause)
    count_violation(state.number, call, kind);
  if (kind == Awaited::Kind::kReceive) {
    if (transfer.misfits) [[unlikely]]
      count_misfit(state.number, call, matcher_.take_misfit(id));
    matcher_.receiver_done(id, transfer);
  } else {
    matcher_.sender_done(id, transfer);
  }
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::complete_other(const TimelineState<K>& state, const Call& call,
                                               const Awaited& awaited) {
  if (awaited.kind < Awaited::Kind::kCollective) {
    if (awaited.transfer != kNoTransfer)
      complete_message(state, call, awaited.kind, awaited.transfer);
    return;
  }
  if (awaited.kind == Awaited::Kind::kThread) {
    state.threads->steps.erase(awaited.slot);
    return;
  }
  if (awaited.kind == Awaited::Kind::kCollective)
    return complete_collective(state.number, call, awaited);
  if (awaited.kind == Awaited::Kind::kEpoch && !windows_.is_origin(*awaited.action)) {
    // (An origin may leave before its target.)
    const Epoch<K>& epoch = windows_.epoch(*awaited.action, state.rank, awaited.instance);
    if (!epoch.abandoned && call.leave < epoch.recorded_complete)
      count_violation(state.number, call, awaited.kind);
  }
  complete_one_sided(state.number, awaited);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::complete_collective(int timeline, const Call& call,
                                                    const Awaited& awaited) {
  const uint32_t number = awaited.action->comm;
  const Communicator& comm = trace_->comms[number];
  if (comm.size() <= 1) return;
  CollectiveInstance<K>& instance = collectives_.get(number, awaited.instance);
  double cause = 0;
  Lanes<K> unused;
  if (instance.abandoned) {
    ++outcome_.abandoned_collectives;
  } else if (collective_cause(instance, *awaited.action, awaited.local, comm, call.leave, cause,
                              unused) &&
             call.leave < cause) {
    count_violation(timeline, call, awaited.kind);
  }
  depart(number, awaited.instance, instance);
  if (awaited.transfer != kNoTransfer) free_started_.push_back(awaited.transfer);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::count_violation(int timeline, const Call& call,
                                                Awaited::Kind kind) {
  ClockViolations& violations = outcome_.clock_violations;
  if (violations.total() == 0) violations.first = place(timeline, call);
  ++(kind == Awaited::Kind::kCollective ? violations.collectives : violations.messages);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::count_misfit(int timeline, const Call& call, const Misfit& misfit) {
  if (outcome_.misfits.count++ > 0) return;
  const Route& route = misfit.route;
  outcome_.misfits.first = place(timeline, call) + ": " + std::to_string(misfit.received) +
                           " bytes received, " + std::to_string(misfit.sent) + " sent by rank " +
                           std::to_string(route.source) + " with tag " + std::to_string(route.tag) +
                           " on communicator '" + trace_->comms[route.comm].name + "'";
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::recorded_cause(Awaited::Kind kind, const TransferFacts& transfer,
                                              double& cause) {
  if (transfer.abandoned || !transfer.has_send || !transfer.has_post) return false;
  // A non-synchronous send may have been eager: it can end before its receive is posted.
  if (kind == Awaited::Kind::kSend && !transfer.synchronous) return false;
  cause = kind == Awaited::Kind::kSend ? transfer.recorded_post : transfer.recorded_send;
  return true;
}

}  // namespace rubato
