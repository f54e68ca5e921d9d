// SimGrid's platform files: routes and numbers by hand from what its manual says. (What flows do
// there is compared with SimGrid itself in tests/e2e/replay/simgrid_flows.cc.)

#include <algorithm>
#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/topologies/simgrid_zones.h"
#include "tests/unit/directory.h"
#include "tests/unit/on_network.h"

using namespace rubato;

namespace {

std::string platform(const std::string& inside) {
  return "<?xml version='1.0'?>\n<platform version=\"4.1\">\n" + inside + "\n</platform>\n";
}

std::shared_ptr<const Topology> read(const std::string& inside) {
  const TemporaryDirectory directory;
  return simgrid::topology_of(simgrid::read_platform(directory.write("it.xml", platform(inside))));
}

/// Names of the links between two hosts, in the order of the file.
std::vector<std::string> route(const Topology& topology, int from, int to) {
  std::vector<FairShare::Use> uses;
  topology.route(from, to, uses);
  std::vector<std::string> names;
  for (const FairShare::Use& use : uses) names.push_back(topology.link_name(use.link));
  return names;
}

using Names = std::vector<std::string>;

const std::string kHosts =
    "<host id=\"a\" speed=\"1Gf\"/>\n<host id=\"b\" speed=\"1Gf\"/>\n<host id=\"c\" "
    "speed=\"1Gf\"/>\n";

}  // namespace

// A route for both directions passes its links backwards, and split ones in the other direction.
TEST_CASE("SimGrid's file: routes between pairs of hosts") {
  const auto full =
      read("<zone id=\"z\" routing=\"Full\">\n" + kHosts +
           "<link id=\"x\" bandwidth=\"1GBps\" latency=\"10us\"/>\n"
           "<link id=\"y\" bandwidth=\"10Gbps\" latency=\"2ms\" "
           "sharing_policy=\"SPLITDUPLEX\"/>\n"
           "<link id=\"w\" bandwidth=\"1MiBps\" sharing_policy=\"FATPIPE\"/>\n"
           "<route src=\"a\" dst=\"b\"><link_ctn id=\"x\"/><link_ctn id=\"y\" "
           "direction=\"UP\"/></route>\n"
           "<route src=\"b\" dst=\"c\" symmetrical=\"NO\"><link_ctn id=\"w\"/></route>\n"
           "</zone>");
  CHECK(full->nodes() == 3);
  CHECK(route(*full, 0, 1) == Names{"x", "y_UP"});
  CHECK(route(*full, 1, 0) == Names{"x", "y_DOWN"});
  CHECK(full->latency(0, 1) == Approx(2.01e-3));
  CHECK(full->links()[0].bandwidth == 1e9);
  // bits An unshared link (FATPIPE) limits each flow separately.
  CHECK(full->links()[1].bandwidth == 1.25e9);
  CHECK(route(*full, 1, 2).empty());
  CHECK(full->limit(1, 2) == 1048576);
  CHECK_THROWS_WITH(route(*full, 2, 1), "zone 'z' has no route from 'c' to 'b'");
}

// a - r - b, and c at b: from a to c by r and b.
TEST_CASE("SimGrid's file: shortest routes") {
  for (const char* routing : {"Floyd", "Dijkstra", "DijkstraCache"}) {
    const auto zone =
        read(std::string("<zone id=\"z\" routing=\"") + routing + "\">\n" + kHosts +
             "<router id=\"r\"/>\n<link id=\"x\" bandwidth=\"1GBps\" latency=\"1us\"/>"
             "<link id=\"y\" bandwidth=\"1GBps\" latency=\"1us\"/>"
             "<link id=\"w\" bandwidth=\"1GBps\" latency=\"1us\"/>"
             "<route src=\"a\" dst=\"r\"><link_ctn id=\"x\"/></route>"
             "<route src=\"r\" dst=\"b\"><link_ctn id=\"y\"/></route>"
             "<route src=\"b\" dst=\"c\"><link_ctn id=\"w\"/></route></zone>");
    CHECK(zone->nodes() == 3);
    CHECK(route(*zone, 0, 2) == Names{"x", "y", "w"});
    CHECK(route(*zone, 2, 0) == Names{"x", "y", "w"});  // shared by both directions
    CHECK(zone->latency(0, 1) == Approx(2e-6));
  }
}

TEST_CASE("SimGrid's file: clusters in zones meet at their gateways") {
  const auto both = read(
      "<zone id=\"w\" routing=\"Full\">\n"
      "<cluster id=\"c\" prefix=\"h\" suffix=\".x\" radical=\"0-1,5\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"10us\" bb_bw=\"4GBps\" bb_lat=\"5us\" loopback_bw=\"9GBps\" loopback_lat=\"0us\"/>\n"
      "<zone id=\"d\" routing=\"Full\"><host id=\"lone\" speed=\"1Gf\"/></zone>\n"
      "<link id=\"wan\" bandwidth=\"1Gbps\" latency=\"1ms\"/>\n"
      "<zoneRoute src=\"c\" dst=\"d\" gw_src=\"hc_router.x\" gw_dst=\"lone\"><link_ctn "
      "id=\"wan\"/></zoneRoute>\n</zone>");
  CHECK(both->nodes() == 4);
  CHECK(route(*both, 0, 2) == Names{"c_backbone", "c_link_0_UP", "c_link_5_DOWN"});
  CHECK(route(*both, 1, 3) == Names{"c_backbone", "c_link_1_UP", "wan"});
  CHECK(route(*both, 3, 1) == Names{"c_backbone", "c_link_1_DOWN", "wan"});
  CHECK(both->latency(0, 2) == Approx(25e-6));
  CHECK(both->latency(3, 0) == Approx(1015e-6));
}

