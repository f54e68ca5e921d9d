#include "replay/trace/oversubscription.h"

#include <catch2/catch.hpp>

using namespace rubato;

namespace {

/// Ranks on one node, each allowed to run on `affinity` of `cores` cores.
std::string on_one_node(size_t ranks, uint64_t affinity, uint64_t cores, uint64_t switches = 0,
                        double seconds = 1) {
  RankProcessors processors;
  processors.affinity_cores = affinity;
  processors.cores_on_node = cores;
  processors.involuntary_switches = switches;
  return oversubscription(std::vector<RankProcessors>(ranks, processors),
                          std::vector<int>(ranks, 0), {"n0"}, seconds);
}

}  // namespace

TEST_CASE("as many ranks as cores give no warning, one more does") {
  CHECK(on_one_node(4, 4, 4).empty());
  CHECK(on_one_node(4, 1, 4).empty());
  const auto crowded = on_one_node(5, 4, 4);
  CHECK(crowded ==
        "5 ranks had 4 cores on node 'n0': the recorded times include time without a core");
  // One sentence for all that is known.
  CHECK(on_one_node(5, 4, 4, 1010, 10) ==
        "5 ranks had 4 cores on node 'n0'; 5 of 5 ranks had more than 10 involuntary context "
        "switches per second (rank 0: 101): the recorded times include time without a core");
}

TEST_CASE("the node with the most ranks per core is named") {
  // Node a: 3 ranks on 2 cores; node b: 4 on 2; node c: 2 on 2.
  std::vector<RankProcessors> ranks(9);
  for (RankProcessors& rank : ranks) rank.cores_on_node = 2;
  const std::vector<int> node_of_rank = {0, 0, 0, 1, 1, 1, 1, 2, 2};
  const auto crowded = oversubscription(ranks, node_of_rank, {"a", "b", "c"}, 1);
  CHECK(crowded.find("4 ranks had 2 cores on node 'b' (and on 1 more)") == 0);
}

TEST_CASE("ranks with more than ten involuntary context switches per second") {
  CHECK(on_one_node(2, 2, 2, 100, 10).empty());  // 10 a second
  const auto interrupted = on_one_node(2, 2, 2, 1010, 10);
  CHECK(interrupted.find("2 of 2 ranks had more than 10 involuntary context switches per "
                         "second (rank 0: 101): ") == 0);
  // 12,345,670 in 10 s.
  CHECK(on_one_node(2, 2, 2, 12345670, 10).find("(rank 0: 1,234,567): ") != std::string::npos);
}

TEST_CASE("threads without MPI calls that waited for cores") {
  // Of 10 s: rank 0's threads ran 12 s and waited 3 s, 20 % of their time; rank 1's waited 0.3 s of
  // 30.3 s, 1 %; rank 2's 0.1 s of 0.15 s, which is 1 % of the recording.
  std::vector<RankProcessors> ranks(3);
  const double ran[] = {12, 30, 0.05}, waited[] = {3, 0.3, 0.1};
  for (int i = 0; i < 3; ++i) {
    ranks[i].cores_on_node = 8;
    ranks[i].threads_ran = static_cast<uint64_t>(ran[i] * 1e9);
    ranks[i].threads_waited = static_cast<uint64_t>(waited[i] * 1e9);
  }
  const std::vector<int> node_of_rank(3, 0);
  const auto sentences = oversubscription(ranks, node_of_rank, {"n0"}, 10);
  CHECK(sentences.find("threads without MPI calls waited for cores in 1 of 3 ranks, for up to 20 "
                       "% of their time (") == 0);
  CHECK(shares_cores(ranks, node_of_rank, {"n0"}, 10));
  ranks[0].threads_waited = 0;
  CHECK_FALSE(shares_cores(ranks, node_of_rank, {"n0"}, 10));
}

TEST_CASE("archives without recorded processors give no warning") {
  CHECK(
      oversubscription(std::vector<RankProcessors>(8), std::vector<int>(8, 0), {"n0"}, 1).empty());
}
