#include "replay/observe/collective_share.h"

#include "replay/trace/collective_sizes.h"

namespace rubato {
namespace {

/// True where the buffer has a part for each member, and EZTrace records one part.
bool is_regular(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kGather:
    case CollectiveOp::kScatter:
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kReduceScatterBlock:
      return true;
    default:
      return false;
  }
}

}  // namespace

CollectiveShare collective_share(const TraceDefinitions& trace, const Action& action, int me) {
  const CollectiveOp op = action.op;
  const bool moves = op != CollectiveOp::kBarrier && op != CollectiveOp::kCreateHandle &&
                     op != CollectiveOp::kDestroyHandle;
  if (!moves || action.flags & kNoPart || action.collective.root == kRootInOwnGroup) return {};
  const auto payload = static_cast<uint64_t>(payload_bytes(trace, action, me));
  uint64_t sent = action.collective.sent, received = action.collective.received;
  if (trace.sizes == SizeConvention::kPerRank && is_regular(op)) {
    const auto members = static_cast<uint64_t>(trace.comms[action.comm].peers(me));
    sent *= members;
    received *= members;
  }
  if (!is_rooted(op)) return {true, true, sent, received, payload};
  const bool is_root = me == action.collective.root;
  // A broadcast or reduction has one vector, whatever the number of members.
  const bool one = op == CollectiveOp::kBcast || op == CollectiveOp::kReduce;
  const bool from_root = synchronisation(op) == Synchronisation::kOneToAll;
  if (from_root == is_root) return {true, false, one || !is_root ? payload : sent, 0, payload};
  return {false, true, 0, one || !is_root ? payload : received, payload};
}

}  // namespace rubato
