// The same flows on the same networks in SimGrid and in Rubato: when each ends.
//
// Both share links max-min fairly. SimGrid is set to its model CM02 without factors, cross traffic
// and windows of TCP. Links have no latency there, as it would weigh flows by it. Rubato's flows go
// as fast as links let them. Topologies are those of SimGrid's <cluster>; each case draws its
// flows: sizes from 1 to 10 MB, starts within 20 ms, so that some tens are under way at once.
//
// Dragonflies have one chassis a group, and no more groups than it has routers: with more groups
// SimGrid 3.32 reads behind its arrays, and with more chassis a route within a group, by way of a
// green link, goes on from the first chassis, wherever it is.
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

#include "models/cost/scenario.h"
#include "models/network/topology.h"
#include "tests/unit/flow_player.h"

namespace {

namespace s4u = simgrid::s4u;
using rubato::PlayedFlow;

constexpr double kBandwidth = 1e9;  // bytes per second, of a link

struct Case {
  std::string name;
  std::string simgrid;  // attributes of <cluster>
  std::string ours;     // changes of a scenario
  int nodes;
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

/// Seconds at which each flow ends.
std::vector<double> in_simgrid(const Case& network, const std::vector<PlayedFlow>& flows) {
  const std::string path = "simgrid-flows-" + std::to_string(getpid()) + ".xml";
  std::ofstream(path) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                         "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                         "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-"
                      << network.nodes - 1
                      << "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0us\" "
                         "sharing_policy=\"SPLITDUPLEX\" "
                      << network.simgrid << "/>\n</platform>\n";
  std::vector<std::string> words = {"flows",
                                    "--cfg=network/model:CM02",
                                    "--cfg=network/crosstraffic:no",
                                    "--cfg=network/TCP-gamma:1e15",
                                    "--cfg=network/bandwidth-factor:1",
                                    "--cfg=network/latency-factor:1",
                                    "--cfg=network/weight-S:0",
                                    "--cfg=surf/precision:1e-12",
                                    "--cfg=maxmin/precision:1e-9",
                                    "--log=root.thres:error"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  engine.load_platform(path);
  unlink(path.c_str());
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

/// How many flows differ by more than 0.1 % of their duration.
int compare(const Case& network, const std::string& traffic, unsigned seed) {
  const std::vector<PlayedFlow> flows = draw(traffic, network.nodes, seed);
  const std::vector<double> theirs = in_simgrid(network, flows), ours = in_rubato(network, flows);
  double worst = 0;
  int wrong = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    const double start = flows[i].start * 1e-9;
    const double off = std::abs(ours[i] - theirs[i]) / (theirs[i] - start);
    worst = std::max(worst, off);
    wrong += off > 1e-3;
  }
  std::printf("%-26s %-11s %3zu flows, at most %.2g %% apart%s\n", network.name.c_str(),
              traffic.c_str(), flows.size(), worst * 100, wrong ? " WRONG" : "");
  std::fflush(stdout);
  return wrong;
}

}  // namespace

int main() {
  int cases = 0, wrong = 0;
  for (const Case& network : kNetworks) {
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
