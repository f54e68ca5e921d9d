#pragma once

// The engine. The main loop is Replay::run().
//
// The unit of execution is a timeline: a rank, or, where several threads of a rank call MPI, each
// of those threads. A blocked timeline does not block the others of its rank.
//
// Without contention the times of a call depend only on the calls that it waits for, so timelines
// need not be run in the order of time: each runs until it waits for an event that has not been
// replayed yet, and the timeline that replays this event wakes it. Any order gives the same clocks;
// the order of run_queue.h keeps few messages in flight.
//
// Replay only schedules timelines and takes each call from its enter to its leave. What a call can
// wait for are kinds of dependencies (dependency.h), each in a file of its own. They decide in the
// same way under all rules; rules (recorded_minima.h, measured_rules.h, model_rules.h) compute
// durations.
//
// It is compiled for every set of rules and every number of lanes, in engine/compiled.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "replay/engine/dependencies.h"
#include "replay/engine/exchange.h"
#include "replay/engine/first_taken.h"
#include "replay/engine/handshakes.h"
#include "replay/engine/replay.h"
#include "replay/engine/replay_state.h"
#include "replay/engine/stalls.h"
#include "replay/engine/time_ordered.h"
#include "replay/engine/waits.h"
#include "replay/matching/own_work.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
class Replay {
 public:
  static constexpr int K = Rules::kLanes;

  Replay(EventSource& source, Rules& rules, const ReplaySetup<K>& setup)
      : shared_(source, rules, setup), is_alone_(shared_.trace->timelines() == 1) {
    for (Observer<K>* observer : shared_.observers) {
      if (observer->watches_enters()) enter_watcher_ = observer;
    }
  }

  /// The main loop.
  ReplayOutcome run();

 private:
  using Status = typename TimelineState<K>::Status;
  static constexpr int kCallsInTurn = 32;
  static constexpr int64_t kTurnsToProgress = 1 << 18;  ///< about a tenth of a second

  // --- Scheduling ---

  /// The main loop of a process among several.
  ReplayOutcome run_divided() requires kDividable<Rules>;
  /// Runs timelines as long as events in the order of time allow.
  void run_in_order() requires kTimeOrdered<Rules>;
  void start(int timeline);
  /// Runs `timeline` until it blocks, or for at most kCallsInTurn calls, so that it does not get
  /// far ahead of others.
  void run_until_blocked(int timeline);
  /// True when `timeline` may enter its next call now; else its enter is queued.
  bool is_due(int timeline, const Call& call) requires kTimeOrdered<Rules>;
  /// The next calls of a timeline; false when there are none.
  bool read_calls(TimelineState<K>& state);
  /// Reads the next block of the source.
  bool read_block(TimelineState<K>& state);
  void finish(int timeline);
  /// All timelines are blocked, or none is left: applies the first remedy that unblocks one
  /// (share/doc/design.md); false when the run is over.
  bool goes_on();
  /// Reports the progress of all local timelines.
  void report_progress();
  /// Copies the counters to the outcome, at the end.
  void sum_up();

  // --- One call ---

  /// True when all that `call` does is to start a message, as most calls do, and the rules need no
  /// more of it.
  bool only_starts(const TimelineState<K>& state, const Call& call) const;
  /// Runs such a call from enter to leave. It waits for nothing, so the code for waiting calls is
  /// skipped.
  void start_message(TimelineState<K>& state, const Call& call);
  /// The same for a send and for a post.
  template <ActionKind kKind>
  void start_message(TimelineState<K>& state, const Call& call, const Action& action);
  void enter(TimelineState<K>& state, const Call& call);
  /// Enters the first call of a timeline.
  void enter_begin(TimelineState<K>& state, const Call& call);
  /// Begins `call`, whose enter is known.
  void begin_call(TimelineState<K>& state, const Call& call);
  /// Computes when the timeline enters `call`.
  void find_enter(TimelineState<K>& state, const Call& call);
  /// The same where the timeline computes until then; `is_mpi`: it is an MPI call.
  void enter_after_compute(TimelineState<K>& state, const Call& call, bool is_mpi);
  /// True when all that the call waits for has happened; else the timeline will be woken when the
  /// first missing event happens.
  bool everything_is_there(TimelineState<K>& state);
  void leave(TimelineState<K>& state, const Call& call);
  /// Reports a call with its leave to the profile, the coverage and the observers.
  template <bool kOnlyStarts>
  void report_call(TimelineState<K>& state, const Call& call, Traffic traffic,
                   double recorded_before, const Lanes<K>& leave);

