#include "models/collective/collectives.h"

#include <algorithm>

namespace rubato {
std::optional<CollectiveOp> collective_named(const std::string& name) {
  const auto found = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), name);
  if (found == kCollectiveNames.end()) return std::nullopt;
  return static_cast<CollectiveOp>(found - kCollectiveNames.begin());
}

std::string name_of(CollectiveOp op) {
  if (op == CollectiveOp::kCreateHandle) return "create_handle";
  if (op == CollectiveOp::kDestroyHandle) return "destroy_handle";
  return kCollectiveNames[static_cast<size_t>(op)];
}

Synchronisation synchronisation(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kBcast:
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return Synchronisation::kOneToAll;
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
    case CollectiveOp::kReduce:
      return Synchronisation::kAllToOne;
    case CollectiveOp::kScan:
    case CollectiveOp::kExscan:
      return Synchronisation::kPrefix;
    case CollectiveOp::kBarrier:
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAllgatherv:
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kAlltoallv:
    case CollectiveOp::kAlltoallw:
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kReduceScatter:
    case CollectiveOp::kReduceScatterBlock:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      break;
  }
  return Synchronisation::kAllToAll;
}

}  // namespace rubato
