#pragma once

#include <vector>

#include "models/lanes.h"
#include "replay/coverage.h"
#include "replay/operation.h"
#include "replay/results.h"
#include "replay/trace.h"

namespace rubato {

/// MPInside's first tables: per rank the time in compute and in each MPI call, in K scenarios.
/// Where several threads of a rank call MPI these are sums over them (thread seconds, which may
/// exceed the window), and the window, which is the main thread's, ends no earlier than their last
/// call.
template <int K>
class Profile {
 public:
  explicit Profile(const TraceDefinitions& trace)
      : trace_(&trace),
        ranks_(trace.ranks()),
        timelines_(trace.timelines()),
        recorded_(trace.calls.size()) {
    for (Timeline& timeline : timelines_) {
      timeline.calls.resize(trace.calls.size());
      for (PerCall& call : timeline.calls) call.time = Lanes<K>::Constant(0);
      timeline.first = timeline.last = timeline.start = timeline.until = timeline.end =
          timeline.neither = timeline.outside = Lanes<K>::Constant(0);
    }
  }

  /// `call` of a timeline left, which moves `traffic`. True when it is one of those that add_to()
  /// tells of.
  [[gnu::always_inline]] bool call(int number, const Call& call, Traffic traffic,
                                   const Lanes<K>& enter, const Lanes<K>& leave) {
    Timeline& timeline = timelines_[number];
    if (call.role != CallRole::kMpi || timeline.over || number >= ranks_) {
      rare_call(number, call, traffic, enter, leave);
      return false;
    }
    book(timeline, call, traffic, enter, leave);
    recorded_[call.name] += call.leave - call.enter;
    return true;
  }

  /// Tells a Coverage of this pass how many calls there were of each name, and how long those took
  /// when recorded that main threads made before MPI_Finalize.
  void add_to(Coverage& coverage) const {
    for (size_t name = 0; name < trace_->calls.size(); ++name) {
      uint64_t calls = 0;
      for (const Timeline& timeline : timelines_) calls += timeline.calls[name].calls;
      coverage.add(name, calls, recorded_[name]);
    }
  }

  // Memory that is needed soon: of a timeline, and of a call of it.
  void fetch(int number) const { __builtin_prefetch(&timelines_[number]); }
  void fetch(int number, const Call& call) const {
    const char* entry = reinterpret_cast<const char*>(&timelines_[number].calls[call.name]);
    for (size_t line = 0; line < sizeof(PerCall); line += kCacheLine)
      __builtin_prefetch(entry + line);
  }

  /// The columns of one lane. `names` are the indices of the calls that occur, in report order.
  void fill(ScenarioResult& result, int lane, double ticks_per_second,
            const std::vector<int>& names) const {
    // In ticks, which are whole numbers where the scenario leaves them so: no digit is lost.
    double start = 0, end = 0, first = 0, last = 0;
    bool any = false;
    result.ranks.resize(trace_->ranks());
    for (int number = 0; number < trace_->timelines(); ++number) {
      const Timeline& timeline = timelines_[number];
      const bool is_main = number < trace_->ranks();
      RankResult& row = result.ranks[trace_->rank_of(number)];
      const double mpi = std::max(0.0, timeline.in_calls(lane) - timeline.outside[lane]);
      const double all = timeline.until[lane] - timeline.start[lane] - timeline.neither[lane];
      row.compute += std::max(0.0, all - mpi) / ticks_per_second;
      row.mpi += mpi / ticks_per_second;
      if (is_main) {
        row.start = timeline.start[lane] / ticks_per_second;
        row.end = timeline.end[lane] / ticks_per_second;
        row.calls.resize(names.size());
      }
      for (size_t i = 0; i < names.size(); ++i) {
        const PerCall& call = timeline.calls[names[i]];
        row.calls[i].time += call.time[lane] / ticks_per_second;
        row.calls[i].calls += call.calls;
        row.calls[i].bytes_sent += call.bytes_sent;
        row.calls[i].bytes_received += call.bytes_received;
      }
      if (!timeline.has_events) continue;  // it has no window
      row.end = std::max(row.end, timeline.end[lane] / ticks_per_second);
      if (is_main) start = any ? std::min(start, timeline.start[lane]) : timeline.start[lane];
      end = any ? std::max(end, timeline.end[lane]) : timeline.end[lane];
      first = any ? std::min(first, timeline.first[lane]) : timeline.first[lane];
      last = any ? std::max(last, timeline.last[lane]) : timeline.last[lane];
      any = true;
    }
    result.elapsed = (end - start) / ticks_per_second;
    result.elapsed_with_init = (last - first) / ticks_per_second;
  }

 private:
  struct PerCall {
    Lanes<K> time;
    uint64_t calls = 0;
    uint64_t bytes_sent = 0;
    uint64_t bytes_received = 0;
  };
  /// What is neither in a call nor in what is listed here is compute: most calls look at the
  /// first line alone, and add to nothing but their own row.
  struct alignas(kCacheLine) Timeline {
    std::vector<PerCall> calls;
    bool over = false;  ///< MPI_Finalize was entered
    bool has_events = false;
    Lanes<K> first, last;  ///< of its records
    Lanes<K> start, end;   ///< of its window
    Lanes<K> until;        ///< where compute and MPI time end
    Lanes<K> neither;      ///< neither compute nor MPI: since `start`, up to `until`
    Lanes<K> outside;      ///< in calls before `start` or after `until`

    double in_calls(int lane) const {
      double sum = 0;
      for (const PerCall& call : calls) sum += call.time[lane];
      return sum;
    }
  };

  [[gnu::always_inline]] static void book(Timeline& timeline, const Call& call, Traffic traffic,
                                          const Lanes<K>& enter, const Lanes<K>& leave) {
    PerCall& totals = timeline.calls[call.name];
    totals.time += leave - enter;
    ++totals.calls;
    totals.bytes_sent += traffic.sent;
    totals.bytes_received += traffic.received;
  }

  /// Any other than an MPI call of a main thread before MPI_Finalize.
  [[gnu::noinline]] void rare_call(int number, const Call& call, Traffic traffic,
                                   const Lanes<K>& enter, const Lanes<K>& leave) {
    Timeline& timeline = timelines_[number];
    const bool is_main = number < ranks_;
    switch (call.role) {
      case CallRole::kBegin:
        timeline.first = timeline.start = timeline.until = timeline.end = enter;
        timeline.has_events = true;
        return;
      case CallRole::kEnd:
        timeline.last = leave;
        if (timeline.over) return;
        timeline.until = enter;
        if (is_main) timeline.end = leave;
        return;
      case CallRole::kOff:
      case CallRole::kFlush:
        if (!timeline.over) timeline.neither += leave - enter;
        return;
      default:
        break;
    }
    book(timeline, call, traffic, enter, leave);
    if (!is_main) timeline.end = leave;
    if (call.role == CallRole::kInit) {
      timeline.start = leave;
      timeline.neither = Lanes<K>::Constant(0);
      for (int lane = 0; lane < K; ++lane) timeline.outside[lane] = timeline.in_calls(lane);
      return;
    }
    if (timeline.over || call.role == CallRole::kFinalize) timeline.outside += leave - enter;
    if (call.role != CallRole::kFinalize) return;
    if (!timeline.over) timeline.until = enter;
    if (is_main) timeline.end = enter;
    timeline.over = true;
  }

  const TraceDefinitions* trace_;
  int ranks_;
  std::vector<Timeline> timelines_;
  std::vector<double> recorded_;  ///< by call: what add_to() tells, ticks
};

}  // namespace rubato
