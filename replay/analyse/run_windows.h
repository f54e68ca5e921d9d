#pragma once

// POP's efficiencies over time (Haldar, arXiv 2512.01764): a run is divided into windows of equal
// length w, and each window has its own load balance, serialisation and transfer
// (replay/judge/efficiency.h has those of the whole run).
//
//   run          ├──── window k ────┤             b_k, b_k+1: its ends
//   rank r   compute │ MPI_Send     │ compute     in the run: in the middle of a call
//   rank r   compute │Send│ compute               the same calls on a perfect interconnect
//
// An end of a window is a place in the calls of each rank: a share of a call, or of the compute
// before it. The same place on a perfect interconnect has a time f_r(b). With c_r the compute of
// rank r between both places, there, and P = min(w, max over r of f_r(b_k+1) - f_r(b_k)), the time
// that the window takes on a perfect interconnect at most,
//
//     load balance = mean c / max c,  serialisation = max c / P,  transfer = P / w
//
// so that their product is mean c / w. All are between 0 and 1, as no rank computes longer than its
// part of the window takes. With one window they are those of the run.

#include <cstdint>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/observe/results.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Observes the run: the places of the ends of windows in the calls of each rank.
class WindowMarks : public Observer<1> {
 public:
  /// The run begins at `begin` and takes `elapsed`, ticks.
  WindowMarks(const TraceDefinitions& trace, double begin, double elapsed, int windows);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  int windows() const { return windows_; }
  int ranks() const { return static_cast<int>(ranks_.size()); }

  /// A place in the calls of a rank.
  struct Mark {
    uint64_t call;  ///< number of the call, from 0
    bool inside;    ///< in the call, else in the compute before it
    double share;   ///< of that
  };
  /// The ends of windows, from number `first` on, that lie in the window of the rank itself.
  struct Rank {
    int first = 0;
    std::vector<Mark> marks;
    uint64_t calls = 0;
    bool over = false;
  };
  const Rank& rank(int number) const { return ranks_[number]; }

 private:
  double end_of(int window) const { return begin_ + elapsed_ * window / windows_; }

  double begin_, elapsed_;
  int windows_;
  std::vector<Rank> ranks_;
};

/// Observes a replay of the same run on a perfect interconnect.
class WindowTimes : public Observer<1> {
 public:
  /// `marks`: after its replay.
  WindowTimes(const TraceDefinitions& trace, const WindowMarks& marks);

  void begin() override;
  void call(int timeline, const Call& call, const Block& block, const Lanes<1>& clock_before,
            double recorded_before, const Lanes<1>& enter, const Lanes<1>& leave) override;

  /// At a mark, seconds since the rank's start.
  struct Reached {
    double time;
    double compute;  ///< of this time
  };
  const std::vector<Reached>& rank(int number) const { return ranks_[number].reached; }

 private:
  struct Rank {
    std::vector<Reached> reached;
    double start = 0;    ///< ticks
    double compute = 0;  ///< likewise
    uint64_t calls = 0;
  };

  const WindowMarks* marks_;
  double ticks_per_second_;
  std::vector<Rank> ranks_;
};

/// The efficiencies of one window.
struct WindowEfficiency {
  double begin = 0;  ///< seconds since the start of the run
  double end = 0;
  double load_balance = 1;
  double serialisation = 1;
  double transfer = 1;
  int busiest = -1;  ///< the rank that computes longest; -1: none does

  double parallel() const { return load_balance * serialisation * transfer; }
};

/// `run`, `perfect`: the scenarios of both replays, `perfect` without deadlock and threads. Joins
/// `together` windows at a time, a divisor of their number.
std::vector<WindowEfficiency> window_efficiencies(const WindowMarks& marks,
                                                  const WindowTimes& times,
                                                  const ScenarioResult& run,
                                                  const ScenarioResult& perfect, int together = 1);

/// The same in many windows, and in fewer for a table.
struct EfficienciesOverTime {
  static constexpr int kFine = 100, kCoarse = 20;
  std::vector<WindowEfficiency> fine, coarse;  ///< empty where they are not defined
};

}  // namespace rubato
