#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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
  kDestroyHandle,  ///< MPI_Finalize; freeing a communicator does not wait and is no collective
};
/// Number of operations in platform files: all but the two for handles.
inline constexpr int kCollectiveOps = 17;
/// Names in platform files and reports.
inline constexpr std::array<const char*, kCollectiveOps> kCollectiveNames = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};

/// The same; for handles "create_handle" and "destroy_handle".
std::string name_of(CollectiveOp op);
std::optional<CollectiveOp> collective_named(const std::string& name);

/// Which members wait for which.
enum class Synchronisation : uint8_t {
  kAllToAll,  ///< all members wait for the last
  kOneToAll,  ///< all members wait for the root
  kAllToOne,  ///< the root waits for the last
  kPrefix,    ///< rank i waits for the ranks below it
};

/// The least synchronisation that the semantics of the operation demand.
Synchronisation synchronisation(CollectiveOp op);

/// True if one member sends to, or receives from, all others.
inline bool is_rooted(CollectiveOp op) {
  return synchronisation(op) == Synchronisation::kOneToAll ||
         synchronisation(op) == Synchronisation::kAllToOne;
}

}  // namespace rubato
