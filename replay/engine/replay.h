#pragma once

// Replays the calls of all ranks. Start reading at Replay::run() in engine.h.
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

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "replay/engine/replay_state.h"

namespace rubato {

template <class Rules>
class Replay {
 public:
  static constexpr int K = Rules::kLanes;

  Replay(EventSource& source, Rules& rules, std::vector<Observer<K>*> observers,
         std::function<void(double)> progress = {}, const LockOrder* locks = nullptr,
         const ReceivedSends* received = nullptr, const std::set<Route>* in_order = nullptr,
         TeamShare share = {})
      : shared_(source, rules, std::move(observers), locks, received, in_order, share),
        progress_(std::move(progress)) {
    for (Observer<K>* observer : shared_.observers) {
      if (observer->watches_enters()) enter_watcher_ = observer;
    }
  }

  /// Recipients of every call beside the observers; null: none. They are called in nearly every
  /// pass, so they are not observers.
  void keep(Profile<K>* profile, Coverage* coverage) {
    shared_.profile = profile;
    shared_.coverage = coverage;
  }

  /// As start_shifts(): by how many ticks the timelines of each rank begin later. Null: as
  /// recorded.
  void begin_later(const std::vector<double>* ticks) { shared_.start_shifts = ticks; }

  /// Which calls may take the receives that complete first. Null: none.
  void take_first(const TakenRuns* runs) requires kTimeOrdered<Rules> {
    shared_.runs = runs;
    shared_.choosers.resize(shared_.timelines.size());
  }

  /// Where the waiting times of calls are summed up; null: nowhere.
  void watch_waits(WaitStates<K>* waits) { shared_.waits = waits; }

  /// Changes of compute beyond the rules; null: none.
  void change_compute(const ComputeChanges<K>* changes) { shared_.compute_changes = changes; }

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
  /// All timelines are blocked, or none is left: false when the run is over.
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
  /// Computes when `timeline` enters its next call.
  void find_enter(TimelineState<K>& state, const Call& call);
  /// The same where the timeline computes until then; `is_mpi`: it is an MPI call.
  void enter_after_compute(TimelineState<K>& state, const Call& call, bool is_mpi);
  /// True when all that the call waits for has happened; else `timeline` will be woken when the
  /// first missing event happens.
  bool everything_is_there(TimelineState<K>& state);
  void leave(TimelineState<K>& state, const Call& call);
  /// Reports a call with its leave to the profile, the coverage and the observers.
  template <bool kOnlyStarts>
  void report_call(TimelineState<K>& state, const Call& call, Traffic traffic,
                   double recorded_before, const Lanes<K>& leave);

  ReplayState<Rules> shared_;
  Observer<K>* enter_watcher_ = nullptr;  ///< the one with watches_enters()
  std::function<void(double)> progress_;
  std::vector<uint64_t> sizes_;  ///< records by rank from first_rank on, if progress_ needs them
  int64_t turns_to_progress_ = kTurnsToProgress;  ///< turns until the next report
};

}  // namespace rubato
