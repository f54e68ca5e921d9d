#pragma once

#include <mpi.h>

#include <functional>

#include "calibrate/clock/clock.h"
#include "calibrate/clock/linear_clock.h"

namespace rubato {

/// The seconds that a rank reads, or sends as its answer.
using ClockSource = std::function<double()>;

/// Compares clocks with `peer` of `comm`, which calls answer_clock() meanwhile.
ClockPoint ask_clock(MPI_Comm comm, int peer, const ClockSource& own);
void answer_clock(MPI_Comm comm, int peer, const ClockSource& time);

/// A clock that all ranks of a communicator share, to a fraction of a message's latency. The
/// reference is that of rank 0.
class GlobalClock {
 public:
  /// Measures the clocks by `method`: a third of a second, or per level of its tree. Collective.
  /// Ranks of one node read the same from `source`; with `per_rank` each has a clock of its own.
  explicit GlobalClock(MPI_Comm comm, ClockMethod method = ClockMethod::kHca3,
                       ClockSource source = rubato::now, bool per_rank = false);
  ~GlobalClock();
  GlobalClock(const GlobalClock&) = delete;
  GlobalClock& operator=(const GlobalClock&) = delete;

  /// True if all ranks share one clock: nothing had to be measured.
  bool one_clock() const { return clocks_ == 1; }

  double now() const { return source_(); }
  /// Time of the reference clock when the own clock shows `own`.
  double global(double own) const { return line_.reference(own); }
  double own(double global) const { return line_.own(global); }

  /// Measures the offsets anew and keeps the drifts. Collective; a millisecond.
  void adjust();

 private:
  bool by_root() const { return method_ == ClockMethod::kJk || method_ == ClockMethod::kHca; }
  LinearClock learn(int peer, int points) const;
  void with_root(int points);
  void bottom_up();
  void top_down(int points);
  void share();

  ClockMethod method_;
  ClockSource source_;
  MPI_Comm sharers_ = MPI_COMM_NULL;  ///< the ranks that read this clock; the first is the leader
  MPI_Comm leaders_ = MPI_COMM_NULL;  ///< only on leaders
  bool leader_ = false;
  int place_ = 0;  ///< among the leaders
  int clocks_ = 1;
  LinearClock line_;
};

}  // namespace rubato
