// Placements of scenarios, and changes of processors and functions. Times are worked out by hand;
// one tick is one nanosecond.

#include "models/placement/placement.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "models/base/error.h"
#include "models/platform/interconnect.h"
#include "models/scenario/scenario.h"
#include "replay/calls/function_clock.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// A file that lasts as long as the test.
class TextFile {
 public:
  explicit TextFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TextFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "placement_test." + std::to_string(getpid()) + ".txt";
};

/// The message with which a file of hosts is refused, without its path.
std::string complaint(const std::string& text) {
  const TextFile file(text);
  try {
    read_placement(file.path());
  } catch (const InputError& error) {
    return std::string(error.what()).substr(file.path().size());
  }
  return "";
}

/// When each rank ends, in ns.
Ends ends(const std::string& trace, const std::string& scenario) {
  const auto source = parse_text_trace(trace);
  return ends_of(run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0]);
}

/// A message goes from rank 0 to 1, from there to 2, and so on to rank 7.
const char* const kChain = R"(
  nodes 0 0 0 0 0 0 0 0
  0: 0..0 send 1 8B
  1: 0..0 recv 0 8B
  1: 0..0 send 2 8B
  2: 0..0 recv 1 8B
  2: 0..0 send 3 8B
  3: 0..0 recv 2 8B
  3: 0..0 send 4 8B
  4: 0..0 recv 3 8B
  4: 0..0 send 5 8B
  5: 0..0 recv 4 8B
  5: 0..0 send 6 8B
  6: 0..0 recv 5 8B
  6: 0..0 send 7 8B
  7: 0..0 recv 6 8B
)";

/// Rank 0 spends 30 of its first 50 in solve and 40 of the next 70, in which it also is in io for
/// 10; rank 1 waits for it.
const char* const kSolver = R"(
  0: 0..0 init
  0: 5..5 send 1 8B
  0: 10..40 function solve
  0: 50..50 local MPI_Comm_rank
  0: 60..100 function solve
  0: 105..115 function io(double*)
  0: 120..120 send 1 8B
  0: 130 end
  1: 0..0 init
  1: 6..6 recv 0 8B
  1: 6..120 recv 0 8B
  1: 130 end
)";

}  // namespace

TEST_CASE("placement by blocks, round robin and file: one archive on other nodes") {
  const std::string machine = "bandela:node.latency=1us,network.latency=5us";
  // Seven hops. All on one node, as recorded and with ppn=8: 7 * 1 us.
  CHECK(ends(kChain, machine)[7] == Approx(7000));
  CHECK(ends(kChain, machine + ",ppn=8")[7] == Approx(7000));
  // ppn=4: the hop from 3 to 4 goes between nodes: 6 * 1 + 5.
  CHECK(ends(kChain, machine + ",ppn=4")[7] == Approx(11000));
  CHECK(ends(kChain, machine + ",placement=block:4")[7] == Approx(11000));
  // Dealt out to two nodes: every hop goes between nodes.
  CHECK(ends(kChain, machine + ",placement=roundrobin:2")[7] == Approx(35000));
  // The hops from 1 to 2 and from 5 to 6 go between nodes: 5 * 1 + 2 * 5.
  const TextFile hosts("a # rank 0\na\n\nb\nb\n  b\nb\na\na\n");
  CHECK(ends(kChain, machine + ",placement=file:" + hosts.path())[7] == Approx(15000));
}

