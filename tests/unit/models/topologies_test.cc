// Networks with a topology, worked out by hand. One tick is one nanosecond; between nodes T(n) =
// 100 + n, and links transfer 1 GB/s, one byte per tick, unless stated otherwise.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/network/topology.h"
#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

const std::string kCrossbarText = "model = \"crossbar\"";
/// 8 nodes below two switches; two cables up from each, to one switch each.
const std::string kTapered = "model = \"fat-tree\"\ndown = [4, 2]\nup = [1, 2]";

}  // namespace

// Three send 1000 bytes each to rank 0, whose link lets each have a third: 100 + 3 * 1000. With
// 3000 bytes of the third one: two end at 3100, when it has moved 1000 and goes on alone for 2000.
TEST_CASE("incast: flows into a node divide its link evenly") {
  const Scenario crossbar = on_network(kCrossbarText);
  check(received(4, {{1, 0, 1000}, {2, 0, 1000}, {3, 0, 1000}}, crossbar), {3100, 0, 0, 0});
  check(received(4, {{1, 0, 1000}, {2, 0, 1000}, {3, 0, 3000}}, crossbar), {5100, 0, 0, 0});
  check(received(4, {{3, 0, 3000}}, crossbar), {3100, 0, 0, 0});
}

// Rank 0 sends 1000 to 1 and 1000 to 2; 3 sends 2000 to 2. Out of 0 and into 2 two flows each: all
// at 1/2. At 2100 rank 0 is done; 3 has moved 1000 of 2000 and goes on alone until 3100.
TEST_CASE("a flow that ends frees its share for flows on the same links") {
  check(received(4, {{0, 1, 1000}, {0, 2, 1000}, {3, 2, 2000}}, on_network(kCrossbarText)),
        {0, 2100, 3100, 0});
}

// Node links of 1 byte a tick; a backbone of 2 for four flows of 1000: 100 + 4000 / 2.
TEST_CASE("a backbone that all flows share") {
  const std::string keys = kCrossbarText + "\nbackbone_bandwidth = \"2GB/s\"";
  check(received(8, {{0, 4, 1000}, {1, 5, 1000}, {2, 6, 1000}, {3, 7, 1000}}, on_network(keys)),
        {0, 0, 0, 0, 2100, 2100, 2100, 2100});
}

// By d-mod-k, messages for even nodes take the first cable up, those for odd ones the other. So
// four flows across have a half each, and two to 4 and 6 as well, while two to 4 and 5 share
// nothing. Spread over both cables, those go at 1, and so do two to 4 and 6.
TEST_CASE("fat tree: half as many cables up as nodes below") {
  const Scenario tapered = on_network(kTapered);
  check(received(8, {{0, 4, 1000}, {1, 5, 1000}, {2, 6, 1000}, {3, 7, 1000}}, tapered),
        {0, 0, 0, 0, 2100, 2100, 2100, 2100});
  check(received(8, {{0, 4, 1000}, {1, 6, 1000}}, tapered), {0, 0, 0, 0, 2100, 0, 2100, 0});
  check(received(8, {{0, 4, 1000}, {1, 5, 1000}}, tapered), {0, 0, 0, 0, 1100, 1100, 0, 0});
  // Below one switch nothing is tapered.
  check(received(8, {{0, 3, 1000}, {1, 2, 1000}}, tapered), {0, 0, 1100, 1100, 0, 0, 0, 0});
  const Scenario spread = on_network(kTapered + "\nrouting = \"spread\"");
  check(received(8, {{0, 4, 1000}, {1, 6, 1000}}, spread), {0, 0, 0, 0, 1100, 0, 1100, 0});
  check(received(8, {{0, 4, 1000}, {1, 5, 1000}, {2, 6, 1000}, {3, 7, 1000}}, spread),
        {0, 0, 0, 0, 2100, 2100, 2100, 2100});
  // Two cables in parallel to one switch are as good as one to each of two.
  const Scenario parallel = on_network("model = \"fat-tree\"\ndown = [4, 2]\nparallel = [1, 2]");
  check(received(8, {{0, 4, 1000}, {1, 6, 1000}}, parallel), {0, 0, 0, 0, 2100, 0, 2100, 0});
  check(received(8, {{0, 4, 1000}, {1, 5, 1000}}, parallel), {0, 0, 0, 0, 1100, 1100, 0, 0});
}

// A ring of 6. 0 to 2 and 1 to 2 share 1-2. 0 to 3 goes up 0-1-2-3, as far as down, so it shares
// 1-2 with 1 to 2 as well. Spread, half of it goes either way: 1-2 carries 1 to 2 at x and half of
// 0 to 3 at x, x = 1 / 1.5: 1500.
TEST_CASE("torus: the shorter way around") {
  const std::string ring = "model = \"torus\"\ndimensions = [6]";
  const Scenario six = on_network(ring);
  check(received(6, {{0, 2, 1000}, {1, 2, 1000}}, six), {0, 0, 2100, 0, 0, 0});
  check(received(6, {{0, 4, 1000}, {5, 4, 1000}}, six), {0, 0, 0, 0, 2100, 0});
  check(received(6, {{0, 3, 1000}, {1, 2, 1000}}, six), {0, 0, 2100, 2100, 0, 0});
  check(received(6, {{0, 1, 1000}, {1, 0, 1000}}, six), {1100, 1100, 0, 0, 0, 0});
  const Scenario spread = on_network(ring + "\nrouting = \"spread\"");
  check(received(6, {{0, 3, 1000}, {1, 2, 1000}}, spread), {0, 0, 1600, 1600, 0, 0});
}

