// Drawings of networks: a flow, followed on paper along the cables that it made busy, leads from
// its sender to its receiver, and nowhere gets lost.

#include "models/network/topology_drawing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/unit/flow_player.h"
#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

/// The drawing of a flow of 1000 bytes, one byte per tick on each link.
LinkLoads::Drawing drawn(const std::string& keys, int nodes, int from, int to) {
  const Scenario scenario = on_network(keys);
  const auto network = scenario.platform.contention.make_network(Placement::blocks(nodes, 1), 1e9);
  network->count_loads();
  play(*network, {{from, to, 1000, 0, 0, 1}});
  return network->loads(1000)->drawing;
}

/// By name, in parts of the flow: what leaves a vertex less what comes in.
std::map<std::string, double> balance(const LinkLoads::Drawing& drawing) {
  std::map<std::string, double> balance;
  for (size_t i = 0; i < drawing.shape.cables.size(); ++i) {
    const TopologyDrawing::Cable& cable = drawing.shape.cables[i];
    const double forth = (drawing.busy[i].there - drawing.busy[i].back) / 1000e-9;
    balance[drawing.shape.vertices[cable.from].name] += forth;
    balance[drawing.shape.vertices[cable.to].name] -= forth;
  }
  return balance;
}

void check_flows(const std::string& keys, int nodes, size_t vertices, size_t cables,
                 const std::string& prefix = "node ") {
  INFO(keys);
  for (int from = 0; from < nodes; from += 3) {
    for (int to = 0; to < nodes; ++to) {
      if (from == to) continue;
      const LinkLoads::Drawing drawing = drawn(keys, nodes, from, to);
      REQUIRE(drawing.shape.vertices.size() == vertices);
      REQUIRE(drawing.shape.cables.size() == cables);
      CHECK(drawing.cables == cables);
      for (const auto& [name, sum] : balance(drawing)) {
        INFO(from << " to " << to << ", " << name);
        const double wanted = name == prefix + std::to_string(from) ? 1
                              : name == prefix + std::to_string(to) ? -1
                                                                    : 0;
        CHECK(sum == Approx(wanted).margin(1e-9));
      }
    }
  }
}

}  // namespace

// Six nodes at one switch: six cables.
TEST_CASE("drawing of a crossbar") {
  check_flows("model = \"crossbar\"", 6, 7, 6);
}

// [4, 2] below, [1, 2] above: 8 nodes, a switch for each four, two above both. 8 + 2 * 2 cables.
// Three levels [2, 2, 2] with [1, 2, 2]: 8 nodes; level 1 has 4 switches, level 2 has 2 groups of
// 2, level 3 has 4: 8 + 4 * 2 + 4 * 2 cables. Two parallel cables at level 2 are one on paper.
TEST_CASE("drawings of fat trees") {
  const std::string tree = "model = \"fat-tree\"\n";
  check_flows(tree + "down = [4, 2]\nup = [1, 2]", 8, 8 + 2 + 2, 8 + 4);
  check_flows(tree + "down = [4, 2]\nup = [1, 2]\nrouting = \"spread\"", 8, 8 + 2 + 2, 8 + 4);
  check_flows(tree + "down = [2, 2, 2]\nup = [1, 2, 2]", 8, 8 + 4 + 4 + 4, 8 + 8 + 8);
  check_flows(tree + "down = [2, 2, 2]\nup = [1, 2, 2]\nrouting = \"spread\"", 8, 20, 24);
  check_flows(tree + "down = [4, 2]\nup = [1, 1]\nparallel = [1, 2]", 8, 8 + 2 + 1, 8 + 2);
}

// 4 x 3: two cables a node, up in each dimension: 24. 4 x 2: 8 and, of two nodes side by side, one
// on paper: 4. Five dimensions of 2 or 3: 2 * 3 * 2 * 2 * 2 = 48 nodes, 4 * 24 + 48 cables.
TEST_CASE("drawings of tori") {
  const std::string torus = "model = \"torus\"\n";
  for (const char* routing : {"dimension-order", "spread", "valiant"}) {
    const std::string by = std::string("\nrouting = \"") + routing + "\"";
    check_flows(torus + "dimensions = [4, 3]" + by, 12, 12, 24);
  }
  check_flows(torus + "dimensions = [4, 2]", 8, 8, 12);
  check_flows(torus + "dimensions = [2, 3, 2, 2, 2]", 48, 48, 144);
}

// 3 groups of 2 chassis of 2 routers of 2 nodes: 24 nodes, 12 routers; each group has 2 green and 2
// black cables, and there are 3 blue ones: 24 + 12 + 3.
TEST_CASE("drawings of dragonflies") {
  for (const char* routing : {"minimal", "valiant"})
    check_flows(
        std::string("model = \"dragonfly\"\nshape = [3, 2, 2, 2]\nrouting = \"") + routing + "\"",
        24, 36, 39);
}

TEST_CASE("drawing of a network by hand") {
  check_flows(
      "model = \"graph\"\nnodes = [\"n[0-3]\"]\ncables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1\"]",
      4, 6, 5, "n");
}

// Each link is on paper once (a half-duplex cable both ways), and vertices lie apart within the
// sheet. 64 nodes on a 3-D torus.
TEST_CASE("vertices of a drawing do not overlap") {
  for (const std::string keys :
       {"model = \"torus\"\ndimensions = [4, 4, 4]", "model = \"dragonfly\"\nshape = [4, 2, 4, 2]",
        "model = \"fat-tree\"\ndown = [8, 8]\nup = [1, 4]"}) {
    const LinkLoads::Drawing drawing = drawn(keys, 64, 0, 63);
    std::set<std::pair<double, double>> places;
    for (const TopologyDrawing::Vertex& vertex : drawing.shape.vertices) {
      CHECK(std::min(vertex.x, vertex.y) >= 0);
      CHECK(std::max(vertex.x, vertex.y) <= 1);
      places.insert({std::round(vertex.x * 1e6), std::round(vertex.y * 1e6)});
    }
    CHECK(places.size() == drawing.shape.vertices.size());
  }
}

// 4096 nodes have 4096 cables up to switches alone: the 2000 busiest are drawn, first that of node
// 1, which sends; of the others only what they end at.
TEST_CASE("of a large network the busiest cables are drawn") {
  const LinkLoads::Drawing drawing =
      drawn("model = \"fat-tree\"\ndown = [64, 64]\nup = [1, 1]", 4096, 1, 2);
  CHECK(drawing.cables == 4096 + 64);
  REQUIRE(drawing.shape.cables.size() == LinkLoads::kDrawnCables);
  CHECK(drawing.shape.vertices[drawing.shape.cables[0].from].name == "node 1");
  CHECK(drawing.busy[0].there == Approx(1000e-9));
  CHECK(drawing.busy[0].back == 0);
  CHECK(drawing.shape.vertices.size() < 2100);
}