// A torus is a ring of eight nodes here, with 1 us for each link on top of 5 us: node 4 is four
// links from node 0, node 7 one, as node 1 is.
TEST_CASE("the nodes of a run may be any of the network") {
  const char* const trace = R"(
    nodes 0 1
    0: 0..0 send 1 8B
    1: 0..0 recv 0 8B
  )";
  const std::string ring =
      "bandela:network.latency=5us,contention=torus,contention.dimensions=8,"
      "contention.link_latency=1us";
  CHECK(ends(trace, ring)[1] == Approx(6000));
  CHECK(ends(trace, ring + ",nodes=0+4")[1] == Approx(9000));
  CHECK(ends(trace, ring + ",nodes=0-7/7")[1] == Approx(6000));
  CHECK(ends(trace, ring + ",nodes=2-5/3")[1] == Approx(8000));
  // More than the run needs: the first ones. Ranks on one node stay there.
  CHECK(ends(trace, ring + ",nodes=1-7")[1] == Approx(6000));
  CHECK(ends(kChain, ring + ",node.latency=1us,ppn=4,nodes=0+4")[7] == Approx(6 * 1000 + 9000));
  // Rank 0 on node 6, rank 1 on node 3.
  const TextFile hosts("n6\nn03\n");
  CHECK(ends(trace, ring + ",placement=file:" + hosts.path() + ",nodes=hosts")[1] == Approx(8000));
  const auto refused = [&](const std::string& text, const std::string& why) {
    INFO(text);
    CHECK_THROWS_WITH(ends(trace, text), Catch::Contains(why));
  };
  refused(ring + ",nodes=0", "names 1 nodes of the network, the run has 2");
  refused(ring + ",nodes=0+8", "nodes= names node 8, the torus has 8 nodes");
  refused(ring + ",nodes=0-3+2", "node 2 is named twice");
  refused(ring + ",nodes=3-1", "is no list of nodes");
  refused(ring + ",nodes=0+", "is no list of nodes");
  refused(ring + ",nodes=hosts", "needs a file of hosts before it");
  refused("bandela:nodes=0+1", "before it: network=NAME");
  refused("bandela:contention=crossbar,nodes=random:1", "as many nodes as the run");
}

TEST_CASE("random orders are permutations, the same each time") {
  for (const int count : {1, 2, 7, 100}) {
    std::vector<int> order = drawn_order(count, 3);
    CHECK(order == drawn_order(count, 3));
    if (count > 2) CHECK(order != drawn_order(count, 4));
    std::sort(order.begin(), order.end());
    for (int i = 0; i < count; ++i) CHECK(order[i] == i);
  }
  // Each of the six orders of three comes up in about a sixth of 6,000 draws: 1000 +- 4 * 29.
  std::map<std::vector<int>, int> seen;
  for (uint64_t seed = 0; seed < 6000; ++seed) ++seen[drawn_order(3, seed)];
  CHECK(seen.size() == 6);
  for (const auto& [order, times] : seen) CHECK(std::abs(times - 1000) < 116);
  // Ranks change places, each of the two nodes keeps its four.
  const Placement blocks = Placement::blocks(8, 4);
  PlacementRule rule = parse_scenario("bandela:placement=random:5,ppn=4").placement;
  const Placement drawn = rule.place(Placement::blocks(8, 8));
  int moved = 0, on_first = 0;
  for (int rank = 0; rank < 8; ++rank) {
    moved += drawn.node_of(rank) != blocks.node_of(rank);
    on_first += drawn.node_of(rank) == 0;
    CHECK(drawn.network_node_of(rank) == drawn.node_of(rank));
  }
  CHECK(moved > 0);
  CHECK(on_first == 4);
  // Nodes of a ring of 16, drawn.
  rule = parse_scenario("bandela:ppn=1,contention=torus,contention.dimensions=16,nodes=random:2")
             .placement;
  CHECK(rule.nodes == drawn_order(16, 2));
}

