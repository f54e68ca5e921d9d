#pragma once

// The passes that one run makes over its archive: each plays all timelines by some rules (engine/).
// What the first of them finds on the way stands for the archive, whatever the scenario: its calls
// and messages, and what is missing. Kept between them: who held locks before whom, who received
// what, how far the run is, and, where it is divided among processes, with whom.

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"
#include "replay/engine/wide.h"
#include "replay/observe/coverage.h"
#include "replay/observe/profile.h"
#include "replay/rules/received_sends.h"
#include "replay/run/common_start.h"
#include "replay/run/divided_run.h"
#include "replay/run/replay_options.h"

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
    locks_.reset();  // who held them before whom is seen better now
    starts_.reset();
    first_.reset();
  }

  /// The ranks are divided among the processes of `team` from now on.
  void divide(Team& team) { divided_.emplace(team, *source_); }
  /// Null where this process has all.
  DividedRun* divided() { return divided_ ? &*divided_ : nullptr; }

  // --- One pass ---

  /// By any rules. Errors: InputError; NeedsOneProcess where it is divided.
  template <class Rules>
  ReplayOutcome make(Rules& rules, Profile<Rules::kLanes>* profile,
                     std::vector<Observer<Rules::kLanes>*> observers,
                     const std::optional<ComputeChanges<Rules::kLanes>>& changes = {},
                     WaitStates<Rules::kLanes>* waits = nullptr) {
    bool by_arrival = false;
    if constexpr (kTimeOrdered<Rules>) by_arrival = rules.by_arrival();
    const bool first = !first_;  // that comes to its end
    if (first) {
      // (Process 0 puts together what the others know.)
      const bool has_all = !divided_ || divided_->team().leads();
      const std::vector<int> here = has_all ? std::vector<int>() : divided_->timelines_here();
      coverage_.emplace(source_->definitions(), options_->spinning_waits,
                        has_all ? nullptr : &here);
    }
    if (!locks_) locks_.emplace(*source_);
    Replay<Rules> replay(
        *source_, rules, std::move(observers),
        [this](double share) { report(share, kDivided<Rules>); }, &*locks_,
        received_ && !by_arrival ? &*received_ : nullptr, in_order_ ? &*in_order_ : nullptr);
    replay.keep(profile, first ? &*coverage_ : nullptr);
    replay.watch_waits(waits);
    replay.change_compute(changes ? &*changes : nullptr);
    if constexpr (kDivided<Rules>) replay.divide(divided_->team(), divided_->division());
    if constexpr (kTimeOrdered<Rules>) {
      if (by_arrival && !runs_) runs_.emplace(*source_);
      if (by_arrival) replay.take_first(&*runs_);
    }
    if constexpr (!Rules::kFollowsRecording) {
      if (!starts_) starts_ = start_shifts(*source_, divided());
      replay.begin_later(&*starts_);
    }
    ReplayOutcome outcome = run(replay);
    count_one();
    if (first && profile) profile->add_to(*coverage_);
    if constexpr (kDivided<Rules>) {
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

  /// Makes rules of `arguments` and hands them to `use`: those of a divided replay, where it is.
  template <class Rules, typename Use, typename... Arguments>
  void with(Use use, const Arguments&... arguments) {
    if (divided_) {
      Divided<Rules> rules(arguments...);
      use(rules);
    } else {
      Rules rules(arguments...);
      use(rules);
    }
  }

  // --- What is known of the archive ---

  /// Of the first pass that came to its end; none: there was none yet.
  const std::optional<ReplayOutcome>& first() const { return first_; }
  /// The next one counts as the first.
  void forget_first() { first_.reset(); }
  const EventSource::Counts& counts() const { return counts_; }
  const Coverage& coverage() const { return *coverage_; }
  /// True where a pass found routes to be matched in order: it has to be made anew. (One that is
  /// divided never ends with a receive that lacks its send.)
  bool learn_order(const ReplayOutcome& outcome) {
    if (divided_ || in_order_ || outcome.in_order.empty() || !ended(outcome)) return false;
    in_order_ = outcome.in_order;
    first_.reset();
    expect(1);
    return true;
  }
  /// True once a pass has found such routes.
  bool matches_in_order() const { return in_order_.has_value(); }
  /// Who received what as recorded, for passes that need it.
  void know_receivers(ReceivedSends received) { received_ = std::move(received); }

  // --- How far the run is ---

  /// So many more are to be made than was known.
  void expect(size_t passes) { expected_ += passes; }
  /// One is made, or need not be.
  void count_one() {
    ++made_;
    report(0);
  }
  void count_all() { made_ = expected_; }
  /// `share` of the current pass is done here. `of_all`: what is shown is of all processes.
  void report(double share, bool of_all = false) {
    // Passes may be added under way; what is shown never goes back.
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
  static ReplayOutcome run(Replay<Rules>& replay) {
    if constexpr (!Rules::kFollowsRecording && Rules::kLanes > kNarrowLanes)
      return run_wide(replay);
    else
      return replay.run();
  }

  EventSource* source_;
  const ReplayOptions* options_;
  std::optional<DividedRun> divided_;
  std::optional<Coverage> coverage_;
  std::optional<LockOrder> locks_;
  std::optional<TakenRuns> runs_;              ///< once some pass matches by arrival
  std::optional<std::vector<double>> starts_;  ///< start_shifts(), once some pass needs them
  std::optional<std::set<Route>> in_order_;    ///< routes to be matched so, once that is known
  std::optional<ReceivedSends> received_;      ///< once a pass asked for it
  std::optional<ReplayOutcome> first_;
  EventSource::Counts counts_;
  size_t expected_ = 0;
  size_t made_ = 0;
  double shown_ = 0;  ///< of the progress
};

}  // namespace rubato
