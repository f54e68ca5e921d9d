// Loads of links, node limits, and shares by latency, worked out by hand. One tick is one
// nanosecond, links take one byte a tick.

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "models/network/topology.h"
#include "tests/unit/flow_player.h"
#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

std::unique_ptr<Network> network(const std::string& keys, int nodes) {
  const Scenario scenario = on_network(keys);
  auto made = scenario.platform.contention.make_network(Placement::blocks(nodes, 1), 1e9);
  made->count_loads();
  return made;
}

const std::string kCrossbar = "model = \"crossbar\"";

}  // namespace

// Three flows of 1000 bytes into node 0, a third each, until 3000; alone they would take 1000. Each
// passes two links of eight. Bins are 16 ticks wide, the least power of two with which 200 bins
// cover 3000: 187 bins with 16 bytes twice, and half of one.
TEST_CASE("loads of an incast") {
  const auto crossbar = network(kCrossbar, 4);
  const auto arrivals =
      play(*crossbar, {{1, 0, 1000, 0, 0, 1}, {2, 0, 1000, 0, 0, 1}, {3, 0, 1000, 0, 0, 1}});
  CHECK(arrivals[2] == Approx(3000));
  const LinkLoads loads = *crossbar->loads(3000);
  CHECK(loads.flows == 3);
  CHECK(loads.slowed == 3);
  CHECK(loads.delay == Approx(6000e-9));
  REQUIRE(loads.kinds.size() == 1);
  CHECK(loads.kinds[0].name == "node");
  CHECK(loads.kinds[0].links == 8);
  CHECK(loads.kinds[0].bytes == Approx(6000));
  CHECK(loads.kinds[0].capacity == Approx(8e9));
  CHECK(loads.bin == Approx(16e-9));
  REQUIRE(loads.kinds[0].by_bin.size() == 188);
  CHECK(loads.kinds[0].by_bin[0] == Approx(32));
  CHECK(loads.kinds[0].by_bin[100] == Approx(32));
  CHECK(loads.kinds[0].by_bin[187] == Approx(16));
  REQUIRE(loads.hottest.size() == 4);
  CHECK(loads.hottest[0].name == "node 0 in");
  CHECK(loads.hottest[0].bytes == Approx(3000));
  CHECK(loads.hottest[1].name == "node 1 out");
  CHECK(loads.hottest[1].bytes == Approx(1000));
}

// All bytes are on the links of their routes: two at level 1, and two more at level 2 between nodes
// below different switches. The hottest are no hotter than the whole.
TEST_CASE("loads add up to what was sent") {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const char* routing : {"d-mod-k", "spread"}) {
    std::string keys = "model = \"fat-tree\"\ndown = [4, 4]\nup = [1, 2]\nrouting = \"";
    keys += routing;
    keys += '"';
    const auto tree = network(keys, 16);
    std::vector<PlayedFlow> flows;
    double level1 = 0, level2 = 0;
    for (int i = 0; i < 200; ++i) {
      const int from = below(16), to = (from + 1 + below(15)) % 16;
      const double bytes = 100 + below(900);
      flows.push_back({from, to, bytes, 1.0 * below(5000), 50, 1});
      level1 += 2 * bytes;
      if (from / 4 != to / 4) level2 += 2 * bytes;
    }
    const auto arrivals = play(*tree, flows);
    const LinkLoads loads = *tree->loads(*std::max_element(arrivals.begin(), arrivals.end()));
    CHECK(loads.flows == 200);
    CHECK(loads.kinds[0].bytes == Approx(level1));
    CHECK(loads.kinds[1].bytes == Approx(level2));
    for (const LinkLoads::Kind& kind : loads.kinds) {
      const double sum = std::accumulate(kind.by_bin.begin(), kind.by_bin.end(), 0.0);
      CHECK(sum == Approx(kind.bytes));
      for (const double bytes : kind.by_bin) CHECK(bytes <= kind.capacity * loads.bin * (1 + 1e-9));
    }
    CHECK(loads.hottest.size() == LinkLoads::kHottest);
    for (size_t i = 1; i < loads.hottest.size(); ++i)
      CHECK(loads.hottest[i].bytes <= loads.hottest[i - 1].bytes);
  }
}

// Out of node 0 half a byte a tick for two: 100 + 1000 / 0.25. Into node 2 likewise.
TEST_CASE("injection and ejection at a node have separate limits") {
  const std::string in = kCrossbar + "\ninjection_bandwidth = \"0.5GB/s\"";
  check(received(4, {{0, 1, 1000}, {0, 2, 1000}, {3, 1, 500}}, on_network(in)), {0, 4100, 4100, 0});
  const std::string out = kCrossbar + "\nejection_bandwidth = \"0.5GB/s\"";
  check(received(4, {{0, 2, 1000}, {1, 2, 1000}}, on_network(out)), {0, 0, 4100, 0});
  check(received(4, {{0, 1, 1000}, {0, 2, 1000}}, on_network(out)), {0, 2100, 2100, 0});
}

// Latencies of 100 and 202, and 1 byte on each of two links, 2: shares are as 204 to 102. The first
// is alone from 100 to 202, has 898 bytes left and gets 2/3: 202 + 1347 = 1549. The other has 449
// then and the link alone: 1549 + 551 = 2100. Without, both have halves: 202 + 2 * 898 = 1998; then
// 102 are left: 2100.
TEST_CASE("shares by latency") {
  const std::vector<PlayedFlow> flows = {{0, 2, 1000, 0, 100, 1}, {1, 2, 1000, 0, 202, 1}};
  const auto rtt = play(*network(kCrossbar + "\nsharing = \"rtt\"\nweight_s = 1", 3), flows);
  CHECK(rtt[0] == Approx(1549));
  CHECK(rtt[1] == Approx(2100));
  const auto fair = play(*network(kCrossbar, 3), flows);
  CHECK(fair[0] == Approx(1998));
  CHECK(fair[1] == Approx(2100));
}
