#pragma once

#include <mpi.h>

#include <array>
#include <functional>

#include "calibrate/linear_clock.h"

namespace rubato {

/// Methods of synchronising the clocks of a job; global_clock.cc explains them.
enum class ClockMethod { kJonesKoenig, kHca, kHca2, kHca3 };
inline constexpr std::array<const char*, 4> kClockMethodNames = {"jk", "hca", "hca2", "hca3"};

/// Seconds of the system clock that ranks of one node share.
double monotonic_seconds();

/// A clock that all ranks of a communicator share, to a fraction of a message's latency. The
/// reference is that of rank 0.
class GlobalClock {
 public:
  /// Seconds that a rank reads; ranks of one node read the same.
  using Source = std::function<double()>;

  /// Measures the clocks: a third of a second per round of the method. Collective. With `per_rank`,
  /// ranks of one node count as having a clock each.
  GlobalClock(MPI_Comm comm, ClockMethod method, Source source = monotonic_seconds,
              bool per_rank = false);
  ~GlobalClock();
  GlobalClock(const GlobalClock&) = delete;
  GlobalClock& operator=(const GlobalClock&) = delete;

  /// All ranks share one clock: nothing had to be measured.
  bool one_clock() const { return clocks_ == 1; }

  double now() const { return source_(); }
  /// Time of the reference clock when the own clock shows this.
  double global(double own) const { return line_.reference(own); }
  double own(double global) const { return line_.own(global); }

  /// Measures the offsets anew and keeps the drifts. Collective; a millisecond.
  void adjust();

 private:
  ClockPoint ask(int parent) const;
  void answer(int child, bool in_global_time) const;
  LinearClock learn(int parent) const;
  void teach(int child, bool in_global_time) const;
  void jones_koenig();
  void bottom_up(bool measure_intercepts);
  void top_down();
  void share();

  Source source_;
  MPI_Comm sharers_ = MPI_COMM_NULL;  ///< the ranks that read this clock; the first is the leader
  MPI_Comm leaders_ = MPI_COMM_NULL;  ///< only on leaders
  bool leader_ = false;
  int place_ = 0;  ///< among the leaders
  int clocks_ = 1;
  LinearClock line_;
};

}  // namespace rubato
