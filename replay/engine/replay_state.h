#pragma once

// What the main loop and all kinds of dependencies of one replay share: the timelines, who is
// runnable, what is matched so far, and where results go. Functions here concern no kind of
// dependency.

#include <array>
#include <cassert>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/partial_array.h"
#include "replay/engine/boundary.h"
#include "replay/engine/replay.h"
#include "replay/engine/rule_traits.h"
#include "replay/matching/lock_order.h"
#include "replay/matching/taken_runs.h"
#include "replay/matching/timeline_state.h"
#include "replay/observe/coverage.h"
#include "replay/observe/observer.h"
#include "replay/observe/profile.h"
#include "replay/observe/results.h"
#include "replay/observe/wait_states.h"
#include "replay/rules/compute_changes.h"
#include "replay/rules/presence.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
struct ReplayState : ReplaySetup<Rules::kLanes> {
  static constexpr int K = Rules::kLanes;
  using Status = typename TimelineState<K>::Status;

  ReplayState(EventSource& events, Rules& durations, const ReplaySetup<K>& setup)
      : ReplaySetup<K>(setup),
        source(&events),
        trace(&events.definitions()),
        rules(&durations),
        timelines(trace->timelines()),
        running(trace->ranks()),
        matcher(trace->ranks()),
        sends(trace->timelines()),
        posts(trace->timelines()),
        presence(trace->timelines()),
        collectives(*trace) {
    matcher.match_in_order(setup.in_order);
    if (setup.share.team) {
      divide(*setup.share.team, *setup.share.division);
    } else {
      add_ranks(0, trace->ranks());
    }
    for (const Observer<K>* observer : setup.observers) {
      wants_messages |= observer->wants_messages();
      wants_bounds |= observer->wants_bounds();
    }
    if constexpr (kMayNeedPresence<Rules>) {
      presence_from = rules->needs_presence_from();
      goes_back = events.counts().backwards.count > 0;
    }
    for (const Thread& thread : trace->threads) threads_of_rank.try_emplace(thread.rank);
    if (setup.runs) choosers.resize(timelines.size());
  }
  ReplayState(const ReplayState&) = delete;
  ReplayState& operator=(const ReplayState&) = delete;

  // --- Timelines ---

  void make_ready(int timeline) {
    TimelineState<K>& state = timelines[timeline];
    state.status = Status::kReady;
    ready.push(timeline, state.recorded_clock);
  }

  /// `timeline` may go on, if it is blocked; -1: none.
  RUBATO_HOT void wake(int timeline) {
    if (timeline >= 0 && timelines[timeline].is_blocked()) make_ready(timeline);
  }

  /// Wakes timelines that wait for an event, which has happened.
  void wake_all(std::vector<int32_t>& waiting) {
    for (const int32_t timeline : waiting) wake(timeline);
    waiting.clear();
  }

  /// True when the timelines of `rank` are run in this process.
  [[gnu::always_inline]] bool is_local(int rank) const {
    if constexpr (kDividable<Rules>) return !boundary || boundary->is_local(rank);
    return true;
  }

  const Call& current_call(int timeline) const {
    return timelines[timeline].block.calls[timelines[timeline].next_call];
  }

  /// "rank 17, event 90412 (MPI_Recv)"
  std::string place(int timeline, const Call& call) const {
    return trace->name_of(timeline) + ", event " + std::to_string(call.event) + " (" +
           trace->calls[call.name].name + ")";
  }

  // --- By the rules ---

  /// The compute before `call` on the scenario's machine; `recorded`: its recorded ticks.
  RUBATO_HOT Lanes<K> compute(int timeline, uint64_t event, double recorded, bool before_mpi_call,
                              uint32_t function_records) {
    Lanes<K> ticks = rules->compute(recorded, before_mpi_call, function_records);
    if (this->compute_changes) ticks = (*this->compute_changes)(timeline, event, ticks);
    return ticks;
  }

  /// The pair class of two ranks.
  [[gnu::always_inline]] PairClass pair_of(int from, int to) const {
    if constexpr (Rules::kFollowsRecording) {
      return rules->level(from, to);
    } else {
      return rules->pair(from, to);
    }
  }