TEST_CASE("the last placement counts") {
  const auto rule_of = [](const std::string& changes) {
    return parse_scenario("bandela:" + changes).placement;
  };
  const Placement recorded = Placement::blocks(8, 8);
  const auto nodes = [&](const PlacementRule& rule) {
    const Placement placement = rule.place(recorded);
    std::vector<int> all;
    for (int rank = 0; rank < 8; ++rank) all.push_back(placement.node_of(rank));
    return all;
  };
  CHECK(nodes(rule_of("ppn=4,placement=random:3,placement=block:4")) ==
        std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(nodes(rule_of("placement=random:3,placement=roundrobin:2")) ==
        std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1});
  // 8 ranks in turn on 2 nodes are 4 on each.
  CHECK_NOTHROW(rule_of("ppn=4,placement=roundrobin:2").place(recorded));
  CHECK_THROWS_WITH(rule_of("ppn=4,placement=roundrobin:1").place(recorded),
                    "placement=roundrobin:1 puts 8 ranks on a node, more than ppn=4");
  // block: has replaced ppn=.
  CHECK_NOTHROW(rule_of("ppn=1,placement=block:2,placement=roundrobin:4").place(recorded));
  CHECK_THROWS_WITH(rule_of("ppn=1,ppn=2"), Catch::Contains("ppn= is given twice"));
  CHECK_THROWS_WITH(rule_of("sockets=2,sockets=2"), Catch::Contains("sockets= is given twice"));
}

TEST_CASE("an Open MPI rankfile may name ranks in any order") {
  const TextFile file(
      "rank 1=node7 slot=1:0-2\n"
      "rank 0 = node7 slot=0\n"
      "rank 2=+n1 slot=1,2\n");
  const PlacementRule rule = read_placement(file.path());
  CHECK(rule.hosts == std::vector<std::string>{"node7", "node7", "+n1"});
  const Placement placement = rule.place(Placement::blocks(3, 1));
  CHECK(placement.level(0, 1) == Level::kNode);
  CHECK(placement.level(1, 2) == Level::kNetwork);
  CHECK(placement.nodes() == 2);
}

TEST_CASE("a rankfile defines sockets if a slot names one") {
  const TextFile file(
      "rank 0=a slot=0:0\n"
      "rank 1=a slot=0:1-3\n"
      "rank 2=a slot=1:*\n"
      "rank 3=a slot=0:0,1:0\n"
      "rank 4=b slot=0:0\n"
      "rank 5=a slot=0\n");
  const Placement placement = read_placement(file.path()).place(Placement::blocks(6, 6));
  CHECK(placement.level(0, 0) == Level::kSelf);
  CHECK(placement.level(0, 1) == Level::kSocket);
  CHECK(placement.level(0, 2) == Level::kNode);
  CHECK(placement.level(0, 3) == Level::kNode);  // several sockets: none
  CHECK(placement.level(0, 4) == Level::kNetwork);
  CHECK(placement.level(0, 5) == Level::kNode);  // a slot is no socket
  CHECK(placement.level(3, 5) == Level::kNode);  // not known of either
}

TEST_CASE("messages inside a socket have their own level if the platform has it") {
  const std::string text = std::string("sockets 0 0 1 1 0 0 1 1\n") + kChain;
  const auto run = [&](const std::string& scenario) {
    const auto source = parse_text_trace(text);
    return run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0];
  };
  const auto messages = [](const ScenarioResult& result, Level level) {
    return result.traffic[static_cast<int>(level)].messages;
  };
  // Hops 0-1, 2-3, 4-5, 6-7 stay on a socket: 4 * 1 + 3 * 5 us.
  const std::string sockets = "bandela:node.latency=5us,socket.latency=1us,network.latency=20us";
  const ScenarioResult told = run(sockets);
  CHECK(ends_of(told)[7] == Approx(19000));
  CHECK(messages(told, Level::kSocket) == 4);
  CHECK(messages(told, Level::kNode) == 3);
  // The price of level node is used for socket: 7 * 5.
  const ScenarioResult same = run("bandela:node.latency=5us");
  CHECK(ends_of(same)[7] == Approx(35000));
  CHECK(messages(same, Level::kSocket) == 0);
  CHECK(messages(same, Level::kNode) == 7);
  CHECK(warnings_about(same).empty());
  CHECK(messages(run("measured"), Level::kNode) == 7);
  // Another placement has no sockets, unless it defines them. Eight ranks on one node and two
  // sockets: only 3-4 crosses. Two nodes of two sockets: 3-4 goes between nodes, 1-2 and 5-6
  // between sockets. Three sockets for eight ranks take 3, 3 and 2 of them: 2-3 and 5-6 cross.
  CHECK(ends_of(run(sockets + ",ppn=8"))[7] == Approx(35000));
  CHECK(ends_of(run(sockets + ",sockets=2"))[7] == Approx(6 * 1000 + 5000));
  CHECK(ends_of(run(sockets + ",sockets=2,ppn=4"))[7] == Approx(4 * 1000 + 2 * 5000 + 20000));
  CHECK(ends_of(run(sockets + ",ppn=4,sockets=2"))[7] == Approx(4 * 1000 + 2 * 5000 + 20000));
  CHECK(ends_of(run(sockets + ",sockets=3"))[7] == Approx(5 * 1000 + 2 * 5000));
  CHECK_THROWS_AS(parse_scenario("perfect:sockets=0"), UsageError);
  CHECK_THROWS_AS(parse_scenario("perfect:sockets*2"), UsageError);
}