  ReplayState<Rules> shared_;
  bool is_alone_ = false;  ///< the only timeline: its MPI time is own work (own_work.h)
  Observer<K>* enter_watcher_ = nullptr;  ///< the one with watches_enters()
  std::vector<uint64_t> sizes_;  ///< records by rank from first_rank on, if `progress` needs them
  int64_t turns_to_progress_ = kTurnsToProgress;  ///< turns until the next report
};

template <class Rules>
ReplayOutcome Replay<Rules>::run() {
  shared_.source->rewind();
  if (shared_.progress) {
    const std::vector<uint64_t> sizes = shared_.source->sizes_of_ranks();
    if (!sizes.empty())
      sizes_.assign(sizes.begin() + shared_.first_rank, sizes.begin() + shared_.end_rank);
  }
  for (Observer<K>* observer : shared_.observers) observer->begin();
  if constexpr (kDividable<Rules>) {
    if (shared_.boundary) return run_divided();
  }
  if constexpr (kTimeOrdered<Rules>) shared_.matcher.keep_routes();
  const std::vector<int>& timelines = shared_.local_timelines;
  for (auto timeline = timelines.rbegin(); timeline != timelines.rend(); ++timeline)
    start(*timeline);
  do {
    if constexpr (kTimeOrdered<Rules>) {
      run_in_order();
    } else {
      while (!shared_.ready.empty()) run_until_blocked(shared_.ready.pop());
    }
  } while (goes_on());
  if (!shared_.outcome.lanes_disagree) sum_up();
  return shared_.outcome;
}

template <class Rules>
bool Replay<Rules>::goes_on() {
  ReplayOutcome& outcome = shared_.outcome;
  if (shared_.finished == shared_.trace->timelines()) return false;
  const auto served = Handshakes<Rules>::serve_earliest(shared_);
  outcome.lanes_disagree = served == Presence<K>::Served::kLanesDisagree;
  if (outcome.lanes_disagree) return false;
  if (served == Presence<K>::Served::kSome || Requests<Rules>::move_completions(shared_))
    return true;
  // By arrival, which receive would have matched which message is unknown, so missing records
  // cannot be distinguished from a deadlock.
  if (!shared_.matches_by_arrival()) {
    if (Stalls<Rules>::release_hopeless(shared_)) return true;
    outcome.asks_for_receivers = Stalls<Rules>::may_lack_partner(shared_, Awaited::Kind::kSend);
    if (outcome.asks_for_receivers) return false;
    if (Stalls<Rules>::release_hole(shared_)) return true;
    outcome.asks_for_receivers = Stalls<Rules>::may_lack_partner(shared_, Awaited::Kind::kReceive);
    if (outcome.asks_for_receivers) return false;
  }
  outcome.deadlock = Stalls<Rules>::describe_deadlock(shared_);
  return false;
}

template <class Rules>
void Replay<Rules>::sum_up() {
  shared_.matcher.list_unmatched(shared_.outcome.unmatched_sends,
                                 shared_.outcome.unmatched_receives, shared_.outcome.in_order);
  for (int number = 0; number < PairClass::kMost; ++number) {
    const auto level = static_cast<size_t>(PairClass::from_number(number).level());
    shared_.outcome.level_messages[level] += shared_.pair_traffic[number].messages;
    shared_.outcome.level_bytes[level] += shared_.pair_traffic[number].bytes;
  }
}

// --- Scheduling ---

/// Turns of timelines between two polls of the transport.
inline constexpr int kTurnsBetweenLooks = 16;

