#include "replay/trace/collective_sizes.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

/// `total` over all members, or over the others where MPI_IN_PLACE excludes one share.
double share(uint64_t total, int members) {
  const auto n = static_cast<uint64_t>(members);
  if (n > 1 && total % n != 0 && total % (n - 1) == 0)
    return static_cast<double>(total) / (members - 1);
  return static_cast<double>(total) / members;
}

/// True if `total` can be divided evenly by the number of other members, but not of all members.
bool is_of_others(uint64_t total, uint64_t n) {
  return total % n != 0 && total % (n - 1) == 0;
}

}  // namespace

CollectiveBytes whole_bytes(const TraceDefinitions& trace, CollectiveOp op, uint32_t comm,
                            int32_t root, int me, CollectiveBytes bytes, bool in_place) {
  const Communicator& members = trace.comms[comm];
  if (trace.sizes != SizeConvention::kLogical || members.first_group > 0 || members.size() <= 1)
    return bytes;
  const auto n = static_cast<uint64_t>(members.size());
  const auto rank = static_cast<uint64_t>(me);
  auto& [sent, received] = bytes;
  switch (op) {
    case CollectiveOp::kAllreduce:
    case CollectiveOp::kAllgather:
    case CollectiveOp::kAlltoall:
    case CollectiveOp::kReduceScatterBlock:
      if (in_place || (is_of_others(sent, n) && is_of_others(received, n)))
        return {sent / (n - 1) * n, received / (n - 1) * n};
      break;
    case CollectiveOp::kAllgatherv:
      if (in_place || is_of_others(sent, n)) return {sent / (n - 1) * n, received + sent / (n - 1)};
      break;
    case CollectiveOp::kReduceScatter:
      if (in_place || is_of_others(received, n))
        return {sent + received / (n - 1), received / (n - 1) * n};
      break;
    case CollectiveOp::kScan: {
      // (n - me) vectors leave and me + 1 arrive; in place (n - me - 1) and me.
      const bool fits = sent * (rank + 1) == received * (n - rank);
      if (in_place || (!fits && sent * rank == received * (n - rank - 1))) {
        const uint64_t vector = (sent + received) / (n - 1);
        return {sent + vector, received + vector};
      }
      break;
    }
    case CollectiveOp::kReduce:
    case CollectiveOp::kGather:
      if (me == root && sent == 0 && received % (n - 1) == 0)
        return {received / (n - 1), received / (n - 1) * n};
      break;
    case CollectiveOp::kScatter:
      if (me == root && received == 0 && sent % (n - 1) == 0)
        return {sent / (n - 1) * n, sent / (n - 1)};
      break;
    default:
      break;
  }
  return bytes;
}

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
    // (N - me) vectors are recorded as sent, me + 1 as received.
    case CollectiveOp::kScan:
      return static_cast<double>(sent) / std::max(1, members - me);
    case CollectiveOp::kExscan:
      return members - me > 1 ? static_cast<double>(sent) / (members - me - 1)
                              : static_cast<double>(received) / std::max(1, me);
    case CollectiveOp::kReduceScatter:  // (whole_bytes() has corrected in-place calls)
      return static_cast<double>(sent) / members;
    default:
      return share(larger, members);
  }
}

std::optional<OwnPart> own_part(const TraceDefinitions& trace, const Action& action) {
  const Communicator& comm = trace.comms[action.comm];
  if (trace.sizes != SizeConvention::kLogical || comm.first_group > 0 || comm.size() <= 1)
    return {};
  const double sent = static_cast<double>(action.collective.sent) / comm.size();
  const double received = static_cast<double>(action.collective.received) / comm.size();
  if (action.op == CollectiveOp::kAllgatherv) return OwnPart{sent, received};
  if (action.op == CollectiveOp::kReduceScatter) return OwnPart{received, sent};
  return {};
}

double priced_bytes(const TraceDefinitions& trace, const Action& action, int me) {
  const Communicator& comm = trace.comms[action.comm];
  if (const auto part = own_part(trace, action))
    return std::max(comm.size() * part->mean - part->own, part->own) / (comm.size() - 1);
  if (trace.sizes == SizeConvention::kLogical && comm.first_group == 0 && comm.size() > 1) {
    const auto sent = static_cast<double>(action.collective.sent);
    const bool has_each_part = action.flags & kHasParts;
    const bool collects_or_spreads =
        action.op == CollectiveOp::kGatherv || action.op == CollectiveOp::kScatterv;
    if (collects_or_spreads && action.collective.root == me && !has_each_part)
      return std::abs(static_cast<double>(action.collective.received) - sent) / (comm.size() - 1);
    const bool to_each =
        action.op == CollectiveOp::kAlltoallv || action.op == CollectiveOp::kAlltoallw;
    if (to_each && !has_each_part) {
      // A member that gives or gets nothing has nothing for itself. A wait has no parts, and what
      // the member has for itself is unknown if they differ: taken as nothing.
      const auto received = static_cast<double>(action.collective.received);
      const bool is_wait = action.kind == ActionKind::kWaitCollective;
      if (is_wait ? sent != received : std::min(sent, received) == 0)
        return std::max(sent, received) / (comm.size() - 1);
    }
    if (has_each_part) {
      double others = 0;
      auto at = uint64_t{0};
      const auto self = static_cast<uint64_t>(me);
      for_each_part(action, [&](const Part& part) {
        const bool holds_self = self >= at && self < at + part.members;
        others += static_cast<double>(part.bytes * (part.members - (holds_self ? 1 : 0)));
        at += part.members;
      });
      const bool to_all = action.op != CollectiveOp::kScatterv;
      const double own = sent - others;
      const double received =
          to_all ? static_cast<double>(action.collective.received) - std::max(own, 0.0) : 0;
      return std::max(others, received) / (comm.size() - 1);
    }
  }
  return payload_bytes(trace, action, me);
}

}  // namespace rubato
