// Ports of ranks beside the links of their nodes, and messages of one pair of ranks, worked out by
// hand. One tick is one nanosecond, links take one byte a tick.

#include <catch2/catch.hpp>

#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

/// T(n) = 100 + 2 n between nodes, and a port is busy for 2 n of that: half as fast as links.
Scenario slow_ports(const std::string& network) {
  Scenario scenario = on_network(network);
  LevelModel& level = *scenario.platform.levels[static_cast<size_t>(Level::kNetwork)];
  level.transfer = TransferCurve::hockney(100e-9, 500e6);
  level.gap = TransferCurve::hockney(0, 500e6);
  return scenario;
}

// The links of a graph differ from node to node.
const std::vector<std::string> kNetworks = {
    "model = \"crossbar\"", "model = \"graph\"\nnodes = [\"n[0-3]\"]\ncables = [\"n[0-3] s\"]"};

}  // namespace

// 1000 bytes each from nodes 1 and 2, all for one rank: its port takes 4000 for them, whoever
// shares it, behind the latency of 100.
TEST_CASE("a slow port is shared by all that its rank receives") {
  for (const std::string& network : kNetworks) {
    INFO(network);
    check(received(3, {{1, 0, 1000}, {2, 0, 1000}}, slow_ports(network)), {4100, 0, 0});
  }
}

// Two ranks of node 0 have a port each, which take 2000; the node's link is then just full. With
// three, the link gives a third to each: 100 + 3000.
TEST_CASE("ranks of a node have ports of their own and share its link") {
  for (const std::string& network : kNetworks) {
    INFO(network);
    check(ends(R"(
            nodes 0 0 1 2
            0: 0..10 recv 2 1000B
            1: 0..10 recv 3 1000B
            2: 0..0 send 0 1000B
            3: 0..0 send 1 1000B
          )",
               slow_ports(network)),
          {2100, 2100, 0, 0});
    check(ends(R"(
            nodes 0 0 0 1 2 3
            0: 0..10 recv 3 1000B
            1: 0..10 recv 4 1000B
            2: 0..10 recv 5 1000B
            3: 0..0 send 0 1000B
            4: 0..0 send 1 1000B
            5: 0..0 send 2 1000B
          )",
               slow_ports(network)),
          {3100, 3100, 3100, 0, 0, 0});
  }
}

// Two messages of 1000 bytes from rank 1, and rank 0 tells rank 2 when it has the first. One by one
// that is there at 100 + 1000, and at once with the second at 100 + 2000; rank 2 knows 100 later.
TEST_CASE("messages between two ranks come one by one, or at once as in SimGrid") {
  const std::string text = R"(
    nodes 0 1 2
    1: 0..0 send 0 1000B
    1: 0..0 send 0 1000B
    0: 0..10 recv 1 1000B
    0: 10..20 send 2 0B
    0: 20..30 recv 1 1000B
    2: 0..10 recv 0 0B
  )";
  const std::string crossbar = "model = \"crossbar\"";
  check(ends(text, on_network(crossbar)), {2100, 0, 1200});
  check(ends(text, on_network(crossbar + "\npairs = \"at-once\"")), {2100, 0, 2200});
}
