#pragma once

#include <vector>

#include "replay/observer.h"
#include "replay/results.h"
#include "replay/trace.h"

namespace rubato {

/// MPInside's first tables: per rank the time in compute and in each MPI call, in K scenarios.
template <int K>
class Profile : public Observer<K> {
 public:
  explicit Profile(const TraceDefinitions& trace) : trace_(&trace), ranks_(trace.ranks()) {
    for (Rank& rank : ranks_) {
      rank.calls.resize(trace.calls.size());
      for (PerCall& call : rank.calls) call.time = Lanes<K>::Constant(0);
      rank.first = rank.last = rank.start = rank.end = rank.compute = rank.mpi =
          Lanes<K>::Constant(0);
    }
  }

  void call(int number, const Call& call, const Block& block, const Lanes<K>& clock_before, double,
            const Lanes<K>& enter, const Lanes<K>& leave) override {
    Rank& rank = ranks_[number];
    if (call.role == CallRole::kBegin) {
      rank.first = rank.start = enter;
      rank.has_events = true;
      return;
    }
    if (!rank.over) rank.compute += enter - clock_before;
    switch (call.role) {
      case CallRole::kEnd:
        rank.last = leave;
        if (!rank.over) rank.end = leave;
        return;
      case CallRole::kOff:
      case CallRole::kFlush:
        return;
      case CallRole::kInit:
        rank.start = leave;
        rank.compute = rank.mpi = Lanes<K>::Constant(0);
        break;
      case CallRole::kFinalize:
        rank.end = enter;
        rank.over = true;
        break;
      default:
        if (!rank.over) rank.mpi += leave - enter;
    }
    PerCall& totals = rank.calls[call.name];
    totals.time += leave - enter;
    ++totals.calls;
    for (uint32_t i = 0; i < call.actions; ++i)
      add_bytes(rank, totals, block.actions[call.first_action + i]);
  }

  /// The columns of one lane. `names` are the indices of the calls that occur, in report order.
  void fill(ScenarioResult& result, int lane, double ticks_per_second,
            const std::vector<int>& names) const {
    double start = 0, end = 0, first = 0, last = 0;
    bool any = false;
    for (const Rank& rank : ranks_) {
      RankResult row;
      row.start = rank.start[lane] / ticks_per_second;
      row.end = rank.end[lane] / ticks_per_second;
      row.compute = rank.compute[lane] / ticks_per_second;
      row.mpi = rank.mpi[lane] / ticks_per_second;
      for (const int name : names) {
        const PerCall& call = rank.calls[name];
        row.calls.push_back(
            {call.time[lane] / ticks_per_second, call.calls, call.bytes_sent, call.bytes_received});
      }
      // In ticks, which are whole numbers where the scenario leaves them so: no digit is lost.
      result.ranks.push_back(std::move(row));
      if (!rank.has_events) continue;  // it has no window
      start = any ? std::min(start, rank.start[lane]) : rank.start[lane];
      end = any ? std::max(end, rank.end[lane]) : rank.end[lane];
      first = any ? std::min(first, rank.first[lane]) : rank.first[lane];
      last = any ? std::max(last, rank.last[lane]) : rank.last[lane];
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
  struct Rank {
    Lanes<K> first, last, start, end, compute, mpi;
    bool over = false;  ///< MPI_Finalize was entered
    bool has_events = false;
    std::vector<PerCall> calls;
    std::vector<uint64_t> slot_bytes;
  };

  /// Received bytes are booked where the receive completes, as MPInside does it with the posting
  /// call's name lost: in MPI_Wait for a nonblocking receive.
  static void add_bytes(Rank& rank, PerCall& totals, const Action& action) {
    switch (action.kind) {
      case ActionKind::kSend:
        totals.bytes_sent += action.bytes;
        break;
      case ActionKind::kPost:
        if (action.flags & kBlocking) {
          totals.bytes_received += action.bytes;
        } else {
          if (action.slot >= rank.slot_bytes.size()) rank.slot_bytes.resize(action.slot + 1);
          rank.slot_bytes[action.slot] = action.bytes;
        }
        break;
      case ActionKind::kWaitReceive:
        if (action.slot < rank.slot_bytes.size())
          totals.bytes_received += rank.slot_bytes[action.slot];
        break;
      case ActionKind::kCollective:
        totals.bytes_sent += action.bytes;
        totals.bytes_received += action.bytes_received;
        break;
      default:
        break;
    }
  }

  const TraceDefinitions* trace_;
  std::vector<Rank> ranks_;
};

}  // namespace rubato