TEST_CASE("scenarios of one run count the same messages by the same levels") {
  const std::string text = std::string("sockets 0 0 1 1 0 0 1 1\n") + kChain;
  const auto source = parse_text_trace(text);
  const auto results = run_replay(
      *source, {parse_scenario("measured"), parse_scenario("bandela:socket.latency=1us")}, {});
  for (const ScenarioResult& result : results.scenarios) {
    CHECK(result.traffic[static_cast<int>(Level::kSocket)].messages == 4);
    CHECK(result.traffic[static_cast<int>(Level::kNode)].messages == 3);
  }
}

TEST_CASE("measured does not depend on recorded sockets") {
  // The least time from a send to the end of its receive is 100, which rank 1 waited for. Rank 2
  // came late for a message of its own, 4020 after its send: on another socket it is the only one,
  // but in the node it is not. Processors twice as fast: rank 0 sends at 500 and at
  // 510 + 3990 / 2 = 2505; rank 1 has it at 600; rank 2 comes at 4500 and needs 20.
  const std::string text = R"(
    0: 0..0 init
    0: 1000..1010 send 1 8B
    0: 5000..5010 send 2 8B
    0: 5010 end
    1: 0..0 init
    1: 500..1100 recv 0 8B
    1: 1100 end
    2: 0..0 init
    2: 9000..9020 recv 0 8B
    2: 9020 end
  )";
  check(ends(text, "measured:cpu*2"), {2515, 600, 4520});
  check(ends("sockets 0 0 1\n" + text, "measured:cpu*2"), {2515, 600, 4520});
}

