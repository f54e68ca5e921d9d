#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "models/base/lanes.h"
#include "models/base/partial_array.h"
#include "replay/cluster/lane_stream.h"
#include "replay/matching/own_work.h"
#include "replay/observe/coverage.h"
#include "replay/observe/results.h"
#include "replay/trace/operation.h"
#include "replay/trace/trace.h"

namespace rubato {

/// MPInside's first tables: per rank the time in compute and in each MPI call, in K scenarios. If
/// several threads of a rank call MPI these are sums over them (thread seconds, which may exceed
/// the window), and the window, which is the main thread's, ends no earlier than their last call.
/// All rows of a rank add up to Elapsed, once for each of these threads.
template <int K>
class Profile {
 public:
  /// `only`: the timelines whose calls will be added; others have no row. Null: all.
  explicit Profile(const TraceDefinitions& trace, const std::vector<int>* only = nullptr)
      : trace_(&trace),
        ranks_(trace.ranks()),
        names_(trace.calls.size()),
        calls_(trace.timelines() * names_),
        outside_(trace.timelines()),
        timelines_(trace.timelines()),
        recorded_(names_) {
    for (int number = ranks_; number < trace.timelines(); ++number) outside_[number] = kSideThread;
    if (only) {
      for (const int number : *only) make(number, number + 1);
    } else {
      make(0, trace.timelines());
    }
    keeps_[kFlushing] = keeps_[kStolen] = Lanes<K>::Constant(0);
  }

  /// `call`, not yet passed to call(), has this recorded own work, each tick of which takes
  /// `inverse_cpu`.
  [[gnu::noinline]] void work(int number, const Call& call, const OwnWork& own,
                              const Lanes<K>& inverse_cpu, const Lanes<K>& enter,
                              const Lanes<K>& leave) {
    if (call.role != CallRole::kMpi || is_over(number) || !(own.ticks > 0)) return;
    const std::pair row = {number * names_ + call.name, own.callback};
    const auto [sum, is_new] = own_.try_emplace(row, Lanes<K>::Zero());
    sum->second += (own.ticks * inverse_cpu).min((leave - enter).max(0.0));
  }

  /// The lanes (1, else 0) that keep losses of calls: these are then no part of MPI time.
  void keep_lost(const Lanes<K>& flushing, const Lanes<K>& stolen) {
    keeps_[kFlushing] = flushing;
    keeps_[kStolen] = stolen;
  }

  /// `call`, already passed to call(), lost this much.
  [[gnu::noinline]] void lose(int number, const Call& call, const Lost& lost, const Lanes<K>& enter,
                              const Lanes<K>& leave) {
    const bool is_join = call.role == CallRole::kThread;
    if ((call.role != CallRole::kMpi && !is_join) || is_over(number)) return;
    Timeline& timeline = timelines_[number];
    Lanes<K> left = (leave - enter).max(0.0);
    const auto take = [&](Other other, double ticks) {
      const Lanes<K> part = left.min(ticks * keeps_[other]);
      left -= part;
      timeline.others[other] += part;
      if (!is_join) calls_[number * names_ + call.name].time -= part;
    };
    take(kFlushing, lost.flushing);
    take(kStolen, lost.stolen);
  }

  /// `call` of a timeline left and moved `traffic`; `kIsMpi`: it is an MPI call, not the begin or
  /// end of the timeline. True when add_to() will report it.
  template <bool kIsMpi>
  [[gnu::always_inline]] bool call(int number, const Call& call, Traffic traffic,
                                   const Lanes<K>& enter, const Lanes<K>& leave) {
    if ((!kIsMpi && call.role != CallRole::kMpi) || outside_[number] != 0) {
      rare_call(number, call, traffic, enter, leave);
      return false;
    }
    book(number, call, traffic, enter, leave);
    recorded_[call.name] += call.leave - call.enter;
    return true;
  }

  /// Passes to a Coverage of this pass the number of calls by name, and the recorded time of the
  /// calls of main threads before MPI_Finalize.
  void add_to(Coverage& coverage) const {
    std::vector<uint64_t> calls(names_);
    for (const auto& [first, end] : calls_.made()) {
      for (size_t at = first; at < end; ++at) calls[at % names_] += calls_[at].calls;
    }
    for (size_t name = 0; name < names_; ++name) coverage.add(name, calls[name], recorded_[name]);
  }