  /// True when this pass decides the matching.
  bool matches_by_arrival() const {
    if constexpr (kTimeOrdered<Rules>) return rules->by_arrival();
    return false;
  }

  /// By how many ticks the timelines of a rank begin later than recorded. REQUIRES: start_shifts.
  double begins_later(const TimelineState<K>& state) const {
    return (*this->start_shifts)[state.rank];
  }

  // --- Results ---

  /// Counts a message, or an operation on a window, between ranks of the class.
  [[gnu::always_inline]] void count_traffic(PairClass pair, uint64_t bytes) {
    ++pair_traffic[pair.number()].messages;
    pair_traffic[pair.number()].bytes += bytes;
  }
  /// The recorded end of `call` lies before the event that it waited for.
  RUBATO_RARE void count_violation(int timeline, const Call& call, Awaited::Kind kind) {
    ClockViolations& violations = outcome.clock_violations;
    if (violations.total() == 0) violations.first = place(timeline, call);
    ++(kind == Awaited::Kind::kCollective ? violations.collectives : violations.messages);
  }

  EventSource* source;
  const TraceDefinitions* trace;
  Rules* rules;
  bool wants_messages = false, wants_bounds = false;  ///< true for some observer

  // Timelines.
  PartialArray<TimelineState<K>> timelines;  ///< local ones only
  typename QueueOf<Rules>::Type ready;
  PartialArray<int> running;         ///< by rank: how many of its timelines have not ended
  int first_rank = 0;                ///< first local rank
  int end_rank = 0;                  ///< behind the last local rank
  std::vector<int> local_timelines;  ///< the local timelines
  int finished = 0;
  std::map<int, ThreadedRank<K>> threads_of_rank;  ///< of ranks with several timelines

  // Messages.
  Matcher<K> matcher;
  PartialArray<size_t> sends;  ///< by timeline: how many were numbered
  PartialArray<size_t> posts;  ///< likewise, posts
  std::vector<TransferId> skipped;
  Presence<K> presence;  ///< used only by rules that need it
  /// Smallest size of messages that may need a process inside MPI; infinity: none.
  double presence_from = std::numeric_limits<double>::infinity();
  bool goes_back = false;  ///< some recorded clock goes backwards
  /// The progress of a timeline through its runs (FirstTaken).
  struct Chooser {
    size_t run = 0;
    size_t taken = 0;      ///< slots of the run taken so far
    size_t wants = 0;      ///< receives that the current call has still to choose
    bool blocked = false;  ///< the last awaited entry represents all of them
  };
  std::vector<Chooser> choosers;  ///< by timeline; empty if no call chooses

  // Collectives and windows.
  CollectiveInstances<K> collectives;
  std::vector<StartedCollective<K>> started;
  std::vector<TransferId> free_started;  ///< entries of `started` that can be used again
  Windows<K> windows;

  const RuleContext<K> context{trace, &matcher, &collectives, &started, &windows};
  std::unordered_map<int, PollingLoop<K>> loops;  ///< by timeline inside a loop; for `waits`
  struct PairTraffic {
    uint64_t messages = 0;
    uint64_t bytes = 0;
  };
  std::array<PairTraffic, PairClass::kMost> pair_traffic{};  ///< by number of the class
  ReplayOutcome outcome;
  /// To the other processes of a divided replay; empty if this process has all ranks.
  std::conditional_t<kDividable<Rules>, std::optional<Boundary<K>>, NoBoundary> boundary;

 private:
  /// Allocates the state of the local ranks: from `first` to before `end`.
  void add_ranks(int first, int end) {
    first_rank = first;
    end_rank = end;
    local_timelines = trace->timelines_of(first, end);
    matcher.add_ranks(first, end);
    running.make(first, end);
    timelines.make(&local_timelines);
    presence.add_timelines(local_timelines);
    sends.make(&local_timelines);
    posts.make(&local_timelines);
  }
  /// Selects the ranks of this process and opens the boundary to the others.
  void divide(Team& team, const Division& division) {
    if constexpr (kDividable<Rules>) {
      boundary.emplace(team, division, *trace);
      add_ranks(division.first(team.self()), division.end(team.self()));
      collectives.divide(boundary->remote_members());
    } else {
      assert(!"rules of a replay that is not divided");
    }
  }
};

}  // namespace rubato
