// Links with a constant background load, worked out by hand. One tick is one nanosecond, links take
// one byte a tick, and between nodes T(n) = 100 + n.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/network/topology.h"
#include "tests/unit/on_network.h"
#include "tools/report/link_report.h"

using namespace rubato;

namespace {

const std::string kCrossbar = "model = \"crossbar\"\n";

ScenarioResult one_message(const Scenario& scenario) {
  return replay(traffic(2, {{0, 1, 1000}}), {scenario}).scenarios[0];
}

}  // namespace

// Half of each link is left: 1000 bytes take 2000, with the latency 2100.
TEST_CASE("a flow over links that are loaded to a half") {
  const ScenarioResult result = one_message(on_network(kCrossbar + "load = \"50%\""));
  check_ends(result, {0, 2100});
  // Over both links 1000 bytes in 2100 ns, and half.
  CHECK(links_to_json(result)["hottest"][0]["mean"].get<double>() ==
        Approx(0.5 + 1000.0 / 2100).margin(1e-4));
  CHECK(links_to_json(result)["kinds"][0]["load"] == 0.5);
  CHECK(links_line(result) ==
        "Busiest links on " + result.name +
            ": node 0 out 98 % busy, node 1 in 98 % (constant load: node 50 %); 1 of 1 flows were "
            "slowed down, by 1.000 µs on average.");
}

// Flows go at one byte a tick at most, and 2 GB/s less 50 % is no less.
TEST_CASE("a load that leaves enough bandwidth has no effect") {
  const Scenario scenario = contended(kCrossbar + "link_bandwidth = \"2GB/s\"\nload = 0.5");
  const ScenarioResult result = one_message(scenario);
  check_ends(result, {0, 1100});
  CHECK(result.links->slowed == 0);
}

// Two flows into node 0, over a link with 75 % left: 0.375 each, 1500 / 0.375 = 4000, with the
// latency 4100. (Their own links have as much, which is enough.)
TEST_CASE("an incast on loaded links") {
  const std::vector<Send> sends = {{1, 0, 1500}, {2, 0, 1500}};
  check(received(3, sends, on_network(kCrossbar + "load = \"25%\"")), {4100, 0, 0});
}

// From node 0 to 2 over two links of level 1, and two of level 2 with 20 % left: 1000 / 0.2 = 5000.
// From 0 to 1 over level 1 alone, with 50 % left.
TEST_CASE("loads by kind of link") {
  const Scenario scenario =
      on_network("model = \"fat-tree\"\ndown = [2, 2]\nload = \"50%\"\nloads = [\"level 2 80%\"]");
  check(received(4, {{0, 2, 1000}}, scenario), {0, 0, 5100, 0});
  check(received(4, {{0, 1, 1000}}, scenario), {0, 2100, 0, 0});
}

// 1 GB/s less 90 % out of each node: 1000 / 0.1 = 10000.
TEST_CASE("loads of node limits") {
  const Scenario scenario =
      on_network(kCrossbar + "injection_bandwidth = \"1GB/s\"\nloads = [\"injection 90%\"]");
  check(received(2, {{0, 1, 1000}}, scenario), {0, 10100});
}

TEST_CASE("loads in scenarios and files") {
  const Scenario scenario = parse_scenario(
      "loggps:L=100ns,o=0,g=0,G=1ns,contention=crossbar,contention.link_bandwidth=1GB/s,"
      "contention.load=50%");
  CHECK(*scenario.platform.contention.number("load") == 0.5);
  CHECK_THROWS_WITH(parse_scenario("loggps:contention=crossbar,contention.load=100%"),
                    Catch::Contains("from 0% to below 100%"));
  for (const char* load : {"load = \"100%\"", "load = 1", "load = \"-1%\"", "load = \"much\""})
    CHECK_THROWS_WITH(on_network(kCrossbar + load), Catch::Contains("from 0% to below 100%"));
  CHECK_THROWS_WITH(one_message(on_network(kCrossbar + "loads = [\"level 1 30%\"]")),
                    Catch::Contains("names no kind of link; write one of 'node'"));
  CHECK_THROWS_WITH(one_message(on_network(kCrossbar + "loads = [\"node 100%\"]")),
                    Catch::Contains("from 0% to below 100%"));
  CHECK_THROWS_WITH(one_message(on_network(kCrossbar + "loads = [\"node 1%\", \"node 2%\"]")),
                    Catch::Contains("twice"));
  CHECK_THROWS_WITH(one_message(contended(kCrossbar + "load = \"30%\"")),
                    Catch::Contains("without 'link_bandwidth'"));
}
