// Collectives among neighbours, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

/// Ranks 0 - 1 - 2 in a line.
const std::string kLine = R"(
    neighbours 0 0 from 1 to 1
    neighbours 0 1 from 0 2 to 0 2
    neighbours 0 2 from 1 to 1
)";

/// Ends on a scenario, in ns; `measured` has to give the recording back, and nothing is kept.
std::vector<double> ends(const std::string& text, const std::string& scenario = "perfect") {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  const Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario(scenario)}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  std::vector<double> ns;
  for (const RankResult& rank : results.scenarios[1].ranks)
    ns.push_back(std::round(rank.end * 1e12) / 1e3);
  return ns;
}

using Ends = std::vector<double>;

}  // namespace

// Rank 0 waits for rank 1, which comes at 50, and not for rank 2, which comes at 500; rank 1 does.
TEST_CASE("a rank waits for its neighbours only") {
  const std::string text = kLine + R"(
    0: 0..60 neighbor_alltoall 8B 8B
    0: 60 end
    1: 50..505 neighbor_alltoall 16B 16B
    1: 505 end
    2: 500..510 neighbor_alltoall 8B 8B
    2: 510 end
  )";
  CHECK(ends(text) == Ends{50, 500, 500});
  // A message of 8 bytes takes 1008: from rank 1 at 50, from rank 2 at 500.
  CHECK(ends(text, "bandela:latency=1us,bandwidth=1GB/s") == Ends{1058, 1508, 1058});
}

// Two under way at once on one communicator: the waits leave when the neighbours have started the
// same one, the first at 50 (rank 1) and 500 (rank 2), the second at 300 and 700.
TEST_CASE("nonblocking: the wait ends when the neighbours have started") {
  const std::string text = kLine + R"(
    0: 0..0 ineighbor_alltoall 8B 8B req 1
    0: 0..0 ineighbor_alltoall 8B 8B req 2
    0: 10..60 wait 1
    0: 70..310 wait 2
    0: 310 end
    1: 50..50 ineighbor_allgather 16B 16B req 1
    1: 300..300 ineighbor_allgather 16B 16B req 2
    1: 310..710 waitall 2 1
    1: 710 end
    2: 500..500 ineighbor_alltoall 8B 8B req 1
    2: 700..700 ineighbor_alltoall 8B 8B req 2
    2: 700..710 waitall 1 2
    2: 710 end
  )";
  // Rank 0: 50, 10 of compute, 300.
  CHECK(ends(text) == Ends{300, 700, 700});
}

// Rank 1 gets 8 bytes from rank 0 and 24 from rank 2, recorded as 32 in total; the senders have the
// exact sizes: the larger message arrives at 500 + 1024.
TEST_CASE("messages between neighbours have the sender's length") {
  CHECK(ends(kLine + R"(
    0: 0..60 neighbor_alltoallv 8B 8B
    0: 60 end
    1: 50..505 neighbor_alltoallv 16B 32B
    1: 505 end
    2: 500..510 neighbor_alltoallv 24B 8B
    2: 510 end
  )",
             "bandela:latency=1us,bandwidth=1GB/s") == Ends{1058, 1524, 1058});
}

// The program's own message of 8 bytes from rank 0 to rank 1 is on its way while both are in the
// collective; rank 1 takes it afterwards.
TEST_CASE("messages between neighbours do not match those of the program") {
  CHECK(ends(kLine + R"(
    0: 0..5 send 1 8B
    0: 5..60 neighbor_alltoall 8B 8B
    0: 60 end
    1: 50..505 neighbor_alltoall 16B 16B
    1: 505..506 recv 0 8B
    1: 506 end
    2: 500..510 neighbor_alltoall 8B 8B
    2: 510 end
  )") == Ends{50, 500, 500});
}

TEST_CASE("a rank without neighbours does not wait") {
  CHECK(ends(R"(
    neighbours 0 0 from to
    neighbours 0 1 from 2 to 2
    neighbours 0 2 from 1 to 1
    0: 0..60 neighbor_alltoall 0B 0B
    0: 70..72 ineighbor_alltoall 0B 0B req 1
    0: 80..90 wait 1
    0: 90 end
    1: 50..505 neighbor_alltoall 8B 8B
    1: 505 end
    2: 500..510 neighbor_alltoall 8B 8B
    2: 510 end
  )") == Ends{18, 500, 500});
}

TEST_CASE("without recorded neighbours, the call keeps its time and is reported") {
  const auto source = parse_text_trace(R"(
    0: 0..60 neighbor_alltoall 8B 8B
    0: 60 end
    1: 50..60 neighbor_alltoall 8B 8B
    1: 60 end
  )");
  const Results results = run_replay(*source, {parse_scenario("perfect")}, {});
  REQUIRE(results.trace.kept.size() == 1);
  CHECK(results.trace.kept[0].call == "MPI_Neighbor_alltoall");
  CHECK(results.trace.kept[0].count == 2);
}

// Rank 0 waits for A (request 1), which rank 1 starts at 1000, after B. In the order of their
// starts, rank 0 would have had B's message at 0, and sent to rank 2 then.
TEST_CASE("persistent collectives among neighbours may be started in different orders") {
  const char* text = R"(
    neighbours 0 0 from 1 to 1
    neighbours 0 1 from 0 to 0
    0: 0..0 neighbor_alltoall_init 100B 100B req 1
    0: 0..0 neighbor_alltoall_init 5000B 5000B req 2
    0: 0..0 start 1
    0: 0..1000 wait 1
    0: 1000..1000 send 2 8B
    0: 1000..1000 start 2
    0: 1000..1000 wait 2
    1: 0..0 neighbor_alltoall_init 100B 100B req 1
    1: 0..0 neighbor_alltoall_init 5000B 5000B req 2
    1: 0..0 start 2
    1: 1000..1000 start 1
    1: 1000..1000 waitall 1 2
    2: 0..1000 recv 0 8B
  )";
  CHECK(ends(text) == Ends{1000, 1000, 1000});
}
