// Hand-made networks, worked out by hand. One tick is one nanosecond; between nodes T(n) = 100 + n,
// and cables transfer one byte per tick in either direction, unless stated otherwise.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/network/topology.h"
#include "models/platform/platform_file.h"
#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

/// Four nodes at two switches with one cable between them.
const std::string kTwoSwitches =
    "model = \"graph\"\nnodes = [\"n[0-3]\"]\n"
    "cables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1\"]";

/// Two nodes at s0 and two at s3, with s1 or s2 between; `more` are further keys.
std::string diamond(const std::string& more = "") {
  return "model = \"graph\"\nnodes = [\"a b\", \"c\", \"d\"]\ncables = [\"a s0\", \"b s0\", \"c "
         "s3\", "
         "\"d s3\", \"s0 s1\", \"s0 s2\", \"s1 s3\", \"s2 s3\"]\n" +
         more;
}

}  // namespace

// 0 to 2 and 1 to 3 share the cable between the switches: 100 + 2 * 1000. 0 to 1 and 2 to 3 do not.
// With 2 GB/s between the switches no flow is slowed down.
TEST_CASE("graph: a cable between two switches") {
  check(received(4, {{0, 2, 1000}, {1, 3, 1000}}, on_network(kTwoSwitches)), {0, 0, 2100, 2100});
  check(received(4, {{0, 1, 1000}, {2, 3, 1000}}, on_network(kTwoSwitches)), {0, 1100, 0, 1100});
  // One in either direction.
  check(received(4, {{0, 2, 1000}, {3, 1, 1000}}, on_network(kTwoSwitches)), {0, 1100, 1100, 0});
  const std::string faster =
      "model = \"graph\"\nnodes = [\"n[0-3]\"]\n"
      "cables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1 2GB/s\"]";
  check(received(4, {{0, 2, 1000}, {1, 3, 1000}}, on_network(faster)), {0, 0, 1100, 1100});
  // A cable whose directions share it.
  const std::string half =
      "model = \"graph\"\nnodes = [\"n[0-3]\"]\n"
      "cables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1 half-duplex\"]";
  check(received(4, {{0, 2, 1000}, {3, 1, 1000}}, on_network(half)), {0, 2100, 2100, 0});
}

// a to c and b to d both go over s1, which was named first: 100 + 2 * 1000. Spread, half of each
// goes over s2: no flow is slowed down. With explicit routes one goes over s2: likewise.
TEST_CASE("graph: shortest routes, all of them, and routes by hand") {
  const std::vector<Send> two = {{0, 2, 1000}, {1, 3, 1000}};
  check(received(4, two, on_network(diamond())), {0, 0, 2100, 2100});
  check(received(4, two, on_network(diamond("routing = \"spread\""))), {0, 0, 1100, 1100});
  check(received(4, two, on_network(diamond("routes = [\"b s0 s2 s3 d\"]"))), {0, 0, 1100, 1100});
  // A detour may pass a cable twice: then it counts twice. b to d takes s0-s1 at 2 x, a to c at x.
  check(received(4, two, on_network(diamond("routes = [\"b s0 s1 s0 s1 s3 d\"]"))),
        {0, 0, 3100, 3100});
}

// Cables of 10 ns, but 200 between the switches: 0 to 1 passes 2 of 10; 0 to 2 one of 200 more.
TEST_CASE("graph: latencies by cable") {
  const std::string slow =
      "model = \"graph\"\nlink_latency = \"10ns\"\nnodes = [\"n[0-3]\"]\n"
      "cables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1 200ns 5GB/s\"]";
  check(received(4, {{0, 2, 1000}, {3, 1, 500}}, on_network(slow)), {0, 820, 1320, 0});
  check(received(4, {{0, 1, 1000}}, on_network(slow)), {0, 1120, 0, 0});
}