  /// Serialises the results of a timeline for another process.
  void put(ByteWriter& to, int number) const {
    const Timeline& timeline = timelines_[number];
    to.value(outside_[number]);
    to.value(timeline.has_events);
    for (const Lanes<K>* lanes : {&timeline.first, &timeline.last, &timeline.start, &timeline.end,
                                  &timeline.until, &timeline.outside})
      put_lanes(to, *lanes);
    for (const Lanes<K>& lanes : timeline.others) put_lanes(to, lanes);
    for (size_t name = 0; name < names_; ++name) {
      const PerCall& call = calls_[number * names_ + name];
      to.number(call.calls);
      if (call.calls == 0) continue;
      put_lanes(to, call.time);
      to.number(call.bytes_sent);
      to.number(call.bytes_received);
    }
    const auto [first, end] = own_of(number);
    to.number(std::distance(first, end));
    for (auto own = first; own != end; ++own) {
      to.number(own->first.first), to.number(own->first.second);
      put_lanes(to, own->second);
    }
  }
  void take(ByteReader& from, int number) {
    Timeline& timeline = timelines_[number];
    from.value(outside_[number]);
    from.value(timeline.has_events);
    for (Lanes<K>* lanes : {&timeline.first, &timeline.last, &timeline.start, &timeline.end,
                            &timeline.until, &timeline.outside})
      take_lanes(from, *lanes);
    for (Lanes<K>& lanes : timeline.others) take_lanes(from, lanes);
    for (size_t name = 0; name < names_; ++name) {
      PerCall& call = calls_[number * names_ + name];
      call.calls = from.number();
      if (call.calls == 0) continue;
      take_lanes(from, call.time);
      call.bytes_sent = from.number();
      call.bytes_received = from.number();
    }
    for (uint64_t left = from.number(); left > 0; --left) {
      const uint64_t row = from.number();
      take_lanes(from, own_[{row, static_cast<int32_t>(from.number())}]);
    }
  }

  /// The columns of one lane. `names` are the indices of the calls that occur, in report order.
  void fill(ScenarioResult& result, int lane, double ticks_per_second,
            const std::vector<int>& names) const {
    fill(result, lane, ticks_per_second, names, 0, trace_->ranks());
  }
  /// The same for the ranks from `first_rank` to before `end_rank` only.
  void fill(ScenarioResult& result, int lane, double ticks_per_second,
            const std::vector<int>& names, int first_rank, int end_rank) const {
    const auto is_asked = [&](int number) {
      const int rank = trace_->rank_of(number);
      return rank >= first_rank && rank < end_rank;
    };
    // In ticks, which stay integers where the scenario allows: no rounding.
    double start = 0, end = 0, first = 0, last = 0;
    bool any = false;
    result.ranks.resize(end_rank - first_rank);
    for (int number = 0; number < trace_->timelines(); ++number) {
      if (!is_asked(number)) continue;
      const Timeline& timeline = timelines_[number];
      const bool is_main = number < trace_->ranks();
      RankResult& row = result.ranks[trace_->rank_of(number) - first_rank];
      const double mpi = std::max(0.0, in_calls(number, lane) - timeline.outside[lane]);
      double all = until(number, lane) - timeline.start[lane];
      for (const Lanes<K>& other : timeline.others) all -= other[lane];
      row.compute += std::max(0.0, all - mpi) / ticks_per_second;
      row.mpi += mpi / ticks_per_second;
      row.flushing += timeline.others[kFlushing][lane] / ticks_per_second;
      row.not_recorded += timeline.others[kOff][lane] / ticks_per_second;
      row.lost_core += timeline.others[kStolen][lane] / ticks_per_second;
      if (is_main) {
        row.start = timeline.start[lane] / ticks_per_second;
        row.end = timeline.end[lane] / ticks_per_second;
        row.calls.resize(names.size());
      }
      for (size_t i = 0; i < names.size(); ++i) {
        const PerCall& call = calls_[number * names_ + names[i]];
        row.calls[i].time += call.time[lane] / ticks_per_second;
        row.calls[i].calls += call.calls;
        row.calls[i].bytes_sent += call.bytes_sent;
        row.calls[i].bytes_received += call.bytes_received;
      }
      fill_own_work(result, row, number, lane, ticks_per_second, names);
      if (!timeline.has_events) continue;  // it has no window
      row.end = std::max(row.end, timeline.end[lane] / ticks_per_second);
      if (is_main) start = any ? std::min(start, timeline.start[lane]) : timeline.start[lane];
      end = any ? std::max(end, timeline.end[lane]) : timeline.end[lane];
      first = any ? std::min(first, timeline.first[lane]) : timeline.first[lane];
      last = any ? std::max(last, timeline.last[lane]) : timeline.last[lane];
      any = true;
    }
    for (int number = 0; number < trace_->timelines(); ++number) {
      if (!is_asked(number)) continue;
      const Timeline& timeline = timelines_[number];
      RankResult& row = result.ranks[trace_->rank_of(number) - first_rank];
      ++row.threads;
      if (timeline.has_events) {
        row.before += (timeline.start[lane] - start) / ticks_per_second;
        row.after += (end - until(number, lane)) / ticks_per_second;
      } else {
        row.not_recorded += (end - start) / ticks_per_second;
      }
    }
    result.start = start / ticks_per_second;
    result.elapsed = (end - start) / ticks_per_second;
    result.elapsed_with_init = (last - first) / ticks_per_second;
  }

 private:
  /// The part of own_ of a timeline.
  auto own_of(int number) const {
    const auto at = [&](int of) { return own_.lower_bound({of * names_, 0}); };
    return std::pair(at(number), at(number + 1));
  }

