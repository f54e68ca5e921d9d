// Collectives with MPI_IN_PLACE, whose records leave the own part out. N = 4, b = 24 bytes.

#include <catch2/catch.hpp>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "replay/trace/collective_sizes.h"
#include "tests/unit/ends.h"

using namespace rubato;

namespace {

TraceDefinitions four_ranks() {
  return parse_text_trace("nodes 0 1 2 3\n0: 0 end\n1: 0 end\n2: 0 end\n3: 0 end\n")->definitions();
}

void check_whole(CollectiveOp op, int root, int me, CollectiveBytes recorded, bool said,
                 CollectiveBytes whole) {
  INFO(name_of(op) << ", member " << me);
  const TraceDefinitions trace = four_ranks();
  const CollectiveBytes found = whole_bytes(trace, op, 0, root, me, recorded, said);
  CHECK(found.sent == whole.sent);
  CHECK(found.received == whole.received);
}

}  // namespace

TEST_CASE("in place: incomplete sizes of the archive are completed") {
  for (const CollectiveOp op : {CollectiveOp::kAllreduce, CollectiveOp::kAllgather,
                                CollectiveOp::kAlltoall, CollectiveOp::kReduceScatterBlock})
    check_whole(op, -1, 1, {72, 72}, true, {96, 96});
  // Member 1 gives 8 of 4 + 8 + 12 + 16 = 40: 8 to each of the three others, 32 from them.
  check_whole(CollectiveOp::kAllgatherv, -1, 1, {24, 32}, true, {32, 40});
  check_whole(CollectiveOp::kReduceScatter, -1, 1, {32, 24}, true, {40, 32});
  // Member 1 of a scan: to the 2 above it and itself, from the one below it and itself.
  check_whole(CollectiveOp::kScan, -1, 1, {48, 24}, true, {72, 48});
  // The own part of these is not known.
  check_whole(CollectiveOp::kAlltoallv, -1, 1, {72, 72}, true, {72, 72});
}

TEST_CASE("in place: recognised by the bytes where possible") {
  check_whole(CollectiveOp::kReduce, 2, 2, {0, 72}, false, {24, 96});
  check_whole(CollectiveOp::kGather, 2, 2, {0, 72}, false, {24, 96});
  check_whole(CollectiveOp::kScatter, 2, 2, {72, 0}, false, {96, 24});
  // Others than the root say nothing of it.
  check_whole(CollectiveOp::kReduce, 2, 1, {24, 0}, false, {24, 0});
  // The last member of a scan sends only to itself.
  check_whole(CollectiveOp::kScan, -1, 3, {0, 72}, false, {24, 96});
  check_whole(CollectiveOp::kScan, -1, 1, {72, 48}, false, {72, 48});
  // 30 is three times 10, but not a multiple of 4; 72 is a multiple of 3 and 4.
  check_whole(CollectiveOp::kAllreduce, -1, 0, {30, 30}, false, {40, 40});
  check_whole(CollectiveOp::kAllreduce, -1, 0, {72, 72}, false, {72, 72});
}

TEST_CASE("in place: a collective costs the same as with a separate buffer") {
  // Two ranks exchange 1 MB at 1 B/ns, in one round: 1 ms.
  const auto time = [](const std::string& call) {
    const std::string text = "nodes 0 1\n0: 0..10 " + call + "\n1: 0..10 " + call + "\n";
    const auto source = parse_text_trace(text);
    const auto machine =
        parse_scenario("bandela:latency=0us,bandwidth=1GB/s,allreduce=recursive_doubling");
    return ends_of(run_replay(*source, {machine}, {}).scenarios[0]);
  };
  check(time("allreduce 2000000B 2000000B"), {1e6, 1e6});
  check(time("allreduce 1000000B 1000000B in_place"), {1e6, 1e6});
  check(time("allgather 1000000B 1000000B in_place"), {1e6, 1e6});
  check(time("alltoall 1000000B 1000000B in_place"), {1e6, 1e6});
}