// A cabinet: hosts with a link each, named after them, in a zone with a backbone.
TEST_CASE("SimGrid's file: cabinets") {
  const auto both = read(
      "<zone id=\"w\" routing=\"Cluster\">\n<backbone id=\"b\" bandwidth=\"9GBps\" "
      "latency=\"1us\"/>\n"
      "<cabinet id=\"c\" prefix=\"n\" suffix=\".x\" radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"2us\"/>\n"
      "<cabinet id=\"d\" prefix=\"m\" suffix=\".x\" radical=\"7\" speed=\"1Gf\" bw=\"2GBps\" "
      "lat=\"4us\"/>\n"
      "</zone>");
  CHECK(both->nodes() == 3);
  CHECK(route(*both, 0, 2) == Names{"b", "link_n0.x_UP", "link_m7.x_DOWN"});
  CHECK(both->latency(0, 2) == Approx(7e-6));
  CHECK(both->latency(0, 1) == Approx(5e-6));
}

// What a host sends and receives passes its limiter, one for both, and that of each router.
TEST_CASE("SimGrid's file: limiters in a dragonfly") {
  const auto two = read(
      "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"1us\" "
      "limiter_link=\"150MBps\" topology=\"DRAGONFLY\" topo_parameters=\"1,1;1,1;1,1;2\"/>");
  const Names there = route(*two, 0, 1), back = route(*two, 1, 0);
  CHECK(there.size() == 5);
  for (const char* limiter : {"c limiter-0", "c limiter-1", "c limiter-r0"}) {
    CHECK(std::count(there.begin(), there.end(), limiter) == 1);
    CHECK(std::count(back.begin(), back.end(), limiter) == 1);
  }
  CHECK(two->latency(0, 1) == Approx(2e-6));
}

// A host's limiter counts for what it passes on in a torus, too, and each switch of a fat tree has
// one. From 0 to 2 in a ring of 4 over 1; in a tree of two levels over both switches and the root.
TEST_CASE("SimGrid's file: limiters in a torus and in a fat tree") {
  const std::string cluster =
      "<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" bw=\"1GBps\" "
      "lat=\"1us\" limiter_link=\"150MBps\" ";
  const auto limiters = [](const Topology& topology, int from, int to) {
    Names names;
    for (const std::string& name : route(topology, from, to)) {
      if (name.find("limiter") != std::string::npos) names.push_back(name);
    }
    return names;
  };
  const auto ring = read(cluster + "topology=\"TORUS\" topo_parameters=\"4\"/>");
  CHECK(limiters(*ring, 0, 2) == Names{"c limiter-0", "c limiter-1", "c limiter-2"});
  CHECK(limiters(*ring, 1, 0) == Names{"c limiter-0", "c limiter-1"});
  CHECK(ring->latency(0, 2) == Approx(2e-6));
  const auto tree = read(cluster + "topology=\"FAT_TREE\" topo_parameters=\"2;2,2;1,1;1,1\"/>");
  CHECK(limiters(*tree, 0, 2) == Names{"c limiter-0", "c limiter-2", "c level 1 limiter-0",
                                       "c level 1 limiter-1", "c level 2 limiter-0"});
  CHECK(limiters(*tree, 3, 2) == Names{"c limiter-2", "c limiter-3", "c level 1 limiter-1"});
}

// network=FILE.xml: 2 links of 20 ns on top of 100 + n; two into one host share its link. The same
// from a file with [network].
TEST_CASE("SimGrid's file as the network of a scenario") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "four.xml", platform("<cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-3\" "
                           "speed=\"1Gf\" bw=\"1GBps\" lat=\"20ns\"/>"));
  const std::vector<Send> sends = {{1, 0, 1000}, {2, 0, 1000}, {0, 3, 500}};
  const Scenario four = changed(contended(""), "network=" + path);
  check(received(4, sends, four), {2140, 0, 0, 640});
  const std::string toml = directory.write("four.toml",
                                           "[network]\ntopology = \"simgrid\"\n"
                                           "file = \"four.xml\"\n");
  check(received(4, sends, changed(contended(""), "network=" + toml)), {2140, 0, 0, 640});
  CHECK_THROWS_WITH(received(5, sends, four),
                    Catch::Contains("the run has 5 nodes, the platform of SimGrid's has 4"));
}

