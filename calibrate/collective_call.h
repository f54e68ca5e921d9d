#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/pair.h"
#include "models/cost/collectives.h"

namespace rubato {

/// The collectives that are measured: those of ReproMPI, with the block form of none.
const std::vector<CollectiveOp>& measured_collectives();

/// One collective operation with its arguments, ready to be called again and again.
class CollectiveCall {
 public:
  /// `bytes` is the payload as platform files count it: what one member gives to or gets from each
  /// other one; for broadcasts and the reductions to one result, the whole vector; nothing for a
  /// barrier. Reductions add doubles, so theirs are whole numbers of them (rounded down). The root
  /// is rank 0, the v-forms have equal parts.
  CollectiveCall(MPI_Comm comm, CollectiveOp op, size_t bytes);

  void operator()();

  /// Memory that a call needs on a rank, for both of its buffers.
  static size_t memory(CollectiveOp op, int members, size_t bytes);

 private:
  MPI_Comm comm_;
  CollectiveOp op_;
  int count_;  ///< bytes, or doubles for reductions
  std::vector<int> counts_, offsets_;
  Buffer send_, receive_;
};

}  // namespace rubato