// Cables of i^3 + i ns from node i to one switch: 30 * 29 / 2 sums of two, nearly all different,
// are more than there may be distances (252). So at most two neighbouring sums share one distance,
// their mean: no error exceeds half the difference to the neighbour.
TEST_CASE("graph: more latencies than there may be distances") {
  std::string cables;
  std::vector<double> own;
  for (int i = 0; i < 30; ++i) {
    own.push_back(i * i * i + i);
    cables += fmt::format("\"n{} s {}ns\", ", i, own.back());
  }
  const Scenario star =
      on_network("model = \"graph\"\nnodes = [\"n[0-29]\"]\ncables = [" + cables + "]");
  const auto distances = star.platform.contention.make_distances(Placement::blocks(30, 1));
  CHECK(distances->count() == 252);
  std::vector<double> sums = {0};
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < i; ++j) sums.push_back(own[i] + own[j]);
  }
  std::sort(sums.begin(), sums.end());
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  REQUIRE(sums.size() > 252);
  REQUIRE(sums.size() <= 2 * 252);
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 30; ++j) {
      if (i == j) continue;
      const double sum = own[i] + own[j];
      const auto at = std::lower_bound(sums.begin(), sums.end(), sum);
      const double before = at == sums.begin() ? 0 : sum - *(at - 1);
      const double after = at + 1 == sums.end() ? 0 : *(at + 1) - sum;
      const double told = distances->latency(distances->between(i, j)) * 1e9;
      CHECK(std::abs(told - sum) <= std::max(before, after) / 2 + 1e-6);
    }
  }
}

// A node forwards where there is no other way: n0 n1 n2 in a row.
TEST_CASE("graph: nodes on the way") {
  const std::string row =
      "model = \"graph\"\nnodes = [\"n[0-2]\"]\ncables = [\"n0 n1\", \"n1 n2\"]";
  check(received(3, {{0, 2, 1000}, {1, 2, 1000}}, on_network(row)), {0, 0, 2100});
}

TEST_CASE("graph: the same after a file was written") {
  const Scenario scenario = on_network(diamond("routes = [\"b s0 s2 s3 d\"]"));
  const Platform again = parse_platform(format_platform(scenario.platform), "again");
  CHECK(again.contention.texts == scenario.platform.contention.texts);
  CHECK(again.contention.lines("cables").size() == 8);
}

TEST_CASE("graphs that do not fit are refused") {
  const auto refused = [](const std::string& keys, const std::string& why) {
    try {
      received(2, {{0, 1, 8}}, on_network("model = \"graph\"\n" + keys));
      FAIL("was accepted: " << keys);
    } catch (const InputError& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(why) != std::string::npos);
    }
  };
  refused("nodes = [\"a\"]", "needs 'nodes', their names, and 'cables'");
  refused("nodes = [\"a\"]\ncables = [\"a s\"]", "the run has 2 nodes, the graph has 1");
  refused("nodes = [\"a b\"]\ncables = [\"a s\"]", "there is no way from b to a");
  refused("nodes = [\"a b\"]\ncables = [\"a s\", \"s b one-way\"]", "there is no way from b to a");
  refused("nodes = [\"a b\"]\ncables = [\"a b\", \"b a\"]", "cable 'b a': there is one before b→a");
  refused("nodes = [\"a b\"]\ncables = [\"a a\"]", "both ends are a");
  refused("nodes = [\"a b\"]\ncables = [\"a\"]", "write FROM TO");
  refused("nodes = [\"a b\"]\ncables = [\"a b 5\"]", "cable 'a b 5'");
  refused("nodes = [\"n[0-\"]\ncables = [\"n0 n1\"]", "should be a name, or as in n[0-15]");
  refused("nodes = [\"n[0-9999999]\"]\ncables = [\"n0 n1\"]", "more than 1 M names");
  refused("nodes = [\"n[0-3]\"]\ncables = [\"n[0-3] s[0-1]\"]", "different lengths");
  refused("nodes = [\"a a\"]\ncables = [\"a b\"]", "two nodes 'a'");
  refused("nodes = [\"a b\"]\ncables = [\"a b\"]\nroutes = [\"a c b\"]", "no cable ends at 'c'");
  refused("nodes = [\"a b\"]\ncables = [\"a s\", \"s b\"]\nroutes = [\"a b\"]", "no cable a→b");
}

// The cable between the switches takes 50 ns more: also for nodes that nodes= names.
TEST_CASE("graph: latencies are those of the nodes that the run has") {
  Scenario scenario = on_network(
      "model = \"graph\"\nnodes = [\"n[0-3]\"]\n"
      "cables = [\"n[0-1] s0\", \"n[2-3] s1\", \"s0 s1 1GB/s 50ns\"]");
  check(received(2, {{0, 1, 1000}}, scenario), {0, 1100});
  scenario.placement.nodes = {0, 2};
  check(received(2, {{0, 1, 1000}}, scenario), {0, 1150});
  scenario.placement.nodes = {2, 3};
  check(received(2, {{0, 1, 1000}}, scenario), {0, 1100});
}