// 3 x 3, node = x + 3 y. First along x: 0 to 4 goes 0 1 4, and 1 to 4 shares 1-4. By all shortest
// paths half of it goes over 3, so 1-4 has 1 and 1/2: 1500.
TEST_CASE("torus: one dimension after the other, or all shortest paths") {
  const std::string square = "model = \"torus\"\ndimensions = [3, 3]";
  check(received(9, {{0, 4, 1000}, {1, 4, 1000}}, on_network(square)),
        {0, 0, 0, 0, 2100, 0, 0, 0, 0});
  check(received(9, {{0, 4, 1000}, {3, 4, 1000}}, on_network(square)),
        {0, 0, 0, 0, 1100, 0, 0, 0, 0});
  check(received(9, {{0, 4, 1000}, {1, 4, 1000}}, on_network(square + "\nrouting = \"spread\"")),
        {0, 0, 0, 0, 1600, 0, 0, 0, 0});
}

// 4 groups of 4 routers (2 chassis of 2) with a node each: node = router. All of group 0 send to
// group 1: one cable for four flows, 100 + 4000. Over one of two other groups (Valiant), each of
// the four flows takes a group, and the largest number of flows in one determines the time: 100 +
// 1000 times at least 2 and at most 4.
TEST_CASE("dragonfly: all of a group send to one other group") {
  const std::string keys = "model = \"dragonfly\"\nshape = [4, 2, 2, 1]";
  const std::vector<Send> adversarial = {{0, 4, 1000}, {1, 5, 1000}, {2, 6, 1000}, {3, 7, 1000}};
  Ends minimal(16, 0.0);
  for (int node = 4; node < 8; ++node) minimal[node] = 4100;
  check(received(16, adversarial, on_network(keys)), minimal);
  const Ends valiant = received(16, adversarial, on_network(keys + "\nrouting = \"valiant\""));
  for (int node = 4; node < 8; ++node) {
    CHECK(valiant[node] >= 1100);
    CHECK(valiant[node] <= 4100);
  }
  // Twice the cables between groups, twice as fast.
  for (int node = 4; node < 8; ++node) minimal[node] = 2100;
  check(received(16, adversarial, on_network(keys + "\ncables = [2, 1, 1]")), minimal);
}

// Routes: 2 links to the switch and back; 4 over the second level; 10 ns each on top of 100.
// Router 0 of group 0 has the cable to group 0 (none), router 1 to group 1: 0 to 4 goes node, green
// to router 1, blue to router 0 of group 1, node: 4 links. 0 to 7: there green and black behind: 6.
TEST_CASE("latency grows with the links on the way") {
  const std::string latency = "\nlink_latency = \"10ns\"";
  check(received(8, {{0, 1, 1000}, {2, 6, 1000}}, on_network(kTapered + latency)),
        {0, 1120, 0, 0, 0, 0, 1140, 0});
  // The same without a bandwidth, where flows share nothing: in lanes, out of the order of time.
  check(received(8, {{0, 1, 1000}, {2, 6, 1000}}, contended(kTapered + latency)),
        {0, 1120, 0, 0, 0, 0, 1140, 0});
  const std::string dragonfly = "model = \"dragonfly\"\nshape = [4, 2, 2, 1]";
  CHECK(received(16, {{0, 4, 1000}}, on_network(dragonfly + latency))[4] == Approx(1140));
  CHECK(received(16, {{0, 7, 1000}}, on_network(dragonfly + latency))[7] == Approx(1160));
}

TEST_CASE("networks that do not fit are refused") {
  const auto refused = [](const std::string& keys, int ranks, const std::string& why) {
    try {
      received(ranks, {{0, 1, 8}}, on_network(keys));
      FAIL("was accepted: " << keys);
    } catch (const InputError& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(why) != std::string::npos);
    }
  };
  refused("model = \"fat-tree\"", 2, "needs 'down'");
  refused("model = \"fat-tree\"\ndown = [2, 2]\nup = [1]", 2, "a number for each level");
  refused("model = \"fat-tree\"\ndown = [2, 2]", 5, "the run has 5 nodes, the fat-tree has 4");
  refused("model = \"fat-tree\"\ndown = [2, 0]", 2, "whole numbers above 0");
  refused("model = \"torus\"\ndimensions = [2, 2, 2, 2, 2, 2, 2]", 2, "one to six");
  refused("model = \"torus\"\ndimensions = [1000, 1000, 1000]", 2, "more than 64 M links");
  refused("model = \"torus\"\ndimensions = [2]\nrouting = \"random\"", 2, "routing");
  refused("model = \"dragonfly\"\nshape = [2, 2]", 2, "needs 'shape'");
}

// Whether links are there or not, where no two flows share one: to the last bit. (All nodes pass
// their bytes on around a ring.)
TEST_CASE("flows that share no full link arrive as without a network") {
  std::vector<Send> around;
  for (int rank = 0; rank < 8; ++rank) around.push_back({rank, (rank + 1) % 8, 100 + 7 * rank});
  const Ends alone = received(8, around, contended(""));
  for (const std::string& keys : {kCrossbarText, std::string("model = \"torus\"\ndimensions = [8]"),
                                  kTapered + "\nparallel = [1, 4]"})
    CHECK(received(8, around, on_network(keys)) == alone);
}
