#pragma once

// Outcomes that another machine would not have had.
//
// Which request MPI_Waitany took, and that MPI_Test found its request complete, stays as recorded;
// what would have followed from another outcome nobody knows. On a scenario's own clocks an outcome
// may be impossible. Those are counted, with the time that they touch:
//
//   * a test that succeeded before the message comes: from its enter to the arrival, for which the
//     replay waits. (Not at the end of a loop that is a wait anyhow, see polling.h.)
//   * several requests taken by one MPI_Waitsome of which one comes first: from then to the last
//   * a request taken by MPI_Waitany, MPI_Waitsome or their tests that was open when the call
//     before of this kind waited for another one, and came first: from then to the other one's
//     arrival
//
// Archives do not say for which requests such a call waited besides the ones that it took; those
// that the next such call takes are assumed to be among them. Tests that failed leave no record
// that names their requests.

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "models/lanes.h"
#include "replay/mpi_calls.h"
#include "replay/timeline_state.h"

namespace rubato {

template <int K>
class Outcomes {
 public:
  /// True of calls with an outcome that another machine may contradict: the others are not looked
  /// at.
  static bool is_up_to_the_machine(const MpiCallInfo& call) {
    return call.tests || call.takes_some;
  }

  /// A call that completes requests is about to leave. `is_wait`: a test in which a polling loop
  /// ends, which is replayed as a wait.
  void look_at(const TimelineState<K>& timeline, const MpiCallInfo& call, bool is_wait,
               Matcher<K>& matcher) {
    Lanes<K> first = Lanes<K>::Constant(std::numeric_limits<double>::infinity());
    Lanes<K> last = -first;
    Lanes<K> touched = Lanes<K>::Constant(0);
    Taken& before = taken_[&timeline];
    for (const Awaited& awaited : timeline.awaited) {
      if (awaited.kind != Awaited::Kind::kReceive || awaited.transfer == kNoTransfer) continue;
      const Transfer<K>& transfer = matcher[awaited.transfer];
      if (transfer.abandoned) continue;
      first = first.min(transfer.arrival());
      last = last.max(transfer.arrival());
      if (!call.takes_some) continue;
      const auto was_open = transfer.posted <= before.enter;
      touched = touched.max(
          was_open.select(before.arrival - transfer.arrival().max(before.enter), touched));
    }
    if (call.tests && !is_wait) {
      touched = touched.max(last - timeline.enter);
    } else if (call.takes_some) {
      touched = touched.max(last - first.max(timeline.enter));
    }
    if (call.takes_some) before = {timeline.enter, last};
    for (int lane = 0; lane < K; ++lane) {
      if (!(touched[lane] >= 1)) continue;  // what clocks cannot tell
      ++count_[lane];
      time_[lane] += touched[lane];
    }
  }

  uint64_t count(int lane) const { return count_[lane]; }
  /// Ticks.
  double time(int lane) const { return time_[lane]; }

 private:
  /// What the last call that takes some requests of many took.
  struct Taken {
    Lanes<K> enter = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
    Lanes<K> arrival = enter;  ///< of the last one
  };

  std::unordered_map<const TimelineState<K>*, Taken> taken_;
  std::array<uint64_t, K> count_{};
  Lanes<K> time_ = Lanes<K>::Constant(0);
};

}  // namespace rubato
