#pragma once

// Plays the calls of all ranks against each other. Start reading at Replay::run() in replay.cc.
//
// Without contention a call's times depend only on the calls it waits for, so ranks need not be run
// in the order of time: each runs until it has to wait for something that was not replayed yet, and
// is woken by whoever brings it. Any order gives the same clocks; the one used here, the ready rank
// furthest behind in recorded time first, keeps few messages in flight.
//
// Rules (survey.h, measured_rules.h, model_rules.h) say how long things take; who waits for whom is
// decided here and in matcher.h and collective_instances.h, once for all of them.

#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "replay/observer.h"
#include "replay/rank_state.h"

namespace rubato {

/// What a run found out besides its clocks.
struct ReplayOutcome {
  std::string deadlock;  ///< empty, or who waits for whom in a circle
  uint64_t messages = 0;
  uint64_t collectives = 0;  ///< calls, counted once per member
  uint64_t unmatched_sends = 0;
  uint64_t unmatched_receives = 0;
  uint64_t abandoned_collectives = 0;  ///< calls of members whose partners never came
  uint64_t clock_violations = 0;  ///< calls that ended before what they waited for, as recorded
  std::array<uint64_t, kLevels> level_messages{};
  std::array<uint64_t, kLevels> level_bytes{};
};

template <class Rules>
class Replay {
 public:
  static constexpr int K = Rules::kLanes;

  Replay(EventSource& source, Rules& rules, std::vector<Observer<K>*> observers,
         std::function<void(double)> progress = {})
      : source_(&source),
        trace_(&source.definitions()),
        rules_(&rules),
        observers_(std::move(observers)),
        progress_(std::move(progress)),
        matcher_(trace_->ranks()),
        collectives_(*trace_),
        ranks_(trace_->ranks()) {}

  /// The main loop.
  ReplayOutcome run();

 private:
  using Status = typename RankState<K>::Status;

  // --- Scheduling ---

  void start(int rank);
  void make_ready(int rank);
  int pop_ready();
  void wake(int rank);

  /// Runs `rank` to the end of its block, or until it waits for somebody.
  void run_until_blocked(int rank);

  // --- One call ---

  void enter(int rank, const Call& call);
  void perform(int rank, const Call& call, const Action& action);
  void send(int rank, const Call& call, const Action& action);
  void post(int rank, const Call& call, const Action& action);
  void arrive(int rank, const Call& call, const Action& action);
  void await(int rank, Awaited::Kind kind, TransferId id);

  /// True when nothing is missing; else `rank` will be woken when the first missing thing comes.
  bool everything_is_there(int rank);
  void leave(int rank, const Call& call);
  void let_go(const Awaited& awaited);
  void count_violations(const RankState<K>& state, const Call& call);

  // --- Requests ---

  void put_slot(int rank, uint32_t slot, TransferId id);
  TransferId take_slot(int rank, uint32_t slot);

  // --- Nobody can go on ---

  /// The rank that `rank` waits for, -1 when it waits for nobody.
  int waits_for(int rank);
  /// A member that the collective `awaited` lacks; one whose stream has ended before any other.
  int missing_member(const Awaited& awaited);

  /// Frees the ranks that wait for one whose stream has ended (a truncated or filtered archive, a
  /// receive without a send): their calls keep the recorded time. False when there was none.
  bool release_hopeless();

  /// Frees the rank whose call was recorded to leave first of all blocked ones. What it waits for
  /// stands behind a call that left later, so in the recording it went on without: the record of
  /// its partner is missing. A rendezvous of the scenario's own making is no such case. False when
  /// there was none: a deadlock.
  bool release_hole();
  /// The call that `rank` waits in keeps its recorded time.
  void release(int rank);
  const Call& current_call(int rank) const;

  /// Follows waits_for() from the first blocked rank until it comes round.
  std::string describe_deadlock();
  std::string describe_wait(int rank);
  std::string place(int rank, const Call& call) const;

  EventSource* source_;
  const TraceDefinitions* trace_;
  Rules* rules_;
  std::vector<Observer<K>*> observers_;
  std::function<void(double)> progress_;
  Matcher<K> matcher_;
  CollectiveInstances<K> collectives_;
  std::vector<RankState<K>> ranks_;
  std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>
      ready_;
  std::vector<TransferId> skipped_;
  int finished_ = 0;
  ReplayOutcome outcome_;
};

}  // namespace rubato
