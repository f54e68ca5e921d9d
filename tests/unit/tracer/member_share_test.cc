#include "tracer/report/member_share.h"

#include <otf2/otf2.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "replay/observe/collective_share.h"
#include "replay/trace/collective_sizes.h"

using namespace rubato;

namespace {

struct Operation {
  unsigned recorded;
  CollectiveOp op;
  /// The record of one member (of n, its rank, the root or not, bytes of a block, in place).
  CollectiveBytes (*bytes)(uint64_t n, uint64_t me, bool root, uint64_t b, uint64_t in_place);
};

CollectiveBytes all(uint64_t n, uint64_t, bool, uint64_t b, uint64_t in_place) {
  return {(n - in_place) * b, (n - in_place) * b};
}
/// Score-P's logical bytes (tracer/hooks/collective_sizes.h).
const Operation kOperations[] = {
    {OTF2_COLLECTIVE_OP_ALLREDUCE, CollectiveOp::kAllreduce, all},
    {OTF2_COLLECTIVE_OP_ALLGATHER, CollectiveOp::kAllgather, all},
    {OTF2_COLLECTIVE_OP_ALLTOALL, CollectiveOp::kAlltoall, all},
    {OTF2_COLLECTIVE_OP_ALLTOALLV, CollectiveOp::kAlltoallv, all},
    {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, CollectiveOp::kReduceScatterBlock, all},
    {OTF2_COLLECTIVE_OP_BCAST, CollectiveOp::kBcast,
     [](uint64_t n, uint64_t, bool root, uint64_t b, uint64_t) {
       return CollectiveBytes{root ? n * b : 0, b};
     }},
    {OTF2_COLLECTIVE_OP_SCATTER, CollectiveOp::kScatter,
     [](uint64_t n, uint64_t, bool root, uint64_t b, uint64_t in_place) {
       return CollectiveBytes{root ? (n - in_place) * b : 0, in_place != 0 ? 0 : b};
     }},
    {OTF2_COLLECTIVE_OP_GATHER, CollectiveOp::kGather,
     [](uint64_t n, uint64_t, bool root, uint64_t b, uint64_t in_place) {
       return CollectiveBytes{in_place != 0 ? 0 : b, root ? (n - in_place) * b : 0};
     }},
    {OTF2_COLLECTIVE_OP_REDUCE, CollectiveOp::kReduce,
     [](uint64_t n, uint64_t, bool root, uint64_t b, uint64_t in_place) {
       return CollectiveBytes{in_place != 0 ? 0 : b, root ? (n - in_place) * b : 0};
     }},
    {OTF2_COLLECTIVE_OP_SCAN, CollectiveOp::kScan,
     [](uint64_t n, uint64_t me, bool, uint64_t b, uint64_t in_place) {
       return CollectiveBytes{(n - me - in_place) * b, (me + 1 - in_place) * b};
     }},
    {OTF2_COLLECTIVE_OP_EXSCAN, CollectiveOp::kExscan,
     [](uint64_t n, uint64_t me, bool, uint64_t b, uint64_t) {
       return CollectiveBytes{(n - me - 1) * b, me * b};
     }},
};

}  // namespace

TEST_CASE("a member's share is that of the replay, which reads the same record") {
  int compared = 0;
  for (const Operation& operation : kOperations) {
    for (int n = 1; n <= 6; ++n) {
      TraceDefinitions trace;
      trace.sizes = SizeConvention::kLogical;
      trace.comms.resize(1);
      std::vector<int32_t> members(static_cast<size_t>(n));
      std::iota(members.begin(), members.end(), 0);
      trace.comms[0].set_members(members);
      for (int me = 0; me < n; ++me) {
        for (const int root : {0, n - 1}) {
          for (const bool in_place : {false, true}) {
            const WaitsFor kind = waits_for(operation.recorded);
            const bool rooted = kind == WaitsFor::kRoot || kind == WaitsFor::kAllAtRoot;
            const bool may = operation.op != CollectiveOp::kBcast &&
                             operation.op != CollectiveOp::kExscan && (!rooted || me == root);
            if (in_place && !may) continue;
            const auto [sent, received] =
                operation.bytes(static_cast<uint64_t>(n), static_cast<uint64_t>(me), me == root, 24,
                                in_place ? 1 : 0);
            if (sent + received == 0) continue;
            const int32_t theirs = rooted ? root : kNoRoot;
            Action action;
            action.op = operation.op;
            const CollectiveBytes whole =
                whole_bytes(trace, operation.op, 0, theirs, me, {sent, received}, in_place);
            action.collective = {
                .root = theirs, .order = 0, .sent = whole.sent, .received = whole.received};
            const CollectiveShare expected = collective_share(trace, action, me);
            const MemberShare share = member_share(
                {operation.recorded, in_place, true,
                 rooted ? static_cast<uint32_t>(root) : OTF2_COLLECTIVE_ROOT_NONE, sent, received},
                {me, n, false});
            INFO(name_of(operation.op) << " of " << n << ", rank " << me << ", root " << root
                                       << (in_place ? ", in place" : ""));
            CHECK(share.sends == expected.sends);
            CHECK(share.receives == expected.receives);
            CHECK(share.sent == expected.bytes_sent);
            CHECK(share.received == expected.bytes_received);
            CHECK(share.size == expected.size);
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 400);
}

TEST_CASE("what moves nothing is neither a send nor a receive") {
  const Membership member{1, 4, false};
  const auto none = [&](const RecordedCollective& c) {
    const MemberShare share = member_share(c, member);
    return !share.sends && !share.receives;
  };
  CHECK(none({OTF2_COLLECTIVE_OP_BARRIER, false, true, OTF2_COLLECTIVE_ROOT_NONE, 0, 0}));
  CHECK(none({OTF2_COLLECTIVE_OP_CREATE_HANDLE, false, true, OTF2_COLLECTIVE_ROOT_NONE, 0, 0}));
  CHECK(none({OTF2_COLLECTIVE_OP_ALLREDUCE, false, true, OTF2_COLLECTIVE_ROOT_NONE, 0, 0}));
  CHECK(none({OTF2_COLLECTIVE_OP_GATHERV, false, true, 0, 0, 0}));
  // Of a group that only looks on.
  CHECK(
      !member_share({OTF2_COLLECTIVE_OP_BCAST, false, true, OTF2_COLLECTIVE_ROOT_THIS_GROUP, 0, 0},
                    {1, 4, true})
           .sends);
  // The root of an intercommunicator sends its 8 bytes once.
  const MemberShare root = member_share(
      {OTF2_COLLECTIVE_OP_BCAST, false, true, OTF2_COLLECTIVE_ROOT_SELF, 32, 0}, {1, 4, true});
  CHECK(root.sends);
  CHECK(root.sent == 8);
}