// A FATPIPE of half a byte a tick lets each flow have that, however many there are: 1000 bytes take
// 2000, with 100 + 1000 alone 100 + 2000.
TEST_CASE("SimGrid's file: an unshared link") {
  const TemporaryDirectory directory;
  const std::string path = directory.write(
      "pipe.xml", platform("<zone id=\"z\" routing=\"Full\">\n" + kHosts +
                           "<link id=\"x\" bandwidth=\"500MBps\" sharing_policy=\"FATPIPE\"/>"
                           "<route src=\"a\" dst=\"b\"><link_ctn id=\"x\"/></route>"
                           "<route src=\"a\" dst=\"c\"><link_ctn id=\"x\"/></route>"
                           "<route src=\"b\" dst=\"c\"><link_ctn id=\"x\"/></route></zone>"));
  check(received(3, {{0, 1, 1000}, {0, 2, 1000}, {1, 2, 1000}},
                 changed(contended(""), "network=" + path)),
        {0, 2100, 2100});
}

TEST_CASE("SimGrid's files that are not understood are refused by line") {
  const auto refused = [](const std::string& inside, const std::string& why) {
    try {
      read(inside);
      FAIL("was accepted: " << inside);
    } catch (const InputError& error) {
      const std::string what = error.what();
      INFO(what);
      CHECK(what.find(why) != std::string::npos);
      CHECK(what.find('\n') == std::string::npos);
    }
  };
  const auto zone = [](const std::string& inside) {
    return "<zone id=\"z\" routing=\"Full\">\n" + inside + "\n</zone>";
  };
  const std::string link = "<link id=\"x\" bandwidth=\"1GBps\" latency=\"1us\"/>\n";
  refused("<zone id=\"z\" routing=\"Vivaldi\"/>", "it.xml:3: <zone>: routing \"Vivaldi\"");
  refused("<zone id=\"z\" routing=\"Vivaldi\"/>",
          "write the latency into a platform file of Rubato");
  refused(zone(kHosts + "<peer id=\"p\"/>"), "it.xml:7: <peer>: is not understood");
  refused(zone("<host id=\"a\" speed=\"1f\" colour=\"red\"/>"), "'colour' is not understood");
  refused(zone("<link id=\"x\" bandwidth=\"1GB\"/>"), "it.xml:4: <link>: '1GB' should be");
  refused(zone("<link id=\"x\" bandwidth=\"0GBps\"/>"), "a bandwidth above 0");
  refused(zone("<link id=\"x\" bandwidth=\"1GBps\" latency=\"-1us\"/>"), "should be a time");
  refused(zone("<link id=\"x\" bandwidth=\"1GBps\" sharing_policy=\"WIFI\"/>"), "\"WIFI\"");
  refused(zone("<link id=\"x\" bandwidth=\"1GBps\" bandwidth_file=\"f\"/>"), "'bandwidth_file'");
  refused(zone(link + link), "two links 'x'");
  refused(zone(kHosts + kHosts), "two of the name 'a'");
  refused(zone(kHosts + link + "<route src=\"a\" dst=\"q\"><link_ctn id=\"x\"/></route>"),
          "dst 'q': there is no such thing");
  refused(zone(kHosts + "<route src=\"a\" dst=\"b\"><link_ctn id=\"y\"/></route>"),
          "there is no link 'y'");
  refused(zone(kHosts + link +
               "<route src=\"a\" dst=\"b\"><link_ctn id=\"x\"/></route>"
               "<route src=\"b\" dst=\"a\"><link_ctn id=\"x\"/></route>"),
          "from 'b' to 'a' before");
  refused(zone(""), "there are no hosts");
  refused("<zone id=\"z\" routing=\"Full\">", "it.xml:");
  const std::string cluster =
      "<cluster id=\"c\" prefix=\"h\" suffix=\"\" speed=\"1f\" bw=\"1GBps\" "
      "lat=\"0us\" ";
  refused(cluster + "radical=\"0-3\" topology=\"TORUS\" topo_parameters=\"5\"/>",
          "different numbers of hosts");
  refused(cluster + "radical=\"0-3\" topology=\"TORUS\" topo_parameters=\"4;4\"/>", "do not fit");
  refused(cluster + "radical=\"0-3\" topology=\"RING\" topo_parameters=\"4\"/>", "\"RING\"");
  refused(cluster + "radical=\"0-9999999\"/>", "more than 1 M hosts");
  refused(cluster + "radical=\"0-\"/>", "as in 0-15,20");
  refused(cluster + "radical=\"0-3\" topology=\"DRAGONFLY\" topo_parameters=\"4,1;1,1;1,1;1\"/>",
          "more groups than a chassis has routers");
  // Entities are not expanded, and nesting is limited.
  refused("<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">]>" + zone("<host id=\"a\"/>&a;"), "it.xml:");
  std::string deep, end;
  for (int i = 0; i < 100; ++i) {
    deep += "<zone id=\"z" + std::to_string(i) + "\" routing=\"Full\">";
    end += "</zone>";
  }
  refused(deep + end, "more than 32 deep");
}
