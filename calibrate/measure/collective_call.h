#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/measure/pair.h"
#include "models/collective/collectives.h"

namespace rubato {

/// The measured collectives: ReproMPI's, without block forms.
const std::vector<CollectiveOp>& measured_collectives();

/// One collective operation with its arguments, ready to be called again and again.
class CollectiveCall {
 public:
  /// `bytes` is the payload as platform files count it: the part that one member sends to, or gets
  /// from, each other; the whole vector for broadcasts and reductions to one result; nothing for a
  /// barrier. Reductions add doubles, so their payload is rounded down to whole doubles. The root
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
