#pragma once

#include <cstdint>
#include <functional>

namespace rubato {

/// The collective operations, by what they synchronise and move; OTF2's names.
enum class CollectiveOp : uint8_t {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kAllreduce,
  kReduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kCreateHandle,   ///< a communicator is made: a small allgather on its parent
  kDestroyHandle,  ///< MPI_Finalize; freeing a communicator waits for nobody and is none
};

/// Who waits for whom: the least that the semantics of the operation demand.
enum class Synchronisation : uint8_t {
  kAllToAll,  ///< everybody for the last
  kOneToAll,  ///< everybody for the root
  kAllToOne,  ///< the root for the last
  kPrefix,    ///< rank i for the ranks below it
};

Synchronisation synchronisation(CollectiveOp op);

/// What a round of an algorithm costs: seconds to move `bytes` from one member to another,
/// overheads included, and seconds to combine `bytes` with `bytes`.
struct RoundCost {
  std::function<double(double)> move;
  std::function<double(double)> combine;
};

/// Seconds from the moment everybody needed is there until a member that waits has its result, for
/// p members and `bytes` of payload per member (what one member contributes to or gets from each
/// other; the whole vector for Bcast and reductions). Counts the rounds of the algorithms of
/// Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH"
/// (2005), with MPICH's sizes for changing from the short to the long one, each round at the price
/// of a message of its size. 0 for one member.
double collective_seconds(CollectiveOp op, int p, double bytes, const RoundCost& cost);

/// Messages that a member which waits for nobody (the root of a one-to-all, a leaf of an
/// all-to-one) has to send before it can leave.
int departing_messages(CollectiveOp op, int p, bool is_root);

}  // namespace rubato