TEST_CASE("a level for sockets with a placement without sockets gives a warning") {
  const auto warnings = [](const std::string& scenario, const std::string& trace = kChain) {
    const auto source = parse_text_trace(trace);
    return warnings_about(run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0]);
  };
  const std::string told = "bandela:node.latency=5us,socket.latency=1us,network.latency=9us";
  const auto is_told = [&](const std::string& change, const std::string& trace = kChain) {
    const std::vector<std::string> all = warnings(told + change, trace);
    REQUIRE(all.size() <= 1);
    if (all.empty()) return std::string();
    const std::string text =
        " the sockets of ranks, so [level.socket] is not used; sockets=N distributes the ranks of "
        "a node over N sockets";
    REQUIRE(all[0].ends_with(text));
    return all[0].substr(0, all[0].size() - text.size());
  };
  CHECK(is_told("") == "the archive does not record");
  CHECK(is_told(",ppn=4") == "its placement does not define");
  CHECK(is_told(",ppn=4,sockets=2").empty());
  const TextFile hosts("a\na\na\na\nb\nb\nb\nb\n");
  CHECK(is_told(",placement=file:" + hosts.path()) == "its placement does not define");
  CHECK(is_told(",sockets=2").empty());
  // An archive with recorded sockets, of at least one rank.
  CHECK(is_told("", std::string("sockets 0 0 1 1 0 0 1 1\n") + kChain).empty());
  CHECK(is_told("", std::string("sockets 0 0 1 1 -1 -1 -1 -1\n") + kChain).empty());
  // No message stays on its node: each rank has one for itself, or is dealt to the other.
  CHECK(is_told(",ppn=1").empty());
  CHECK(is_told(",placement=roundrobin:8").empty());
  CHECK(is_told(",placement=roundrobin:2").empty());

  // Collectives are messages, too, where all their members are on one node.
  const std::string barrier = "0: 0..0 barrier\n1: 0..0 barrier\n2: 0..0 barrier\n";
  CHECK(is_told("", barrier) == "the archive does not record");
  CHECK(is_told("", "nodes 0 0 1\n" + barrier).empty());
  const std::string pair =
      "nodes 0 0 1\ncomm 1 0 1\n0: 0..0 barrier comm 1\n1: 0..0 barrier comm 1\n2: 0 end\n";
  CHECK(is_told("", pair) == "the archive does not record");

  // The other way round.
  CHECK(warnings("bandela:node.latency=5us,ppn=4").empty());
  const std::vector<std::string> useless = warnings("bandela:node.latency=5us,sockets=2");
  REQUIRE(useless.size() == 1);
  CHECK(useless[0].starts_with("sockets= has no effect: the platform has no [level.socket]"));
}

TEST_CASE("the next wider level that a platform has prices what it lacks, never a narrower one") {
  Platform platform = perfect_platform();
  platform.level(Level::kSelf).reset();
  platform.level(Level::kSocket).reset();
  CHECK(platform.priced_as(Level::kSelf) == Level::kNode);
  CHECK(platform.priced_as(Level::kSocket) == Level::kNode);
  platform.level(Level::kNode).reset();
  CHECK(platform.priced_as(Level::kSelf) == Level::kNetwork);
  platform.level(Level::kNetwork).reset();
  platform.level(Level::kNode) = perfect_platform().level(Level::kNode);
  CHECK_FALSE(Interconnect(platform).has(Level::kNetwork));
}

TEST_CASE("each message of a collective is priced by the distance of its members") {
  // Binomial, two ranks a node: 0 -> 2, then 0 -> 1 and 2 -> 3. The root does not wait, so rank 1
  // has it after 1 us, rank 2 after 10, and rank 3 after 11.
  const auto source = parse_text_trace(
      "nodes 0 0 1 1\n0: 0..0 bcast 8B root 0\n1: 0..0 bcast 8B root 0\n2: 0..0 bcast 8B root 0\n"
      "3: 0..0 bcast 8B root 0\n");
  const Scenario scenario = parse_scenario(
      "bandela:node.latency=1us,network.latency=10us,collectives=algorithm,bcast=binomial");
  check(ends_of(run_replay(*source, {scenario}, {}).scenarios[0]), {0, 1000, 10000, 11000});
}

TEST_CASE("collectives across nodes need no price of messages on a node") {
  // The file has the network alone: 10 us for each of the three messages.
  Platform platform;
  LevelModel level;
  level.transfer = TransferCurve::hockney(10e-6, 1e15);
  platform.levels[static_cast<size_t>(Level::kNetwork)] = level;
  platform.collectives.pricing = CollectivePricing::kAlgorithm;
  platform.collectives.of(CollectiveOp::kBcast).rules = {{2, 0, {Algorithm::kBinomial, 0}}};
  Scenario scenario;
  scenario.platform = platform;
  scenario.name = "network alone";
  std::string text = "nodes 0 0 1 1\n";
  for (const char* rank : {"0", "1", "2", "3"})
    text += std::string(rank) + ": 0..0 bcast 8B root 0\n";
  const auto source = parse_text_trace(text);
  check(ends_of(run_replay(*source, {scenario}, {}).scenarios[0]), {0, 10000, 10000, 20000});
}

