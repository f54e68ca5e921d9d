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

// 1000 bytes each from nodes 1 and 2, all for one rank: its port takes 4000 for them, whichever
// ranks share it, after the latency of 100.
TEST_CASE("a slow port is shared by all that its rank receives") {
  for (const std::string& network : kNetworks) {
    INFO(network);
    check(received(3, {{1, 0, 1000}, {2, 0, 1000}}, slow_ports(network)), {4100, 0, 0});
  }
}

// o = 300 at both ends, g = 300: what follows each other every 300 is processor time, and there is
// no port. T(n) = 100 + n, so two flows of 100 bytes that start at 300 share the link of node 0
// until 500 and are there at 600; then 300 for each receive. (With a port as well: 600 for both,
// 300 + 600 + 100 + 2 x 300 = 1600.)
TEST_CASE("a gap no longer than an overhead is no port") {
  for (const std::string& network : kNetworks) {
    INFO(network);
    Scenario scenario = on_network(network);
    LevelModel& level = *scenario.platform.levels[static_cast<size_t>(Level::kNetwork)];
    level.transfer = TransferCurve::hockney(100e-9, 1e9);
    level.send_overhead = level.receive_overhead = TransferCurve::hockney(300e-9, 1e18);
    level.gap = TransferCurve::hockney(300e-9, 1e18);
    check(ends(R"(
            nodes 0 1 2
            0: 0..10 recv 1 100B
            0: 10..20 recv 2 100B
            1: 0..0 send 0 100B
            2: 0..0 send 0 100B
          )",
               scenario),
          {1200, 300, 300});
  }
}

// Two ranks of node 0 have a port each, which take 2000; the node's link is then just full. With
// three, the link gives a third to each: 100 + 3000.
TEST_CASE("ranks of a node have separate ports and share its link") {
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

// Two messages of 1000 bytes from rank 1; rank 0 sends to rank 2 when it has the first. One by one
// the first arrives at 100 + 1000, and together with the second at 100 + 2000; rank 2 is notified
// 100 later.
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

// As above, and the empty one behind the first message is not there before it, at 1100; else at
// 100.
TEST_CASE("an empty message does not overtake those of its pair") {
  const std::string text = R"(
    nodes 0 1 2
    1: 0..0 send 0 1000B
    1: 0..0 send 0 0B
    0: 0..0 irecv 1 1000B req 1
    0: 0..0 irecv 1 0B req 2
    0: 0..10 wait 2
    0: 10..20 send 2 0B
    0: 20..30 wait 1
    2: 0..10 recv 0 0B
  )";
  const std::string crossbar = "model = \"crossbar\"";
  check(ends(text, on_network(crossbar)), {1100, 0, 1200});
  check(ends(text, on_network(crossbar + "\npairs = \"at-once\"")), {1100, 0, 200});
}

// T(n) = 100 + 2 n, but port and links take only n: eight messages of 1000 bytes follow each other
// every 1000, the first is there at 2100.
TEST_CASE("what a message takes beyond ports and links is latency") {
  Scenario scenario = slow_ports(kNetworks[0]);
  scenario.platform.level(Level::kNetwork)->gap = TransferCurve::hockney(0, 1e9);
  check(received(2, std::vector<Send>(8, {1, 0, 1000}), scenario), {9100, 0});
}

// A burst gap of 5000: messages start at 0, 5000 and 10000, on slow ports and on fast ones.
TEST_CASE("a message of a burst starts the burst gap after the one before") {
  const std::string text = R"(
    nodes 0 1 2 3
    0: 0..0 isend 1 1000B req 1
    0: 0..0 isend 2 1000B req 2
    0: 0..0 isend 3 1000B req 3
    0: 0..0 wait 1 2 3
    1: 0..10 recv 0 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 0 1000B
  )";
  for (const std::string& network : kNetworks) {
    for (const bool slow : {true, false}) {
      Scenario scenario = slow ? slow_ports(network) : on_network(network);
      scenario.platform.level(Level::kNetwork)->burst_gap = TransferCurve::hockney(5000e-9, 1e15);
      const double first = slow ? 2100 : 1100;
      check(ends(text, scenario), {0, first, first + 5000, first + 10000});
    }
  }
}

// Within a node there are no links: T(n) = 10 + n, and the port of the receiver takes n for each.
TEST_CASE("levels within a node keep ports as without a network") {
  Scenario scenario = slow_ports(kNetworks[0] + "\nlevels = [\"node\", \"network\"]");
  scenario.platform.level(Level::kNode)->gap = TransferCurve::hockney(0, 1e9);
  check(ends(R"(
          nodes 0 0 0
          1: 0..0 send 0 1000B
          2: 0..0 send 0 1000B
          0: 0..5 recv 1 1000B
          0: 5..10 recv 2 1000B
        )",
             scenario),
        {2010, 0, 0});
}

// For two rendezvous with a gap longer than their data, the link of the receiver transfers all
// bytes: 100 for each request, then 16000.
TEST_CASE("a gap beyond the data of a rendezvous does not change its bytes") {
  Scenario scenario = on_network(kNetworks[0]);
  scenario.platform.level(Level::kNetwork)->gap = TransferCurve::hockney(10e-6, 1e9);
  const Ends all = ends(R"(
    nodes 0 1 2
    1: 0..0 isend 0 8000B req 1
    1: 0..10 wait 1
    2: 0..0 isend 0 8000B req 1
    2: 0..10 wait 1
    0: 0..0 irecv 1 8000B req 1
    0: 0..0 irecv 2 8000B req 2
    0: 0..10 wait 1 2
  )",
                        scenario);
  CHECK(all[0] == Approx(16100));
}

// The data of a put has left when the port is free, 2000 after its start. That of a second one has
// to wait for the first, so it has left when it has arrived: 100 + 2000 + 2000.
TEST_CASE("the local end of a put on a slow port is when its data has left") {
  const auto flushed = [](int puts) {
    std::string text = R"(
      nodes 0 1 2
      window 1 comm 0
      0: 0..0 win_create
      1: 0..0 win_create
      2: 0..0 win_create
      0: 0..0 win_lock_all
    )";
    for (int i = 0; i < puts; ++i) text += "0: 0..0 put 1 1000B\n";
    text += R"(
      0: 0..0 win_flush_local 1
      0: 0..0 send 2 0B
      0: 0..10 win_unlock_all
      2: 0..10 recv 0 0B
    )";
    return ends(text, slow_ports(kNetworks[0]))[2];
  };
  CHECK(flushed(1) - flushed(0) == Approx(2000));
  CHECK(flushed(2) - flushed(0) == Approx(4100));
}
