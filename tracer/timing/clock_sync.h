#pragma once

#include <vector>

#include "tracer/layout/clock_model.h"
#include "tracer/mpi/pmpi.h"

namespace rubato {
inline namespace tracing {

/// The clocks of a job, measured against each other by messages.
///
/// Ranks of one node share a clock, so one rank of each node (its leader) measures and sends the
/// result to the others. The leaders form a binomial tree with rank 0 on top.
class ClockSync {
 public:
  /// Groups the ranks that share a clock: the ranks of a node, or (`per_rank`) each rank alone.
  /// Collective over `comm`, which holds all ranks.
  void start(MPI_Comm comm, bool per_rank);
  /// The ranks that read this rank's clock, itself among them.
  MPI_Comm sharers() const { return sharers_; }
  void finish();

  /// All ranks share one clock: there is nothing to measure.
  bool one_clock() const { return clocks_ == 1; }

  /// Measures each clock against its parent's, once: a millisecond, and never much longer than
  /// `seconds`. Collective over the same communicator.
  void measure(double seconds);

  /// The measurements of this rank's clock so far; empty on the reference clock.
  const std::vector<ClockSample>& samples() const { return samples_; }
  /// A rank that reads the clock those were measured against; -1 on the reference clock.
  int parent() const { return parent_; }

  /// The model of this rank's clock from all measurements. Collective.
  ClockModel model() const;

 private:
  void answer(int child) const;
  ClockSample ask(int parent, double seconds) const;

  MPI_Comm sharers_{};  ///< the ranks that read this rank's clock; the first is the leader
  MPI_Comm leaders_{};  ///< only on leaders
  bool leader_ = false;
  int place_ = 0;   ///< of this rank among the leaders
  int clocks_ = 1;  ///< that there are
  int parent_ = -1;
  std::vector<ClockSample> samples_;
};

}  // namespace tracing
}  // namespace rubato