TEST_CASE("formulas of communicators on one node and on two do not mix") {
  // The first member sends 8 bytes to the second: 1 us on their node. A formula says 1 ms for three
  // members. All on a node, the algorithm would take 1 us, so messages take 1000 times as long;
  // with the third 10 us away, 100 times.
  Platform platform;
  for (const auto& [at, latency] : {std::pair{Level::kNode, 1e-6}, {Level::kNetwork, 10e-6}}) {
    LevelModel level;
    level.transfer = TransferCurve::hockney(latency, 1e15);
    platform.levels[static_cast<size_t>(at)] = level;
  }
  OperationModel& model = platform.collectives.of(CollectiveOp::kAlltoallv);
  model.rules = {{2, 0, {Algorithm::kLinear, 0}}};
  CollectiveFormula constant;
  constant.constant = 1e-3;
  model.formula = {constant};
  Scenario scenario;
  scenario.platform = platform;
  scenario.name = "formula";
  std::string text = "nodes 0 0 0 1 1 2\ncomm 1 0 1 2\ncomm 2 3 4 5\n";
  for (int rank = 0; rank < 6; ++rank) {
    const std::array<const char*, 3> parts = {"8B 0B parts 0B 8B 0B", "0B 8B parts 0B 0B 0B",
                                              "0B 0B parts 0B 0B 0B"};
    text += std::to_string(rank) + ": 0..0 alltoallv " + parts[static_cast<size_t>(rank % 3)] +
            " comm " + std::to_string(1 + rank / 3) + "\n";
  }
  const auto source = parse_text_trace(text);
  const auto ends = ends_of(run_replay(*source, {scenario}, {}).scenarios[0]);
  CHECK(ends[1] == Approx(1000e3));
  CHECK(ends[4] == Approx(100e3));
}

TEST_CASE("a collective is priced by the distances of its members, sockets included") {
  // Binomial, two ranks: one message. Ranks 0 and 1 share a socket, 0 and 2 do not.
  const auto end = [](const char* members, int other) {
    const std::string rank = std::to_string(other);
    const auto source = parse_text_trace(
        "sockets 0 0 1\ncomm 1 " + std::string(members) + "\n0: 0..0 bcast 8B root 0 comm 1\n" +
        rank + ": 0..0 bcast 8B root 0 comm 1\n" + std::to_string(3 - other) + ": 0 end\n");
    const Scenario scenario = parse_scenario(
        "bandela:node.latency=5us,socket.latency=1us,collectives=algorithm,bcast=binomial");
    return ends_of(run_replay(*source, {scenario}, {}).scenarios[0])[static_cast<size_t>(other)];
  };
  CHECK(end("0 1", 1) == Approx(1000));
  CHECK(end("0 2", 2) == Approx(5000));
}

TEST_CASE("contention inside nodes applies to sockets without a level") {
  Platform platform = perfect_platform();
  platform.contention.levels[static_cast<int>(Level::kNode)] = true;
  const auto takes_part = [&](Level level) {
    return platform.contended().levels[static_cast<size_t>(level)];
  };
  CHECK(takes_part(Level::kSocket));
  CHECK(takes_part(Level::kNode));
  platform.level(Level::kSocket) = platform.level(Level::kNode);
  CHECK_FALSE(takes_part(Level::kSocket));
  // A scenario that makes the level does not take it out.
  const TextFile file(
      "format = 1\n[level.node]\ntransfer = [{ from = \"0B\", latency = \"5us\", bandwidth = "
      "\"1GB/s\" }]\n"
      "[contention]\nmodel = \"degradation\"\nlevels = [\"node\"]\n");
  const Scenario scenario = parse_scenario(file.path() + ":socket.latency=1us");
  CHECK(scenario.platform.contended().levels[static_cast<size_t>(Level::kSocket)]);
}

