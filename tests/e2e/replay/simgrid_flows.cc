// The same flows on the same networks in SimGrid and in Rubato: when each ends.
//
// A third time through Rubato's reader of SimGrid's files, which also takes platforms written by
// hand: routes of zones, links of all kinds, clusters in zones.
//
// Both share links max-min fairly. SimGrid is set to its model CM02 without factors, cross traffic
// and windows of TCP. Links have no latency, as it would weigh flows by it; but in the cases named
// "rtt", which are about that: with weight-S as in its model LV08. Rubato's flows go as fast as
// links let them. Topologies are those of SimGrid's <cluster>; each case draws its
// flows: sizes from 1 to 10 MB, starts within 20 ms, so that some tens are under way at once.
//
// Dragonflies have one chassis a group, and no more groups than it has routers: with more groups
// SimGrid 3.32 reads behind its arrays, and with more chassis a route within a group, by way of a
// green link, goes on from the first chassis, wherever it is.
// Fat trees with limiters have no more switches than hosts: else SimGrid gives the limiters of two
// the same name, and stops.
//
// Prints a line a case, and in the end how many flows agree within 0.1 %; exits with 1 if not all.

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>

#include "models/scenario/scenario.h"
#include "models/topologies/simgrid_zones.h"
#include "tests/unit/flow_player.h"

namespace {

namespace s4u = simgrid::s4u;
using rubato::PlayedFlow;

constexpr double kBandwidth = 1e9;  // bytes per second, of a link

struct Case {
  std::string name;
  std::string simgrid;  // attributes of <cluster>, or contents of <platform>
  std::string ours;     // changes of a scenario; "": through the reader alone
  int nodes;
  bool rtt = false;
};

const std::vector<Case> kNetworks = {
    {"crossbar of 4", "bb_bw=\"1e9GBps\" bb_lat=\"0us\" bb_sharing_policy=\"FATPIPE\"",
     "contention=crossbar", 4},
    {"crossbar of 32", "bb_bw=\"1e9GBps\" bb_lat=\"0us\" bb_sharing_policy=\"FATPIPE\"",
     "contention=crossbar", 32},
    {"crossbar with a backbone", "bb_bw=\"4GBps\" bb_lat=\"0us\"",
     "contention=crossbar,contention.backbone_bandwidth=4GB/s", 16},
    {"fat tree 4x2", "topology=\"FAT_TREE\" topo_parameters=\"2;4,2;1,2;1,1\"",
     "contention=fat-tree,contention.down=4x2,contention.up=1x2", 8},
    {"fat tree 4x4, full", "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,4;1,1\"",
     "contention=fat-tree,contention.down=4x4,contention.up=1x4", 16},
    {"fat tree 8x8, tapered 2:1", "topology=\"FAT_TREE\" topo_parameters=\"2;8,8;1,4;1,1\"",
     "contention=fat-tree,contention.down=8x8,contention.up=1x4", 64},
    {"fat tree 4x4x4", "topology=\"FAT_TREE\" topo_parameters=\"3;4,4,4;1,2,2;1,1,1\"",
     "contention=fat-tree,contention.down=4x4x4,contention.up=1x2x2", 64},
    {"fat tree 16x16", "topology=\"FAT_TREE\" topo_parameters=\"2;16,16;1,8;1,1\"",
     "contention=fat-tree,contention.down=16x16,contention.up=1x8", 256},
    {"ring of 5", "topology=\"TORUS\" topo_parameters=\"5\"",
     "contention=torus,contention.dimensions=5", 5},
    {"torus 5x5", "topology=\"TORUS\" topo_parameters=\"5,5\"",
     "contention=torus,contention.dimensions=5x5", 25},
    {"torus 3x5x7", "topology=\"TORUS\" topo_parameters=\"3,5,7\"",
     "contention=torus,contention.dimensions=3x5x7", 105},
    {"dragonfly of 4 groups", "topology=\"DRAGONFLY\" topo_parameters=\"4,1;1,1;4,1;2\"",
     "contention=dragonfly,contention.shape=4x1x4x2", 32},
    {"dragonfly of 6 groups", "topology=\"DRAGONFLY\" topo_parameters=\"6,2;1,1;8,3;4\"",
     "contention=dragonfly,contention.shape=6x1x8x4,contention.cables=2x1x3", 192},
};
/// Hosts n0 to n4, each at a router of its own; the routers are a ring.
std::string ring(const std::string& routing) {
  std::string text = "<zone id=\"z\" routing=\"" + routing + "\">\n";
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    text += "<host id=\"n" + n + "\" speed=\"1Gf\"/><router id=\"r" + n + "\"/>\n";
    text += "<link id=\"l" + n +
            "\" bandwidth=\"8Gbps\" latency=\"0us\" sharing_policy=\"SPLITDUPLEX\"/>\n";
    text += "<link id=\"m" + n + "\" bandwidth=\"" + std::to_string(900 + 50 * i) +
            "MBps\" latency=\"0us\" sharing_policy=\"" + (i == 2 ? "FATPIPE" : "SHARED") + "\"/>\n";
  }
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i), next = std::to_string((i + 1) % 5);
    text += "<route src=\"n" + n + "\" dst=\"r" + n + "\"><link_ctn id=\"l" + n +
            "\" direction=\"UP\"/></route>\n";
    text +=
        "<route src=\"r" + n + "\" dst=\"r" + next + "\"><link_ctn id=\"m" + n + "\"/></route>\n";
  }
  return text + "</zone>\n";
}

