// Placement of ranks, worked out by hand. One tick is one nanosecond.

#include "replay/study/placement_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "models/base/error.h"
#include "models/placement/rank_mapping.h"
#include "tests/unit/toy.h"
#include "tools/studies/placement_report.h"

using namespace rubato;

namespace {

double on_line(int a, int b) {
  return std::abs(a - b);
}

// Rank 0 talks to rank 2, rank 1 to rank 3.
const char* const kCrossed = R"(
  nodes 0 1 2 3
  0: 0..0 init
  1: 0..0 init
  2: 0..0 init
  3: 0..0 init
  0: 0..0 send 2 8B
  1: 0..0 send 3 8B
  2: 0..0 recv 0 8B
  3: 0..0 recv 1 8B
  0: 0..0 finalize
  1: 0..0 finalize
  2: 0..0 finalize
  3: 0..0 finalize
)";
/// Nodes in a ring; 5 us between nodes, and 1 us for each link.
const std::string kRing =
    "bandela:network.latency=5us,contention=torus,contention.link_latency=1us,"
    "contention.dimensions=";

PlacementSearch search(const std::string& scenario, const std::vector<int>& free = {}) {
  const auto source = parse_text_trace(kCrossed);
  return find_placement(*source, parse_scenario(scenario), {free}, {});
}

const TriedPlacement& tried(const PlacementSearch& found, RankOrder ranks, NodeOrder nodes) {
  for (const TriedPlacement& each : found.tried) {
    if (each.ranks == ranks && each.nodes == nodes) return each;
  }
  FAIL("was not tried");
  return found.tried[0];
}

}  // namespace

// A chain of four lies in order on a line, 3 links in all; the middle of a star of four in the
// middle of five places, with two neighbours at 1 and one at 2.
TEST_CASE("nodes that talk are put near each other") {
  const std::vector<int> line = {0, 1, 2, 3, 4};
  const std::vector<PairWeight> chain = {{2, 0, 1}, {0, 3, 1}, {3, 1, 1}};
  CHECK(weighted_distance({0, 1, 2, 3}, chain, on_line) == 2 + 3 + 2);
  CHECK(weighted_distance(map_nodes(4, chain, line, on_line), chain, on_line) == 3);
  const std::vector<PairWeight> star = {{1, 0, 1}, {1, 2, 1}, {1, 3, 1}};
  CHECK(weighted_distance(map_nodes(4, star, line, on_line), star, on_line) == 4);
  // Only what is free is taken: 1 and 9 for two nodes.
  std::vector<int> places = map_nodes(2, {{0, 1, 5}}, {1, 9}, on_line);
  std::sort(places.begin(), places.end());
  CHECK(places == std::vector<int>{1, 9});
}

TEST_CASE("no two nodes, and no free place, would be better the other way round") {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const int nodes = 2 + static_cast<int>(random() % 6);
    std::vector<PairWeight> pairs;
    for (int a = 0; a < nodes; ++a) {
      for (int b = 0; b < a; ++b) pairs.push_back({a, b, static_cast<double>(random() % 10)});
    }
    std::vector<int> free;
    for (int i = 0; i < nodes + 2; ++i) free.push_back(3 * i);
    std::vector<int> places = map_nodes(nodes, pairs, free, on_line);
    const double cost = weighted_distance(places, pairs, on_line);
    for (int a = 0; a < nodes; ++a) {
      for (int b = 0; b < a; ++b) {
        std::swap(places[a], places[b]);
        CHECK(weighted_distance(places, pairs, on_line) >= cost - 1e-9);
        std::swap(places[a], places[b]);
      }
      const int here = places[a];
      for (const int other : free) {
        if (std::find(places.begin(), places.end(), other) != places.end()) continue;
        places[a] = other;
        CHECK(weighted_distance(places, pairs, on_line) >= cost - 1e-9);
        places[a] = here;
      }
    }
  }
}

// On a ring of four both pairs are two links apart: 7 us. As neighbours they take 6 us.
TEST_CASE("a placement in a network is found, and replayed") {
  const PlacementSearch found = search(kRing + "4");
  const TriedPlacement& asked = tried(found, RankOrder::kAsked, NodeOrder::kAsked);
  CHECK(asked.elapsed == Approx(7e-6));
  CHECK(asked.mean_links == Approx(2));
  CHECK(found.tried[0].elapsed == Approx(6e-6));
  CHECK(found.tried[0].mean_links == Approx(1));
  // (In a row and at equal distances equal the requested order.)
  CHECK(found.tried.size() <= 3);
  // As where `rubato replay` draws no conclusion.
  const Scenario scenario = parse_scenario(kRing + "4");
  const PlacementSubject subject{&scenario, "hosts.txt", false, "Ranks lacked cores."};
  CHECK(placement_text(found, subject, 1000).find("\nRanks lacked cores.\n") != std::string::npos);
  CHECK(nlohmann::json::parse(placement_json(found, subject))["no_conclusion"] ==
        "Ranks lacked cores.");
  const std::string csv = placement_csv(found, subject);
  CHECK(csv.starts_with("ranks,nodes,elapsed_s,mean_links,no_conclusion\n"));
  CHECK(csv.ends_with(",Ranks lacked cores.\n"));
  // The file of hosts puts them there again.
  const std::string hosts = placement_hosts(found);
  CHECK(std::count(hosts.begin(), hosts.end(), '\n') == 5);

  // On a ring of eight where 0, 1, 4 and 5 are free: in a row that is {0, 4}, {1, 5}, four links.
  const PlacementSearch free = search(kRing + "8,nodes=0+4+1+5", {0, 1, 4, 5});
  CHECK(tried(free, RankOrder::kAsked, NodeOrder::kAsked).elapsed == Approx(6e-6));
  CHECK(tried(free, RankOrder::kAsked, NodeOrder::kRow).elapsed == Approx(9e-6));
}

// Two ranks per node, 1 us on a node and 5 us between nodes: as recorded, (0 1) (2 3), each message
// crosses nodes. Round robin on two nodes is (0 2) (1 3), the same as grouping by traffic.
TEST_CASE("ranks that talk share nodes, with or without a shape") {
  const PlacementSearch found = search("bandela:node.latency=1us,network.latency=5us,ppn=2");
  REQUIRE(found.tried.size() == 2);
  CHECK(found.tried[0].ranks == RankOrder::kRoundRobin);
  CHECK(found.tried[0].elapsed == Approx(1e-6));
  CHECK(found.tried[0].node_of_rank == std::vector<int>{0, 1, 0, 1});
  CHECK(found.tried[0].network_of_node.empty());
  CHECK(found.tried[1].elapsed == Approx(5e-6));
}

TEST_CASE("placements that cannot be searched are refused") {
  const auto refused = [](const std::string& scenario, const std::vector<int>& free,
                          const std::string& why) {
    INFO(scenario);
    CHECK_THROWS_WITH(search(scenario, free), Catch::Contains(why));
  };
  refused("measured", {}, "no effect on recorded durations");
  refused("bandela:ppn=4", {}, "all ranks are on one node");
  refused(kRing + "4", {0, 1, 2}, "4 nodes, and only 3 are free");
  refused(kRing + "4", {0, 1, 2, 4}, "there is no node 4 in the network, which has 4");
  refused("bandela:contention=torus,contention.dimensions=256x257", {},
          "65792 nodes; placements are searched in networks of up to 65536");
  refused("bandela:node0.cpu*2", {}, "cannot be placed differently");
}