TEST_CASE("bad placements are refused in one line") {
  CHECK(complaint("") == ": there are no hosts in it");
  CHECK(complaint("a\nb slots=2\n") ==
        ":2: 'b slots=2' is not a host; write the host of one rank in each line");
  CHECK(complaint("rank 0=a slot=0\nb\n") ==
        ":2: a rankfile has 'rank N=HOST slot=...' in each line");
  CHECK(complaint("a\nrank 1=b\n") == ":2: write a host in each line, or 'rank N=' in all");
  CHECK(complaint("rank 0=a\nrank 0=b\n") == ":2: rank 0 is listed twice");
  CHECK(complaint("rank 0=a\nrank 2=b\n") == ": rank 1 is missing");
  for (const char* line : {"rank 0=", "rank x=a", "rank =a", "rank 0", "rank -1=a", "rank 0=slot=1",
                           "rank 99999999999=a"}) {
    INFO(line);
    CHECK_FALSE(complaint(std::string(line) + "\n").empty());
  }
  CHECK_THROWS_WITH(read_placement("nowhere.txt"), Catch::Contains("nowhere.txt: cannot be read"));

  const TextFile two("a\nb\n");
  CHECK_THROWS_WITH(ends(kChain, "perfect:name=p,placement=file:" + two.path()),
                    "scenario 'p': " + two.path() + ": has hosts for 2 ranks, but the run has 8");
  for (const char* change : {"placement=block", "placement=block:0", "placement=roundrobin:x",
                             "placement=file:", "placement*2", "ppn=0", "ppn*2"}) {
    INFO(change);
    CHECK_THROWS_AS(parse_scenario(std::string("perfect:") + change), UsageError);
  }
  CHECK_THROWS_WITH(parse_scenario("perfect:placement=roundrobbin:2"),
                    Catch::Contains("did you mean 'roundrobin'?"));
  CHECK_THROWS_WITH(parse_scenario("measured:ppn=2"), Catch::Contains("only cpu and region"));
}

TEST_CASE("processors of some ranks, or of the ranks of some nodes") {
  const char* text = R"(
    0: 0..0 init
    0: 100 end
    1: 0..0 init
    1: 100 end
    2: 0..0 init
    2: 100 end
    3: 0..0 init
    3: 100 end
  )";
  check(ends(text, "perfect:rank1-2.cpu*2"), {100, 50, 50, 100});
  check(ends(text, "measured:rank3.cpu/2"), {100, 100, 100, 200});
  // Nodes are those of the scenario: 0 1 | 2 3.
  check(ends(text, "perfect:ppn=2,node1.cpu*4"), {100, 100, 25, 25});
  // Factors multiply: rank 3 is 2 * 2 * 0.5 times as fast.
  check(ends(text, "perfect:ppn=2,cpu*2,node1.cpu*2,rank3.cpu*0.5"), {50, 50, 25, 50});
  CHECK_THROWS_WITH(ends(text, "perfect:name=p,rank4.cpu*2"),
                    "scenario 'p': there is no rank 4; the run has ranks 0 to 3");
  CHECK_THROWS_WITH(ends(text, "perfect:name=p,ppn=2,node0-2.cpu*2"),
                    "scenario 'p': there is no node 2; the run has nodes 0 to 1");
  for (const char* key :
       {"rank.cpu*2", "rank2-1.cpu*2", "rankx.cpu*2", "rank1.cpu*0", "cpu3.cpu*2"})
    CHECK_THROWS_AS(parse_scenario(std::string("perfect:") + key), UsageError);
}

