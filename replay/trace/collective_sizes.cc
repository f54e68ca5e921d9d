#include "replay/trace/collective_sizes.h"

#include <algorithm>

namespace rubato {
namespace {

/// `total` over all members, or over the others where MPI_IN_PLACE left one share out.
double share(uint64_t total, int members) {
  const auto n = static_cast<uint64_t>(members);
  if (n > 1 && total % n != 0 && total % (n - 1) == 0)
    return static_cast<double>(total) / (members - 1);
  return static_cast<double>(total) / members;
}

}  // namespace

double payload_bytes(const TraceDefinitions& trace, const Action& action, int me) {
  const uint64_t sent = action.collective.sent, received = action.collective.received;
  const uint64_t larger = std::max(sent, received);
  if (trace.sizes == SizeConvention::kPerRank) return static_cast<double>(larger);
  const int members = trace.comms[action.comm].peers(me);
  switch (action.op) {
    case CollectiveOp::kBarrier:
    case CollectiveOp::kCreateHandle:
    case CollectiveOp::kDestroyHandle:
      return 0;
    // The root of these counts its own share (in place: none) beside the sum over members.
    case CollectiveOp::kBcast:
    case CollectiveOp::kScatter:
    case CollectiveOp::kScatterv:
      return received > 0 ? static_cast<double>(received) : share(sent, members);
    case CollectiveOp::kReduce:
    case CollectiveOp::kGather:
    case CollectiveOp::kGatherv:
      return sent > 0 ? static_cast<double>(sent) : share(received, members);
    // (N - me) vectors are said to leave, me + 1 to arrive.
    case CollectiveOp::kScan:
      return static_cast<double>(sent) / std::max(1, members - me);
    case CollectiveOp::kExscan:
      return members - me > 1 ? static_cast<double>(sent) / (members - me - 1)
                              : static_cast<double>(received) / std::max(1, me);
    case CollectiveOp::kReduceScatter:
      return share(sent, members);
    default:
      return share(larger, members);
  }
}

}  // namespace rubato
