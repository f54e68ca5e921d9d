#pragma once

// The passes that one run makes over its archive: each replays all timelines by some rules
// (engine/). The first pass also collects the facts about the archive that do not depend on the
// scenario: its calls and messages, and what is missing. Kept between passes: the order of lock
// holders, the matched sends and receives, the progress of the run, and, if it is divided among
// processes, its team.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/engine/rule_traits.h"
#include "replay/engine/wide.h"
#include "replay/matching/lock_order.h"
#include "replay/matching/taken_runs.h"
#include "replay/observe/coverage.h"
#include "replay/observe/profile.h"
#include "replay/observe/wait_states.h"
#include "replay/parallel/divided_run.h"
#include "replay/rules/compute_changes.h"
#include "replay/rules/received_sends.h"
#include "replay/run/common_start.h"
#include "replay/run/replay_options.h"
#include "replay/run/scenario_groups.h"

namespace rubato {

class Passes {
 public:
  /// Both must outlive it.
  Passes(EventSource& source, const ReplayOptions& options) : source_(&source), options_(&options) {
    const std::vector<int> none;
    coverage_.emplace(source.definitions(), options.spinning_waits, &none);
  }

  EventSource& source() { return *source_; }
  /// From now on calls come from `source`: of the same archive, at other times.
  void read_from(EventSource& source) {
    source_ = &source;
    locks_.reset();  // the order of holders is determined again, from the new times
    starts_.reset();
    first_.reset();
  }

  /// Divides the ranks among the processes of `team` from now on.
  void divide(Team& team) { divided_.emplace(team, *source_); }
  /// Null if this process has all ranks.
  DividedRun* divided() { return divided_ ? &*divided_ : nullptr; }

  // --- One pass ---

  /// Makes a pass by any rules. Errors: InputError; NeedsOneProcess if it is divided.
  template <class Rules>
  ReplayOutcome make(Rules& rules, Profile<Rules::kLanes>* profile,
                     std::vector<Observer<Rules::kLanes>*> observers,
                     const std::optional<ComputeChanges<Rules::kLanes>>& changes = {},
                     WaitStates<Rules::kLanes>* waits = nullptr) {
    const bool divides = kDividable<Rules> && divided_;
    bool by_arrival = false;
    if constexpr (kTimeOrdered<Rules>) by_arrival = rules.by_arrival();
    const bool first = !first_;  // that is complete
    if (first) {
      // (Process 0 combines the results of the others.)
      const bool has_all = !divided_ || divided_->team().leads();
      const std::vector<int> local = has_all ? std::vector<int>() : divided_->local_timelines();
      coverage_.emplace(source_->definitions(), options_->spinning_waits,
                        has_all ? nullptr : &local);
    }
    if (!locks_) locks_.emplace(*source_);
    ReplaySetup<Rules::kLanes> setup;
    setup.observers = std::move(observers);
    setup.profile = profile;
    setup.coverage = first ? &*coverage_ : nullptr;
    setup.waits = waits;
    setup.progress = [this, divides](double share) { report(share, divides); };
    setup.locks = &*locks_;
    setup.received = received_ && !by_arrival ? &*received_ : nullptr;
    setup.in_order = in_order_ ? &*in_order_ : nullptr;
    setup.compute_changes = changes ? &*changes : nullptr;
    if (divides) setup.share = {&divided_->team(), &divided_->division()};
    if (by_arrival) {
      if (!runs_) runs_.emplace(*source_);
      setup.runs = &*runs_;
    }
    if constexpr (!Rules::kFollowsRecording) {
      if (!starts_) starts_ = start_shifts(*source_, divided());
      setup.start_shifts = &*starts_;
    }
    ReplayOutcome outcome = replay(rules, setup);
    count_one();
    if (first && profile) profile->add_to(*coverage_);
    if (divides) {
      divided_->sum(outcome);
      if (first) divided_->gather(*coverage_);
      if (profile) divided_->gather(*profile);
      if (waits) divided_->gather(*waits);
    }
    const bool came_to_its_end = ended(outcome);
    if (first && came_to_its_end) {
      first_ = outcome;
      counts_ = divided_ ? divided_->sum(source_->counts()) : source_->counts();
    }
    return outcome;
  }

  // --- Facts about the archive ---

  /// The outcome of the first complete pass; none: there was none yet.
  const std::optional<ReplayOutcome>& first() const { return first_; }
  /// The next pass counts as the first.
  void forget_first() { first_.reset(); }
  const EventSource::Counts& counts() const { return counts_; }
  const Coverage& coverage() const { return *coverage_; }
  /// True if a pass found routes to be matched in order: it has to be repeated. (In a divided
  /// replay such a pass is never completed.)
  bool learn_order(const ReplayOutcome& outcome) {
    if (divided_ || in_order_ || outcome.in_order.empty() || !ended(outcome)) return false;
    in_order_ = outcome.in_order;
    first_.reset();
    expect(1);
    return true;
  }
  /// True once a pass has found such routes.
  bool matches_in_order() const { return in_order_.has_value(); }
  /// Sets the matched sends and receives as recorded, for passes that need them.
  void know_receivers(ReceivedSends received) { received_ = std::move(received); }

  // --- Progress of the run ---

  /// `passes` additional passes are to be made.
  void expect(size_t passes) { expected_ += passes; }
  /// One pass is done, or is not needed.
  void count_one() {
    ++made_;
    report(0);
  }
  /// All passes are done, even if the last one was incomplete.
  void count_all() {
    made_ = expected_;
    report(0);
  }
  /// This process has done `share` of the current pass. `of_all`: show the progress of all
  /// processes.
  void report(double share, bool of_all = false) {
    // Passes may be added during the run; the displayed progress never goes back.
    double done = (static_cast<double>(made_) + share) / static_cast<double>(expected_);
    if (of_all) done = divided_->team().progress_of_all(done);
    if (!options_->progress) return;
    shown_ = std::max(shown_, std::min(1.0, done));
    options_->progress(shown_);
  }

 private:
  static bool ended(const ReplayOutcome& outcome) {
    return outcome.deadlock.empty() && !outcome.asks_for_receivers && !outcome.lanes_disagree;
  }

  template <class Rules>
  ReplayOutcome replay(Rules& rules, const ReplaySetup<Rules::kLanes>& setup) {
    if constexpr (!Rules::kFollowsRecording && Rules::kLanes > kNarrowLanes)
      return replay_wide(*source_, rules, setup);
    else
      return replay_calls(*source_, rules, setup);
  }

  EventSource* source_;
  const ReplayOptions* options_;
  std::optional<DividedRun> divided_;
  std::optional<Coverage> coverage_;
  std::optional<LockOrder> locks_;
  std::optional<TakenRuns> runs_;              ///< set when some pass matches by arrival
  std::optional<std::vector<double>> starts_;  ///< start_shifts(), set when some pass needs them
  std::optional<std::set<Route>> in_order_;    ///< routes to be matched in order, when known
  std::optional<ReceivedSends> received_;      ///< set when a pass needs it
  std::optional<ReplayOutcome> first_;
  EventSource::Counts counts_;
  size_t expected_ = 0;
  size_t made_ = 0;
  double shown_ = 0;  ///< of the progress
};

}  // namespace rubato