TEST_CASE("scenarios of other processors do not disturb each other in one pass") {
  const auto source = parse_text_trace("0: 0..0 init\n0: 100 end\n1: 0..0 init\n1: 100 end\n");
  const Results results =
      run_replay(*source,
                 {parse_scenario("perfect"), parse_scenario("perfect:rank0.cpu*2"),
                  parse_scenario("perfect:rank1.cpu*4"), parse_scenario("perfect:cpu/2")},
                 ReplayOptions());
  const double expected[][2] = {{100, 100}, {50, 100}, {100, 25}, {200, 200}};
  for (int i = 0; i < 4; ++i) {
    for (int rank = 0; rank < 2; ++rank)
      CHECK(results.scenarios[i].ranks[rank].end * 1e9 == Approx(expected[i][rank]));
  }
}

TEST_CASE("what if this routine were twice as fast: region=NAME*0.5") {
  // 30 and 40 in solve: half of each is saved. Rank 0 sends at 120 - 35 = 85, and rank 1 has it.
  check(ends(kSolver, "perfect:region=solve*0.5"), {95, 95});
  // Three times as long: 2 * 70 more.
  check(ends(kSolver, "perfect:region=solve*3"), {270, 270});
  check(ends(kSolver, "perfect:region=solve/7"), {70, 70});  // 130 - 60
  // Only rank 0 runs it: its time is the mean.
  check(ends(kSolver, "perfect:region=solve=mean"), {130, 130});
  // A name without its parameters; together with the other: 5 + 35 less.
  check(ends(kSolver, "perfect:region=io*0.5"), {125, 125});
  check(ends(kSolver, "perfect:region=solve*0.5,region=io(double*)*0.5"), {90, 90});
  // On a processor twice as fast as well: (130 - 35) / 2.
  check(ends(kSolver, "perfect:cpu*2,region=solve*0.5"), {47.5, 47.5});
  // Only rank 0's, all of it three times slower: 3 * (120 - 35), then 3 * 10; rank 1 has 10 left.
  check(ends(kSolver, "perfect:rank0.cpu/3,region=solve*0.5"), {285, 265});
  // On the measured machine: rank 1 waited until the very tick in which rank 0 sent.
  check(ends(kSolver, "measured:region=solve*0.5"), {95, 95});
  check(ends(kSolver, "measured"), {130, 130});

  CHECK_THROWS_WITH(ends(kSolver, "perfect:name=p,region=solv*0.5"),
                    "scenario 'p': trace has no function 'solv' on record (did you mean "
                    "'solve'?)");
  CHECK_THROWS_WITH(ends("0: 0..0 init\n0: 1 end\n", "perfect:name=p,region=solve*0.5"),
                    Catch::Contains("nor any other; 'rubato trace --functions' records them"));
  for (const char* change :
       {"region=solve", "region=solve*0", "region=*2", "region*2", "region=a*", "region==mean"})
    CHECK_THROWS_AS(parse_scenario(std::string("perfect:") + change), UsageError);
}

TEST_CASE("time in functions counts outside of calls only, and nested functions together") {
  FunctionTimes all(1);
  const std::vector<FunctionTime>& times = all.of(0);
  FunctionClock clock({&all, nullptr}, 0);
  clock.enter_function({1}, 10);
  clock.enter_function({0}, 12);  // not chosen: what it takes is its caller's
  clock.enter_function({2}, 20);
  clock.leave_function({2}, 25);
  clock.stop(7, 30);              // a call: 15 in the first alone, 5 in both
  clock.enter_function({2}, 31);  // a function that runs inside the call
  clock.leave_function({2}, 32);
  clock.stop(8, 33);  // a flush in it
  clock.go(34);
  clock.go(40);
  clock.leave_function({1}, 44);
  clock.leave_function({1}, 50);  // its enter is not recorded
  clock.stop(9, 60);
  REQUIRE(times.size() == 3);
  CHECK((times[0].event == 7 && times[0].functions == 1 && times[0].ticks == 15));
  CHECK((times[1].event == 7 && times[1].functions == 3 && times[1].ticks == 5));
  CHECK((times[2].event == 9 && times[2].functions == 1 && times[2].ticks == 4));
}