std::string clusters(const std::string& latency) {
  std::string text = "<zone id=\"w\" routing=\"Full\">\n";
  const char* const kinds[] = {
      "bb_bw=\"3GBps\" bb_lat=\"0us\"", "limiter_link=\"1.2GBps\"",
      "topology=\"TORUS\" topo_parameters=\"2,4\" limiter_link=\"800MBps\""};
  for (int i = 0; i < 3; ++i) {
    const std::string id = std::to_string(i);
    text += "<cluster id=\"c" + id + "\" prefix=\"n\" suffix=\"\" radical=\"" +
            std::to_string(8 * i) + "-" + std::to_string(8 * i + 7) +
            "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"" + latency + "\" router_id=\"g" + id +
            "\" loopback_bw=\"9GBps\" loopback_lat=\"1us\" " +
            (i == 1 ? "sharing_policy=\"SHARED\" " : "") + kinds[i] + "/>\n";
  }
  text += "<link id=\"x\" bandwidth=\"2GBps\" latency=\"" + latency + "\"/>\n";
  text += "<link id=\"y\" bandwidth=\"1GiBps\" latency=\"" + latency +
          "\" sharing_policy=\"SPLITDUPLEX\"/>\n";
  return text +
         "<zoneRoute src=\"c0\" dst=\"c1\" gw_src=\"g0\" gw_dst=\"g1\"><link_ctn id=\"x\"/>"
         "<link_ctn id=\"y\" direction=\"DOWN\"/></zoneRoute>\n"
         "<zoneRoute src=\"c0\" dst=\"c2\" gw_src=\"g0\" gw_dst=\"n16\"><link_ctn id=\"x\"/>"
         "</zoneRoute>\n"
         "<zoneRoute src=\"c1\" dst=\"c2\" gw_src=\"g1\" gw_dst=\"n21\"><link_ctn id=\"y\" "
         "direction=\"UP\"/></zoneRoute>\n</zone>\n";
}

