#pragma once

// Recorded outcomes that contradict a scenario's clocks.
//
// The request that MPI_Waitany took, and the fact that MPI_Test found its request complete, stay as
// recorded: the program's reaction to another outcome is unknown. By a scenario's own clocks an
// outcome may be impossible. Such outcomes are counted, with the time that they affect:
//
//   * a successful test or probe whose message or collective completes, or arrives, later: from its
//     enter to that; the replay waits for it. (Not at the end of a loop that is a wait anyway, see
//     polling.h.)
//   * a test that found a send complete, while on this machine the send still waits for its
//     receive: from its enter to the completion. The program continued, so the replay does not
//     wait: the completion moves to the next MPI_Wait (or similar), or to MPI_Finalize.
//   * several requests taken by one MPI_Waitsome, if one completes first: from the first to the
//     last
//   * a request taken by MPI_Waitany, MPI_Waitsome or their tests that completed while the previous
//     such call waited for another request: from its arrival to the other one's. (Not a send: its
//     begin is not kept.)
//   * a test or probe that found nothing although everything that its loop ends with had arrived:
//     from the first such poll to the call that takes it. (Not if the loop is a wait anyway.)
//
// Archives contain only the requests that a Waitany took; the requests that the next such call
// takes are assumed to have been candidates as well. Most archives do not contain what an
// unsuccessful test or a probe looked for: it is assumed to be the result of the call that ends
// their run (polling.h). Score-P can record which requests a test found incomplete; then each
// receive has its tests, whatever other calls occur in between. (Not if several threads of a rank
// call MPI.)

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <unordered_map>

#include "models/base/lanes.h"
#include "replay/matching/timeline_state.h"
#include "replay/trace/mpi_calls.h"

namespace rubato {

/// When a request can complete, by the scenario's clocks. Ticks.
template <int K>
struct Completion {
  bool known = false;
  Lanes<K> time = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
  /// When the request was made; infinite if not kept.
  Lanes<K> open_since = -time;
};

template <int K>
class Outcomes {
 public:
  /// True for calls whose outcome may differ on another machine.
  static bool is_up_to_the_machine(const MpiCallInfo& call) {
    return call.tests || call.probes || call.takes_some;
  }

  /// A test or probe (kInVain) is replayed as recorded.
  void look(const TimelineState<K>& timeline, const Call& call) {
    if (call.spinning & kNamesTests) return note_tests(timeline, call);
    if (call.spinning & kInVain) note(looks_[&timeline], timeline.enter);
  }

  /// A call that completes requests is about to leave. `is_wait`: a test that ends a polling loop,
  /// which is replayed as a wait. `completion` returns the Completion of an Awaited.
  template <typename CompletionOf>
  void look_at(const TimelineState<K>& timeline, const MpiCallInfo& call, bool is_wait,
               CompletionOf completion) {
    Lanes<K> first = Lanes<K>::Constant(std::numeric_limits<double>::infinity());
    Lanes<K> last = -first;
    Lanes<K> touched = Lanes<K>::Constant(0);
    Taken& before = taken_[&timeline];
    for (const Awaited& awaited : timeline.awaited) {
      const Completion<K> request = completion(awaited);
      if (!request.known) continue;
      first = first.min(request.time);
      last = last.max(request.time);
      if (!call.takes_some) continue;
      const auto was_open = request.open_since <= before.enter;
      touched =
          touched.max(was_open.select(before.arrival - request.time.max(before.enter), touched));
    }
    if ((call.tests || call.probes) && !is_wait) {
      touched = touched.max(last - timeline.enter);
    } else if (call.takes_some) {
      touched = touched.max(last - first.max(timeline.enter));
    }
    if (call.takes_some) before = {timeline.enter, last};
    add(touched);
  }

  /// A call is about to leave that earlier polls looked for (kLookedFor): they polled for its
  /// message, or for all requests that it completes.
  template <typename CompletionOf>
  void end_looks(const TimelineState<K>& timeline, CompletionOf completion) {
    const auto found = looks_.find(&timeline);
    if (found == looks_.end()) return;
    Lanes<K> last = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
    for (const Awaited& awaited : timeline.awaited) {
      last = last.max(completion(awaited).time);
    }
    add_in_vain(found->second, last, timeline.enter);
    looks_.erase(found);
  }

  bool knows_tests() const { return !tests_.empty(); }
  /// A call is about to leave; it may complete receives that were tested without success.
  void end_tests(const TimelineState<K>& timeline, Matcher<K>& matcher) {
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kReceive) continue;
      const auto found = tests_.find(awaited.transfer);
      if (found == tests_.end()) continue;
      const Transfer<K>& transfer = matcher[awaited.transfer];
      if (!transfer.abandoned) add_in_vain(found->second, transfer.arrival(), timeline.enter);
      tests_.erase(found);
    }
  }

  /// Counts an outcome that touches `touched` ticks.
  void add(const Lanes<K>& touched) {
    for (int lane = 0; lane < K; ++lane) {
      if (!(touched[lane] >= 1)) continue;  // below clock resolution
      ++count_[lane];
      time_[lane] += touched[lane];
    }
  }

  uint64_t count(int lane) const { return count_[lane]; }
  /// Ticks.
  double time(int lane) const { return time_[lane]; }

 private:
  static constexpr size_t kMostLooks = 4096;

  /// Notes a call whose record contains the receives that it tested.
  void note_tests(const TimelineState<K>& timeline, const Call& call) {
    if (timeline.threads) return;
    for (const Action& action : timeline.block.actions_of(call)) {
      if (action.kind != ActionKind::kTested) continue;
      const uint32_t slot = action.request.slot;
      if (slot >= timeline.slots.size() || timeline.slots[slot] == kNoTransfer) continue;
      note(tests_[timeline.slots[slot]], timeline.enter);
    }
  }

  static void note(std::deque<Lanes<K>>& looks, const Lanes<K>& enter) {
    if (looks.size() == kMostLooks) looks.pop_front();
    looks.push_back(enter);
  }

  /// Counts the `looks` after `arrival`, with the time from the first one to `end`.
  void add_in_vain(const std::deque<Lanes<K>>& looks, const Lanes<K>& arrival,
                   const Lanes<K>& end) {
    for (int lane = 0; lane < K; ++lane) {
      if (!std::isfinite(arrival[lane])) continue;  // nothing was received
      bool first = true;
      for (const Lanes<K>& look : looks) {
        if (!(look[lane] >= arrival[lane] + 1)) continue;
        ++count_[lane];
        if (first) time_[lane] += end[lane] - look[lane];
        first = false;
      }
    }
  }

  /// The requests taken by the last call that takes some of many.
  struct Taken {
    Lanes<K> enter = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
    Lanes<K> arrival = enter;  ///< of the last one
  };

  std::unordered_map<const TimelineState<K>*, Taken> taken_;
  /// Enters of the unsuccessful polls of the current runs: the last kMostLooks of each.
  std::unordered_map<const TimelineState<K>*, std::deque<Lanes<K>>> looks_;
  /// Enters of unsuccessful tests by open receive, where recorded.
  std::unordered_map<TransferId, std::deque<Lanes<K>>> tests_;
  std::array<uint64_t, K> count_{};
  Lanes<K> time_ = Lanes<K>::Constant(0);
};

}  // namespace rubato
