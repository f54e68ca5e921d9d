#pragma once

// Wait states with Scalasca's names: the time that calls wait for a rank that is late.
//
//   late sender       a receive (its own call, or the call that completes it) whose send was
//                     entered after the waiting call
//   late receiver     a send that waits for its receiver (rendezvous, synchronous), whose receive
//                     was posted after the waiting call was entered
//   collective wait   a member that waits for later members: at a barrier or n-to-n for the last
//                     of all, at the root of a reduction for the last (early reduce), in a
//                     broadcast for the root (late broadcast), in a scan for the lower ranks; also
//                     in fences, and in started collectives
//   one-sided wait    for a post, a complete, or a lock that another rank holds
//
// Let C be the time at which the cause of a call was entered. The wait is the part of enter to C
// that lies in the call. Time after C (overheads, ports, transfer, the rounds of a collective)
// belongs to the machine and is no wait: a faster machine shortens it, while a wait gets shorter
// only if another rank comes earlier. So on `perfect` MPI time consists of waits and kept calls.
//
// A call that completes several requests waits once, until the latest C, and the wait is of that
// cause's kind. A call whose partner never comes (its records are missing) has no wait. A call that
// replaces a loop of polls on a model (polling.h) waits for the cause of the loop; where the polls
// keep their time, the waits are theirs (polling_loop.h). Neighbourhood collectives are messages
// here. Only the window of a rank counts, as in Profile, and of a call the time that is not lost.

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "models/base/lanes.h"
#include "models/base/partial_array.h"
#include "replay/cluster/lane_stream.h"
#include "replay/matching/channel_table.h"
#include "replay/observe/results.h"
#include "replay/observe/waited.h"
#include "replay/trace/operation.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Sums of the waits of each timeline, in K scenarios.
template <int K>
class WaitStates {
 public:
  /// The times of one call's causes: the latest of each kind. Ticks.
  class Causes {
   public:
    void add(WaitKind kind, const Lanes<K>& time) {
      const int i = static_cast<int>(kind);
      latest_[i] = has(i) ? Lanes<K>(latest_[i].max(time)) : time;
      kinds_ |= 1u << i;
    }
    /// The same with its origin: `timeline` at `time`, in the communicator `comm`.
    void add(WaitKind kind, const Lanes<K>& time, WaitPattern pattern, int timeline,
             uint32_t comm) {
      add(kind, time);
      if (latest_timeline_ != kNobody && time[0] <= time_) return;
      comm_ = comm;
      pattern_ = pattern;
      latest_timeline_ = timeline;
      time_ = time[0];
    }

    /// The latest of all causes; minus infinity: none.
    Lanes<K> last() const {
      Lanes<K> last = Lanes<K>::Constant(-std::numeric_limits<double>::infinity());
      for (int kind = 0; kind < kWaitKinds; ++kind) {
        if (has(kind)) last = last.max(latest_[kind]);
      }
      return last;
    }

    /// In the first lane, of a call from `enter` to `leave`.
    Waited waited(double enter, double leave) const {
      Waited waited;
      waited.enter = enter;
      waited.leave = leave;
      if (latest_timeline_ == kNobody) return waited;
      waited.pattern = pattern_;
      waited.timeline = latest_timeline_;
      waited.cause = time_;
      waited.comm = comm_;
      waited.wait = std::max(0.0, std::min(time_, leave) - enter);
      return waited;
    }

   private:
    friend class WaitStates;
    bool has(int kind) const { return kinds_ >> kind & 1; }

    std::array<Lanes<K>, kWaitKinds> latest_;
    unsigned kinds_ = 0;  ///< a bit for each kind with a cause
    // The latest cause, in the first lane:
    static constexpr int kNobody = -2;
    WaitPattern pattern_ = WaitPattern::kLateSender;
    int latest_timeline_ = kNobody;
    double time_ = 0;
    uint32_t comm_ = 0;
  };

  /// `only`: the timelines whose calls will be added; others have no row. Null: all.
  explicit WaitStates(const TraceDefinitions& trace, const std::vector<int>* only = nullptr)
      : trace_(&trace), timelines_(trace.timelines()) {
    if (only) {
      for (const int number : *only) make(number, number + 1);
    } else {
      make(0, trace.timelines());
    }
  }