/// The platforms above with latencies, and platforms without a topology in Rubato.
std::vector<Case> of_readers() {
  std::vector<Case> cases = {
      {"Floyd zone", ring("Floyd"), "", 5},
      {"Dijkstra zone", ring("Dijkstra"), "", 5},
      {"clusters in a zone", clusters("0us"), "", 24},
      {"fat tree, parallel cables", "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"", "",
       16},
      {"fat tree, parallel cables below",
       "topology=\"FAT_TREE\" topo_parameters=\"3;2,4,2;1,2,2;2,2,1\"", "", 16},
      {"cabinets",
       "<zone id=\"z\" routing=\"Cluster\">\n<cabinet id=\"a\" prefix=\"n\" suffix=\"\" "
       "radical=\"0-7\" "
       "speed=\"1Gf\" bw=\"1GBps\" lat=\"0us\"/>\n<cabinet id=\"b\" prefix=\"n\" suffix=\"\" "
       "radical=\"8-11\" speed=\"1Gf\" bw=\"2GBps\" lat=\"0us\"/>\n"
       "<backbone id=\"c\" bandwidth=\"3GBps\" latency=\"0us\"/>\n</zone>",
       "", 12},
      {"dragonfly with limiters",
       "topology=\"DRAGONFLY\" topo_parameters=\"3,1;1,1;4,1;2\" limiter_link=\"1.2GBps\"", "", 24},
      {"dragonfly, 2 chassis, limiters",
       "topology=\"DRAGONFLY\" topo_parameters=\"2,1;2,1;4,1;2\" limiter_link=\"1.2GBps\"", "", 32},
      {"torus 4x3, limiters", "topology=\"TORUS\" topo_parameters=\"4,3\" limiter_link=\"700MBps\"",
       "", 12},
      {"fat tree 4x4, limiters",
       "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\" limiter_link=\"700MBps\"", "", 16},
      {"fat tree 2x3x2, limiters",
       "topology=\"FAT_TREE\" topo_parameters=\"3;2,3,2;1,1,2;1,2,1\" limiter_link=\"1.5GBps\"", "",
       12},
      {"rtt: torus 4x4, limiters",
       "topology=\"TORUS\" topo_parameters=\"4,4\" lat=\"2us\" limiter_link=\"700MBps\"", "", 16,
       true},
      {"rtt: fat tree, limiters",
       "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,1\" lat=\"1us\" "
       "limiter_link=\"700MBps\"",
       "", 16, true},
      {"dragonfly of 2 chassis", "topology=\"DRAGONFLY\" topo_parameters=\"3,1;2,1;4,1;2\"", "",
       48},
      {"torus 2x4x4", "topology=\"TORUS\" topo_parameters=\"2,4,4\"", "", 32},
      {"rtt: clusters in a zone", clusters("3us"), "", 24, true},
      {"rtt: torus 4x4", "topology=\"TORUS\" topo_parameters=\"4,4\" lat=\"2us\"", "", 16, true},
      {"rtt: fat tree 4x4", "topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,1\" lat=\"1us\"",
       "", 16, true},
      {"rtt: dragonfly of 4 groups",
       "topology=\"DRAGONFLY\" topo_parameters=\"4,1;1,1;4,1;2\" lat=\"5us\"", "", 32, true}};
  return cases;
}

const char* const kTraffic[] = {"random", "halo", "all to all", "incast"};

std::vector<PlayedFlow> draw(const std::string& traffic, int nodes, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<PlayedFlow> flows;
  const auto add = [&](int from, int to) {
    if (from == to) return;
    flows.push_back({from, to, 1e6 + below(9000) * 1e3, below(20000) * 1e3, 0, 1e6});
  };
  const int some = std::min(nodes, 24);
  if (traffic == "random") {
    for (int i = 0; i < 60; ++i) add(below(nodes), below(nodes));
  } else if (traffic == "halo") {
    for (int node = 0; node < nodes && flows.size() < 200; ++node) {
      add(node, (node + 1) % nodes);
      add(node, (node + nodes - 1) % nodes);
    }
  } else if (traffic == "all to all") {
    for (int from = 0; from < some; ++from)
      for (int to = 0; to < some; ++to) add(from * nodes / some, to * nodes / some);
  } else {
    for (int from = 1; from < some; ++from) add(from, 0);
  }
  return flows;
}

/// Writes a file for both.
std::string write_platform(const Case& network) {
  std::string path = "simgrid-flows-" + std::to_string(getpid()) + ".xml";
  std::string inside = network.simgrid;
  if (!inside.starts_with("<")) {
    inside = "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-" +
             std::to_string(network.nodes - 1) + "\" speed=\"1Gf\" bw=\"1GBps\" " +
             (inside.find(" lat=") == std::string::npos ? "lat=\"0us\" " : "") +
             "sharing_policy=\"SPLITDUPLEX\" " + inside + "/>\n";
  }
  std::ofstream(path) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                         "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                      << inside << "</platform>\n";
  return path;
}