  void fill_own_work(ScenarioResult& result, RankResult& rank, int number, int lane,
                     double ticks_per_second, const std::vector<int>& names) const {
    const auto [first, end] = own_of(number);
    for (auto own = first; own != end; ++own) {
      const auto name = static_cast<int>(own->first.first % names_);
      const auto call = std::find(names.begin(), names.end(), name) - names.begin();
      const double seconds = own->second[lane] / ticks_per_second;
      rank.own_work += seconds;
      rank.calls[call].own_work += seconds;
      if (own->first.second > 0) result.callbacks[{call, own->first.second - 1}] += seconds;
    }
  }

  /// Time that is neither compute nor MPI.
  enum Other { kFlushing, kOff, kStolen, kOthers };

  struct alignas(std::max(kCacheLine / 2, alignof(Lanes<K>))) PerCall {
    Lanes<K> time;
    uint64_t calls = 0;
    uint64_t bytes_sent = 0;
    uint64_t bytes_received = 0;
  };
  /// Time outside of calls and of the entries here is compute, so most calls add only to their own
  /// row.
  struct Timeline {
    bool has_events = false;
    Lanes<K> first, last;                  ///< of its records
    Lanes<K> start, end;                   ///< of its window
    Lanes<K> until;                        ///< end of compute and MPI time
    std::array<Lanes<K>, kOthers> others;  ///< since `start`, up to `until`
    Lanes<K> outside;                      ///< in calls before `start` or after `until`
  };

  /// Reasons why a call does not simply belong to a main thread in its window.
  enum Outside : uint8_t {
    kSideThread = 1,
    kOver = 2,  ///< MPI_Finalize was entered
  };
  void make(size_t first, size_t end) {
    calls_.make(first * names_, end * names_);
    timelines_.make(first, end);
    for (size_t at = first * names_; at < end * names_; ++at) calls_[at].time = Lanes<K>::Zero();
    for (size_t number = first; number < end; ++number) {
      Timeline& timeline = timelines_[number];
      timeline.first = timeline.last = timeline.start = timeline.until = timeline.end =
          timeline.outside = Lanes<K>::Zero();
      timeline.others.fill(Lanes<K>::Zero());
    }
  }

  bool is_over(int number) const { return (outside_[number] & kOver) != 0; }

  double in_calls(int number, int lane) const {
    double sum = 0;
    for (size_t name = 0; name < names_; ++name) sum += calls_[number * names_ + name].time[lane];
    return sum;
  }

  /// The end of a timeline's compute and MPI time. The time of a thread outside of MPI while its
  /// rank is in MPI_Finalize is no part of the run.
  double until(int number, int lane) const {
    const Timeline& timeline = timelines_[number];
    const int main = trace_->rank_of(number);
    if (number == main || !is_over(main)) return timeline.until[lane];
    return std::min(timeline.until[lane], std::max(timelines_[main].end[lane], timeline.end[lane]));
  }

  [[gnu::always_inline]] void book(int number, const Call& call, Traffic traffic,
                                   const Lanes<K>& enter, const Lanes<K>& leave) {
    PerCall& totals = calls_[number * names_ + call.name];
    totals.time += leave - enter;
    ++totals.calls;
    totals.bytes_sent += traffic.sent;
    totals.bytes_received += traffic.received;
  }

  /// All calls except MPI calls of a main thread before MPI_Finalize.
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
        if (is_over(number)) return;
        timeline.until = enter;
        if (is_main) timeline.end = leave;
        return;
      case CallRole::kOff:
        if (!is_over(number)) timeline.others[kOff] += leave - enter;
        return;
      case CallRole::kFlush:
        if (!is_over(number)) timeline.others[kFlushing] += leave - enter;
        return;
      case CallRole::kThread:  // compute, like all other time
        return;
      case CallRole::kStolen:
        if (!is_over(number)) timeline.others[kStolen] += leave - enter;
        return;
      default:
        break;
    }
    book(number, call, traffic, enter, leave);
    if (!is_main) timeline.end = leave;
    if (call.role == CallRole::kInit) {
      timeline.start = leave;
      const auto [first, end] = own_of(number);
      own_.erase(first, end);
      for (Lanes<K>& other : timeline.others) other = Lanes<K>::Constant(0);
      for (int lane = 0; lane < K; ++lane) timeline.outside[lane] = in_calls(number, lane);
      return;
    }
    if (is_over(number) || call.role == CallRole::kFinalize) timeline.outside += leave - enter;
    if (call.role != CallRole::kFinalize) return;
    if (!is_over(number)) timeline.until = enter;
    if (is_main) timeline.end = enter;
    outside_[number] |= kOver;
  }

  const TraceDefinitions* trace_;
  int ranks_;
  size_t names_;
  PartialArray<PerCall> calls_;   ///< by timeline and name
  std::vector<uint8_t> outside_;  ///< by timeline: Outside
  PartialArray<Timeline> timelines_;
  std::map<std::pair<size_t, int32_t>, Lanes<K>> own_;  ///< ticks by row of calls_ and callback
  std::vector<double> recorded_;                        ///< by call: ticks for add_to()
  std::array<Lanes<K>, kOthers> keeps_;                 ///< set by keep_lost()
};

}  // namespace rubato
