#include "tracer/report/member_share.h"

#include <otf2/otf2.h>

#include <algorithm>

namespace rubato {
inline namespace tracing {
namespace {

/// `total` over all members, or over the others.
double part_of(uint64_t total, uint64_t members) {
  const bool of_others = members > 1 && total % members != 0 && total % (members - 1) == 0;
  return static_cast<double>(total) / static_cast<double>(of_others ? members - 1 : members);
}

/// Adds the own part, which the bytes of a call with MPI_IN_PLACE omit.
void add_own_part(RecordedCollective& c, uint64_t n) {
  uint64_t& sent = c.sent;
  uint64_t& received = c.received;
  switch (c.op) {
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
      sent = sent / (n - 1) * n;
      received = received / (n - 1) * n;
      break;
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
      received += sent / (n - 1);
      sent = sent / (n - 1) * n;
      break;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      sent += received / (n - 1);
      received = received / (n - 1) * n;
      break;
    case OTF2_COLLECTIVE_OP_SCAN: {
      const uint64_t vector = (sent + received) / (n - 1);
      sent += vector;
      received += vector;
      break;
    }
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
      sent = received / (n - 1);
      received = sent * n;
      break;
    case OTF2_COLLECTIVE_OP_SCATTER:
      received = sent / (n - 1);
      sent = received * n;
      break;
    default:  // vectors, whose own part is not known
      break;
  }
}

/// MPI libraries do not contact other members if there is no data.
bool returns_at_once_when_empty(unsigned op) {
  switch (op) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
      return true;
    default:
      return false;
  }
}

double payload(const RecordedCollective& c, const Membership& member) {
  const auto n = static_cast<uint64_t>(member.peers);
  switch (c.op) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return c.received > 0 ? static_cast<double>(c.received) : part_of(c.sent, n);
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
      return c.sent > 0 ? static_cast<double>(c.sent) : part_of(c.received, n);
    case OTF2_COLLECTIVE_OP_SCAN:  // n - rank vectors are sent, rank + 1 received
      return static_cast<double>(c.sent) / std::max(1, member.peers - member.rank);
    case OTF2_COLLECTIVE_OP_EXSCAN:
      return member.peers - member.rank > 1
                 ? static_cast<double>(c.sent) / (member.peers - member.rank - 1)
                 : static_cast<double>(c.received) / std::max(1, member.rank);
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      return static_cast<double>(c.sent) / member.peers;
    default:
      return part_of(std::max(c.sent, c.received), n);
  }
}

}  // namespace

WaitsFor waits_for(unsigned op) {
  switch (op) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return WaitsFor::kRoot;
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
      return WaitsFor::kAllAtRoot;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
      return WaitsFor::kLower;
    case OTF2_COLLECTIVE_OP_BARRIER:
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
      return WaitsFor::kAll;
    default:  // communicators made and freed
      return WaitsFor::kNothing;
  }
}

MemberShare member_share(RecordedCollective c, const Membership& member) {
  const WaitsFor kind = waits_for(c.op);
  if (kind == WaitsFor::kNothing || c.op == OTF2_COLLECTIVE_OP_BARRIER ||
      c.root == OTF2_COLLECTIVE_ROOT_THIS_GROUP) {
    return {};
  }
  const bool several = !member.inter && member.peers > 1;
  if (several && c.in_place) add_own_part(c, static_cast<uint64_t>(member.peers));
  const bool empty = c.sent == 0 && c.received == 0;
  if (!member.inter && empty && returns_at_once_when_empty(c.op)) return {};
  const bool is_root = c.root == OTF2_COLLECTIVE_ROOT_SELF ||
                       (!member.inter && c.root == static_cast<uint32_t>(member.rank));
  const bool has_parts = c.op == OTF2_COLLECTIVE_OP_GATHERV || c.op == OTF2_COLLECTIVE_OP_SCATTERV;
  if (several && c.blocking && has_parts && !is_root && empty) return {};

  const auto size = static_cast<uint64_t>(payload(c, member));
  if (kind != WaitsFor::kRoot && kind != WaitsFor::kAllAtRoot)
    return {true, true, c.sent, c.received, size};
  const bool sends = (kind == WaitsFor::kRoot) == is_root;
  // A broadcast or reduction has one vector, whatever the number of members.
  const bool one = c.op == OTF2_COLLECTIVE_OP_BCAST || c.op == OTF2_COLLECTIVE_OP_REDUCE;
  const uint64_t bytes = one || !is_root ? size : (sends ? c.sent : c.received);
  if (sends) return {true, false, bytes, 0, size};
  return {false, true, 0, bytes, size};
}

}  // namespace tracing
}  // namespace rubato