  // The sides of a message, and the enter of its send; valid while the message exists.
  struct Sides {
    Lanes<K> send;
    int32_t sender = -1;  ///< timelines
    int32_t receiver = -1;
    uint32_t comm = 0;  ///< for observers
  };
  void send(TransferId id, const Lanes<K>& enter, int timeline, uint32_t comm) {
    Sides& sides = at(id);
    sides.send = enter;
    sides.sender = timeline;
    sides.comm = comm;
  }
  void post(TransferId id, int timeline, uint32_t comm) {
    Sides& sides = at(id);
    sides.receiver = timeline;
    sides.comm = comm;
  }
  /// Matching by arrival: the receive takes the message of a separate transfer.
  void join(TransferId send, TransferId receive) {
    at(std::max(send, receive));
    sides_[receive].send = sides_[send].send;
    sides_[receive].sender = sides_[send].sender;
    sides_[send].receiver = sides_[receive].receiver;
  }
  const Sides& sides_of(TransferId id) const { return sides_[id]; }

  /// An MPI call of a timeline left; it waited for `causes`. `kept`: Waited::kept.
  void call(int number, const Lanes<K>& enter, const Lanes<K>& leave, const Causes& causes,
            const Lanes<K>& kept) {
    if (causes.kinds_ == 0) return;
    add(number, causes, (causes.last().min(leave) - enter).max(0.0) * kept);
  }

  /// Adds `wait` ticks of waiting for these causes.
  void add(int number, const Causes& causes, Lanes<K> wait) {
    Timeline& timeline = timelines_[number];
    if (timeline.over) return;
    const Lanes<K> last = causes.last();
    for (int kind = 0; kind < kWaitKinds; ++kind) {
      if (!causes.has(kind)) continue;
      const Lanes<K> part = (causes.latest_[kind] == last).select(wait, 0.0);
      timeline.sums[kind] += part;
      wait -= part;
    }
  }

  /// Another call left: the window begins after MPI_Init, and ends at MPI_Finalize.
  void other_call(int number, CallRole role) {
    Timeline& timeline = timelines_[number];
    if (role == CallRole::kInit) timeline.clear();
    if (role == CallRole::kFinalize) timeline.over = true;
  }

  /// Serialises the results of a timeline for another process.
  void put(ByteWriter& to, int number) const {
    for (const Lanes<K>& sum : timelines_[number].sums) put_lanes(to, sum);
  }
  void take(ByteReader& from, int number) {
    for (Lanes<K>& sum : timelines_[number].sums) take_lanes(from, sum);
  }

  /// RankResult::waits of one lane.
  void fill(ScenarioResult& result, int lane, double ticks_per_second) const {
    result.has_waits = true;
    const auto ranks = static_cast<int>(result.ranks.size());  // there may be further timelines
    for (int number = 0; number < trace_->timelines(); ++number) {
      if (trace_->rank_of(number) >= ranks) continue;
      RankResult& row = result.ranks[trace_->rank_of(number)];
      for (int kind = 0; kind < kWaitKinds; ++kind)
        row.waits[kind] += timelines_[number].sums[kind][lane] / ticks_per_second;
    }
  }

 private:
  struct alignas(kCacheLine) Timeline {
    bool over = false;  ///< MPI_Finalize was entered
    std::array<Lanes<K>, kWaitKinds> sums;

    void clear() { sums.fill(Lanes<K>::Zero()); }
  };

  void make(size_t first, size_t end) {
    timelines_.make(first, end);
    for (size_t number = first; number < end; ++number) timelines_[number].clear();
  }

  Sides& at(TransferId id) {
    if (id >= sides_.size()) sides_.resize(std::max<size_t>(id + 1, 2 * sides_.size()));
    return sides_[id];
  }

  const TraceDefinitions* trace_;
  PartialArray<Timeline> timelines_;
  std::vector<Sides> sides_;
};

}  // namespace rubato
