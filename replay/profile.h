#pragma once

#include <vector>

#include "models/lanes.h"
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
      : trace_(&trace), ranks_(trace.ranks()), timelines_(trace.timelines()) {
    for (Timeline& timeline : timelines_) {
      timeline.calls.resize(trace.calls.size());
      for (PerCall& call : timeline.calls) call.time = Lanes<K>::Constant(0);
      timeline.first = timeline.last = timeline.start = timeline.end = timeline.compute =
          timeline.mpi = Lanes<K>::Constant(0);
    }
  }

  /// `call` of a timeline left; `clock_before` is the leave of the one before it.
  [[gnu::always_inline]] void call(int number, const Call& call, const Block& block,
                                   const Lanes<K>& clock_before, const Lanes<K>& enter,
                                   const Lanes<K>& leave) {
    Timeline& timeline = timelines_[number];
    if (call.role != CallRole::kMpi || timeline.over || number >= ranks_)
      return rare_call(number, call, block, clock_before, enter, leave);
    timeline.compute += enter - clock_before;
    timeline.mpi += leave - enter;
    book(timeline, call, block, enter, leave);
  }

  // Memory that is needed soon: of a timeline, and of a call of it.
  void fetch(int number) const {
    const char* row = reinterpret_cast<const char*>(&timelines_[number]);
    for (size_t line = 0; line < sizeof(Timeline); line += kCacheLine)
      __builtin_prefetch(row + line);
  }
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
      row.compute += timeline.compute[lane] / ticks_per_second;
      row.mpi += timeline.mpi[lane] / ticks_per_second;
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
  struct Timeline {
    Lanes<K> first, last, start, end, compute, mpi;
    bool over = false;  ///< MPI_Finalize was entered
    bool has_events = false;
    std::vector<PerCall> calls;
  };

  [[gnu::always_inline]] static void book(Timeline& timeline, const Call& call, const Block& block,
                                          const Lanes<K>& enter, const Lanes<K>& leave) {
    PerCall& totals = timeline.calls[call.name];
    const Traffic traffic = block.traffic_of(call);
    totals.time += leave - enter;
    ++totals.calls;
    totals.bytes_sent += traffic.sent;
    totals.bytes_received += traffic.received;
  }

  /// Any other than an MPI call of a main thread before MPI_Finalize.
  [[gnu::noinline]] void rare_call(int number, const Call& call, const Block& block,
                                   const Lanes<K>& clock_before, const Lanes<K>& enter,
                                   const Lanes<K>& leave) {
    Timeline& timeline = timelines_[number];
    const bool is_main = number < ranks_;
    if (call.role == CallRole::kBegin) {
      timeline.first = timeline.start = timeline.end = enter;
      timeline.has_events = true;
      return;
    }
    if (!timeline.over) timeline.compute += enter - clock_before;
    switch (call.role) {
      case CallRole::kEnd:
        timeline.last = leave;
        if (!timeline.over && is_main) timeline.end = leave;
        return;
      case CallRole::kOff:
      case CallRole::kFlush:
        return;
      case CallRole::kInit:
        timeline.start = leave;
        timeline.compute = timeline.mpi = Lanes<K>::Constant(0);
        break;
      case CallRole::kFinalize:
        timeline.end = enter;
        timeline.over = true;
        break;
      default:
        if (!timeline.over) timeline.mpi += leave - enter;
    }
    if (!is_main) timeline.end = leave;
    book(timeline, call, block, enter, leave);
  }

  const TraceDefinitions* trace_;
  int ranks_;
  std::vector<Timeline> timelines_;
};

}  // namespace rubato
