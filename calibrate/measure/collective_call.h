#pragma once

#include <mpi.h>

#include <vector>

#include "calibrate/clock/message_memory.h"
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
  /// is rank 0, the v-forms have equal parts. With `cold_bytes`, each call takes the next place in
  /// buffers of that size, so that its data are in no cache.
  CollectiveCall(MPI_Comm comm, CollectiveOp op, size_t bytes, size_t cold_bytes = 0);

  void operator()();

  /// Memory that a call needs on a rank, for both of its buffers.
  static size_t memory(CollectiveOp op, int members, size_t bytes);

 private:
  MPI_Comm comm_;
  CollectiveOp op_;
  int count_;  ///< bytes, or doubles for reductions
  std::vector<int> counts_, offsets_;
  size_t used_;  ///< bytes of each buffer that a call takes
  Buffer send_, receive_;
  MemoryWalk walk_;
};

}  // namespace rubato
