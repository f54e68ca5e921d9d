#pragma once

#include <cstdint>

#include "tracer/clock_offset.h"
#include "tracer/pmpi.h"

namespace rubato {

/// Ranks of one node share a clock, so one rank of each node (its leader) measures against rank 0
/// and tells the others. The offset is taken from the round trip that was the shortest of many:
/// whatever delays a message can only make a round trip longer, so the shortest one is the most
/// symmetric.
class NodeClocks {
 public:
  /// Finds out who shares a node. Collective over `comm`, which holds all ranks.
  void start(MPI_Comm comm);
  /// The offset of this rank's node now. Collective over the same communicator.
  ClockOffset measure() const;
  void finish();

  bool one_node() const { return one_node_; }

 private:
  MPI_Comm comm_{};
  MPI_Comm node_{};
  int rank_ = 0;
  int size_ = 1;
  int leader_ = 0;  ///< of this rank's node
  bool one_node_ = true;
};

}  // namespace rubato