template <class Rules>
ReplayOutcome Replay<Rules>::run_divided() requires kDividable<Rules> {
  const Team::Take take = [&](int, ByteReader& from) {
    Exchange<Rules>::take_batch(shared_, from);
  };
  Team& team = shared_.boundary->team();
  auto verdict = Team::Verdict::kGoOn;
  try {
    for (auto timeline = shared_.local_timelines.rbegin();
         timeline != shared_.local_timelines.rend(); ++timeline)
      start(*timeline);
    for (int turns = 1; verdict == Team::Verdict::kGoOn; ++turns) {
      if (shared_.ready.empty()) {
        verdict =
            team.rest(shared_.finished == static_cast<int>(shared_.local_timelines.size()), take);
        if (verdict == Team::Verdict::kStalled) {
          const auto served = Exchange<Rules>::serve_earliest(shared_);
          shared_.outcome.lanes_disagree = served == Presence<K>::Served::kLanesDisagree;
          if (served == Presence<K>::Served::kSome) verdict = Team::Verdict::kGoOn;
        }
      } else {
        run_until_blocked(shared_.ready.pop());
        if (turns % kTurnsBetweenLooks == 0) verdict = team.look(take);
      }
    }
    if (verdict == Team::Verdict::kStopped) team.fail();
  } catch (const std::exception&) {
    // A replay by one process will meet the same error and report it.
    team.fail();
    verdict = Team::Verdict::kStopped;
  }
  if (verdict == Team::Verdict::kStalled && !shared_.outcome.lanes_disagree)
    shared_.outcome.needs_one_process = OneProcess::kHoles;
  if (verdict == Team::Verdict::kStopped && !shared_.outcome.needs_one_process)
    shared_.outcome.needs_one_process = OneProcess::kFailed;
  sum_up();
  return shared_.outcome;
}

template <class Rules>
void Replay<Rules>::run_in_order() requires kTimeOrdered<Rules> {
  for (;;) {
    while (!shared_.ready.empty()) run_until_blocked(shared_.ready.pop());
    const auto event = shared_.rules->order().next();
    if (!event) return;
    if (event->kind == TimedEvent::Kind::kCall) {
      shared_.rules->order().due = event->rank;
      run_until_blocked(event->rank);
    } else {
      OrderedMessages<Rules>::happen(shared_, *event);
    }
  }
}

template <class Rules>
void Replay<Rules>::start(int timeline) {
  TimelineState<K>& state = shared_.timelines[timeline];
  state.number = timeline;
  state.rank = shared_.trace->rank_of(timeline);
  ++shared_.running[state.rank];
  const auto threads = shared_.threads_of_rank.find(state.rank);
  if (threads != shared_.threads_of_rank.end()) {
    state.threads = &threads->second;
    shared_.presence.always_inside(timeline);
    if constexpr (kTimeOrdered<Rules>) shared_.rules->order().always_inside(timeline);
  }
  state.clock = Lanes<K>::Constant(0);
  state.inverse_cpu = shared_.compute(timeline, 0, 1, false, 0);
  // No message has passed the ports yet, whenever the timeline starts.
  state.out_port = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  state.before_init =
      shared_.start_shifts && timeline < shared_.trace->ranks() && shared_.begins_later(state) >= 0;
  if (timeline < shared_.trace->ranks()) {
    shared_.make_ready(timeline);
  } else {
    run_until_blocked(timeline);  // up to its begin, for which it waits
  }
}

template <class Rules>
void Replay<Rules>::run_until_blocked(int timeline) {
  if (--turns_to_progress_ == 0) [[unlikely]]
    report_progress();
  TimelineState<K>& state = shared_.timelines[timeline];
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
  shared_.make_ready(timeline);
}