/// Seconds at which each flow ends.
std::vector<double> in_simgrid(const Case& network, const std::string& path,
                               const std::vector<PlayedFlow>& flows) {
  std::vector<std::string> words = {
      "flows",
      "--cfg=network/model:CM02",
      "--cfg=network/crosstraffic:no",
      "--cfg=network/TCP-gamma:1e15",
      "--cfg=network/bandwidth-factor:1",
      "--cfg=network/latency-factor:1",
      std::string("--cfg=network/weight-S:") + (network.rtt ? "20537" : "0"),
      "--cfg=surf/precision:1e-12",
      "--cfg=maxmin/precision:1e-9",
      "--log=root.thres:error"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  engine.load_platform(path);
  std::vector<double> ends(flows.size());
  for (size_t i = 0; i < flows.size(); ++i) {
    const auto host = [&](int node) { return engine.host_by_name("n" + std::to_string(node)); };
    s4u::Mailbox* const box = s4u::Mailbox::by_name(std::to_string(i));
    const PlayedFlow flow = flows[i];
    s4u::Actor::create("send", host(flow.from), [box, flow] {
      s4u::this_actor::sleep_until(flow.start * 1e-9);
      static int nothing;
      box->put(&nothing, static_cast<uint64_t>(flow.bytes));
    });
    s4u::Actor::create("receive", host(flow.to), [box, &ends, i] {
      box->get<int>();
      ends[i] = s4u::Engine::get_clock();
    });
  }
  engine.run();
  return ends;
}

/// The same.
std::vector<double> in_rubato(const Case& network, const std::vector<PlayedFlow>& flows) {
  const auto scenario = rubato::parse_scenario("bandela:latency=0us,bandwidth=1GB/s," +
                                               network.ours + ",contention.link_bandwidth=1GB/s");
  const auto placement = rubato::Placement::blocks(network.nodes, 1);
  const auto links = scenario.platform.contention.make_network(placement, 1e9);
  std::vector<double> ends = rubato::play(*links, flows);
  for (double& end : ends) end *= 1e-9;
  return ends;
}

/// The same through the reader of the file.
std::vector<double> by_reader(const Case& network, const std::string& path,
                              std::vector<PlayedFlow> flows) {
  const auto scenario =
      rubato::parse_scenario("bandela:latency=0us,bandwidth=1000GB/s,network=" + path +
                             (network.rtt ? ",contention.sharing=rtt" : ""));
  const rubato::ContentionSetting& setting = scenario.platform.contention;
  const auto links = setting.make_network(rubato::Placement::blocks(network.nodes, 1), 1e9);
  for (PlayedFlow& flow : flows) flow.latency = setting.loaded->latency(flow.from, flow.to) * 1e9;
  std::vector<double> ends = rubato::play(*links, flows);
  for (double& end : ends) end *= 1e-9;
  return ends;
}

/// How many flows differ by more than 0.1 % of their duration.
int compare(const Case& network, const std::string& traffic, unsigned seed) {
  const std::vector<PlayedFlow> flows = draw(traffic, network.nodes, seed);
  const std::string path = write_platform(network);
  double worst = 0;
  int wrong = 0;
  const std::vector<double> theirs = in_simgrid(network, path, flows);
  const auto check = [&](const std::vector<double>& ours) {
    for (size_t i = 0; i < flows.size(); ++i) {
      const double start = flows[i].start * 1e-9;
      const double off = std::abs(ours[i] - theirs[i]) / (theirs[i] - start);
      worst = std::max(worst, off);
      wrong += off > 1e-3;
    }
  };
  if (!network.ours.empty()) check(in_rubato(network, flows));
  check(by_reader(network, path, flows));
  unlink(path.c_str());
  std::printf("%-26s %-11s %3zu flows, at most %.2g %% apart%s\n", network.name.c_str(),
              traffic.c_str(), flows.size(), worst * 100, wrong ? " WRONG" : "");
  std::fflush(stdout);
  return wrong;
}

}  // namespace

int main() {
  int cases = 0, wrong = 0;
  std::vector<Case> networks = kNetworks;
  for (Case& network : of_readers()) networks.push_back(std::move(network));
  for (const Case& network : networks) {
    for (const char* traffic : kTraffic) {
      ++cases;
      // SimGrid has one platform in a process.
      const pid_t child = fork();
      if (child == 0) _exit(std::min(100, compare(network, traffic, static_cast<unsigned>(cases))));
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++wrong;
    }
  }
  std::printf("%d cases, %d with flows that end more than 0.1 %% apart\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