template <class Rules>
bool Replay<Rules>::is_due(int timeline, const Call& call) requires kTimeOrdered<Rules> {
  TimeOrder& time = shared_.rules->order();
  if (call.role == CallRole::kBegin) return true;
  if (time.due == timeline) {
    time.due = -1;
    return true;
  }
  TimelineState<K>& state = shared_.timelines[timeline];
  if (ThreadBegins<Rules>::has_unborn(state)) {  // threads that begin earlier go first
    Call nothing = call;
    nothing.role = CallRole::kMpi;
    nothing.leave = call.enter;
    ThreadBegins<Rules>::begin(shared_, timeline, nothing);
  }
  find_enter(shared_.timelines[timeline], call);
  if (shared_.ready.empty() && time.skip_to(state.enter[0])) return true;
  time.push(state.enter[0], TimedEvent::Kind::kCall, timeline, static_cast<uint32_t>(timeline));
  return false;
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
  if (!shared_.source->read(state.number, state.block)) return false;
  state.calls = static_cast<uint32_t>(state.block.calls.size());
  state.unpacker = shared_.source->unpacker(state.number);
  if (state.block.shared == 0) state.block.note_kinds();
  state.forget_channels();
  return true;
}

template <class Rules>
void Replay<Rules>::finish(int timeline) {
  TimelineState<K>& state = shared_.timelines[timeline];
  state.status = Status::kFinished;
  ++shared_.finished;
  --shared_.running[state.rank];
  if (ThreadBegins<Rules>::has_unborn(state)) {  // a main thread without records
    Call nothing;
    nothing.role = CallRole::kBegin;
    nothing.leave = std::numeric_limits<double>::infinity();
    ThreadBegins<Rules>::begin(shared_, timeline, nothing);
  }
  if constexpr (kMayNeedPresence<Rules>) {
    shared_.presence.end(timeline);
    Handshakes<Rules>::take_arrivals(shared_);
  }
  if constexpr (kTimeOrdered<Rules>)
    OrderedMessages<Rules>::answer_all(shared_, shared_.rules->order().end(timeline));
  if (shared_.progress && sizes_.empty())
    shared_.progress(static_cast<double>(shared_.finished) /
                     static_cast<double>(shared_.local_timelines.size()));
}

// All timelines of a program in lockstep finish at once, so progress counts events, not timelines.
template <class Rules>
RUBATO_RARE void Replay<Rules>::report_progress() {
  turns_to_progress_ =
      std::max(kTurnsToProgress, 16 * static_cast<int64_t>(shared_.local_timelines.size()));
  if (sizes_.empty()) return;
  uint64_t done = 0, all = 0;
  for (const int timeline : shared_.local_timelines) {
    const int rank = shared_.trace->rank_of(timeline);
    const uint64_t size = sizes_[rank - shared_.first_rank];
    if (timeline == rank) all += size;
    if (shared_.running[rank] == 0) {
      if (timeline == rank) done += size;
    } else if (const TimelineState<K>& state = shared_.timelines[timeline];
               state.next_call < state.block.calls.size()) {
      done += state.block.calls[state.next_call].event;
    }
  }
  if (all > 0)
    shared_.progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(all)));
}

// --- One call ---

template <class Rules>
RUBATO_HOT bool Replay<Rules>::only_starts(const TimelineState<K>& state, const Call& call) const {
  return kLeavesAtOnce<Rules> && call.first_action & kStartsMessage && !state.threads && !is_alone_;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::start_message(TimelineState<K>& state, const Call& call) {
  const Action& action = state.block.actions[call.action_index()];
  if (action.kind == ActionKind::kSend) {
    start_message<ActionKind::kSend>(state, call, action);
  } else {
    start_message<ActionKind::kPost>(state, call, action);
  }
}

template <class Rules>
template <ActionKind kKind>
RUBATO_HOT void Replay<Rules>::start_message(TimelineState<K>& state, const Call& call,
                                             const Action& action) {
  if constexpr (kLeavesAtOnce<Rules>) {
    enter_after_compute(state, call, true);
    shared_.rules->begin_call(state);
    if (Handshakes<Rules>::is_asked_for(shared_, state, call)) [[unlikely]]
      Handshakes<Rules>::enter(shared_, state);
    state.block.take_up(call);
    if constexpr (kKind == ActionKind::kSend) {
      Messages<Rules>::send(shared_, state, call, action);
    } else {
      Messages<Rules>::post(shared_, state, call, action);
    }
    const Traffic traffic = traffic_of(action, kTrafficMasks[static_cast<size_t>(kKind) * 2]);
    report_call<true>(state, call, traffic, state.recorded_clock,
                      shared_.rules->leave_at_once(state));
    if (Handshakes<Rules>::is_asked_for(shared_, state, call)) [[unlikely]] {
      Handshakes<Rules>::leave(shared_, state, state.clock);
    }
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::enter(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  state.in_call = true;
  state.awaited.clear();
  state.next_awaited = 0;
  if (call.role == CallRole::kBegin) return enter_begin(state, call);
  if constexpr (!kTimeOrdered<Rules>) find_enter(state, call);
  if (call.role == CallRole::kInit) state.before_init = false;
  if (enter_watcher_) [[unlikely]]
    enter_watcher_->entered(timeline, call, state.clock, state.recorded_clock, state.enter);
  begin_call(state, call);
  const std::span<const Action> actions = state.block.actions_of(call);
  bool chooses = false;
  if constexpr (kTimeOrdered<Rules>)
    chooses = FirstTaken<Rules>::begins_to_choose(shared_, state, call);
  if (chooses) {
    // Its receives are awaited once they are chosen.
  } else if (call.first_action & kOnlyWaits && !state.threads) {
    for (const Action& action : actions) Requests<Rules>::await_own(shared_, state, call, action);
  } else {
    for (const Action& action : actions) perform(shared_, state, call, action);
  }
  if (state.has_moved) Requests<Rules>::await_moved(shared_, state, call);
}

template <class Rules>
RUBATO_RARE void Replay<Rules>::enter_begin(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  const double later = shared_.start_shifts ? std::max(shared_.begins_later(state), 0.0) : 0;
  state.enter = Lanes<K>::Constant(call.enter + later);
  if (timeline >= shared_.trace->ranks() && call.actions > 0) {
    state.block.take_up(call);
    ThreadSteps<Rules>::await(state, state.block.actions_of(call)[0]);
  } else if (timeline >= shared_.trace->ranks()) {
    ThreadBegins<Rules>::await(state);
  } else if (ThreadBegins<Rules>::has_unborn(state)) {
    ThreadBegins<Rules>::begin(shared_, timeline, call);
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::begin_call(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  shared_.rules->begin_call(state);
  if (Handshakes<Rules>::is_asked_for(shared_, state, call)) [[unlikely]]
    Handshakes<Rules>::enter(shared_, state);
  if constexpr (kTimeOrdered<Rules>) {
    if (Handshakes<Rules>::makes_progress(shared_, call))
      OrderedMessages<Rules>::answer_all(shared_, shared_.rules->order().enter(timeline));
  }
  if (ThreadBegins<Rules>::has_unborn(state)) ThreadBegins<Rules>::begin(shared_, timeline, call);
  state.block.take_up(call);
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::find_enter(TimelineState<K>& state, const Call& call) {
  const bool is_mpi = call.role == CallRole::kMpi || call.role == CallRole::kInit ||
                      call.role == CallRole::kFinalize;
  if (state.before_init) [[unlikely]] {
    state.enter = Lanes<K>::Constant(call.enter + shared_.begins_later(state));
    return;
  }
  bool spins = false;
  if constexpr (!Rules::kFollowsRecording) spins = shared_.rules->spins(call, kSpinningBefore);
  if (spins) {
    state.enter = state.clock;
  } else {
    enter_after_compute(state, call, is_mpi);
    if constexpr (requires { shared_.rules->enter_in_loop(state); }) {
      if (call.spinning & kSpinningBefore) [[unlikely]]
        state.enter = shared_.rules->enter_in_loop(state);
    }
  }
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::enter_after_compute(TimelineState<K>& state, const Call& call,
                                                   bool is_mpi) {
  state.enter =
      state.clock + shared_.compute(state.number, call.event, call.enter - state.recorded_clock,
                                    is_mpi, call.function_records);
}

template <class Rules>
RUBATO_HOT bool Replay<Rules>::everything_is_there(TimelineState<K>& state) {
  if constexpr (kTimeOrdered<Rules>) {
    if (!shared_.choosers.empty() && !FirstTaken<Rules>::has_chosen(shared_, state)) return false;
  }
  const auto entries = state.awaited.entries();
  for (; state.next_awaited < entries.size(); ++state.next_awaited) {
    const AwaitedList::Entry& entry = entries[state.next_awaited];
    const bool is_there =
        entry.is_plain ? Messages<Rules>::is_ready(shared_, state.number, entry.kind, entry.number)
                       : other_is_ready(shared_, state, state.awaited.other(entry));
    if (!is_there) return false;
  }
  return true;
}

template <class Rules>
RUBATO_HOT void Replay<Rules>::leave(TimelineState<K>& state, const Call& call) {
  const int timeline = state.number;
  if constexpr (requires { shared_.rules->note_losses(state, call); })
    shared_.rules->note_losses(state, call);
  const Lanes<K>& leave =
      call.role == CallRole::kBegin || call.role == CallRole::kEnd ? std::as_const(state.enter)
      : call.role == CallRole::kThread ? ThreadSteps<Rules>::leave(shared_, state, call)
                                       : shared_.rules->leave(state, call, shared_.context);
  if (shared_.waits) Waits<Rules>::note(shared_, state, call, leave);
  if (may_have_own_work(state, call, *shared_.trace)) [[unlikely]] {
    if (shared_.profile)
      shared_.profile->work(timeline, call, own_work(state, call, shared_.context),
                            state.inverse_cpu, state.enter, leave);
  }
  if (state.moved_here > 0) [[unlikely]]
    Requests<Rules>::end_moved(shared_, state);
  for (const AwaitedList::Entry& entry : state.awaited.entries()) {
    if (entry.is_plain) {
      Messages<Rules>::complete(shared_, state, call, entry.kind, entry.number);
    } else {
      complete_other(shared_, state, call, state.awaited.other(entry));
    }
  }
  const bool begins = call.role == CallRole::kBegin;
  const double recorded_before = begins ? call.enter : state.recorded_clock;
  if (begins) state.clock = state.enter;
  report_call<false>(state, call, state.block.traffic_of(call), recorded_before, leave);
  state.in_call = false;
  if (Handshakes<Rules>::is_asked_for(shared_, state, call)) [[unlikely]] {
    Handshakes<Rules>::leave(shared_, state, leave);
  }
  if constexpr (kTimeOrdered<Rules>) {
    if (Handshakes<Rules>::makes_progress(shared_, call))
      shared_.rules->order().leave(timeline, leave[0]);
  }
}

template <class Rules>
template <bool kOnlyStarts>
RUBATO_HOT void Replay<Rules>::report_call(TimelineState<K>& state, const Call& call,
                                           Traffic traffic, double recorded_before,
                                           const Lanes<K>& leave) {
  const int timeline = state.number;
  const bool counted = shared_.profile && shared_.profile->template call<kOnlyStarts>(
                                              timeline, call, traffic, state.enter, leave);
  Lost lost;
  if constexpr (!kOnlyStarts) {
    if (call.spinning & kLoses) lost = lost_in(state.block.actions_of(call));
    if (call.spinning & kLoses && shared_.profile)
      shared_.profile->lose(timeline, call, lost, state.enter, leave);
  }
  if (shared_.coverage &&
      (!counted || (!kOnlyStarts && (call.is_kept() || call.spinning & kLoses))))
    shared_.coverage->call(timeline, call, counted, lost.flushing + lost.stolen);
  for (Observer<K>* observer : shared_.observers) {
    observer->call(timeline, call, state.block, state.clock, recorded_before, state.enter, leave);
  }
  state.clock = leave;
  state.recorded_clock = call.leave;
}

template <class Rules>
ReplayOutcome replay_calls(EventSource& source, Rules& rules,
                           const ReplaySetup<Rules::kLanes>& setup) {
  return Replay<Rules>(source, rules, setup).run();
}

}  // namespace rubato
