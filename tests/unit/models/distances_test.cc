// Network models with distances between nodes, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>

#include "models/base/error.h"
#include "models/placement/pairs.h"
#include "models/platform/interconnect.h"
#include "replay/run/scenario_groups.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// Nodes on a ring: each hop beyond the first takes so much longer. With `network`, there are so
/// many buses, too.
class Ring : public Distances {
 public:
  Ring(const Placement& placement, double hop) : placement_(placement), hop_(hop) {}
  int between(int from, int to) const override {
    const int apart = std::abs(placement_.node_of(from) - placement_.node_of(to));
    return std::min(apart, placement_.nodes() - apart) - 1;
  }
  int count() const override { return std::max(1, placement_.nodes() / 2); }
  double latency(int distance) const override { return distance * hop_; }

 private:
  Placement placement_;
  double hop_;
};

const NetworkModel kRing = {
    "test ring",
    "nodes on a ring",
    {{"hop", NetworkKey::Kind::kSeconds, "latency of each hop beyond the first", 0},
     {"network", NetworkKey::Kind::kCount, "concurrent messages", {}}},
    [](const ContentionSetting& setting, const Placement& placement, double ticks_per_second) {
      return setting.number("network")
                 ? network_model("buses")->make(setting, placement, ticks_per_second)
                 : nullptr;
    },
    [](const ContentionSetting& setting, const Placement& placement) -> std::unique_ptr<Distances> {
      if (placement.nodes() == 3) throw InputError("a ring of three is a triangle");
      return std::make_unique<Ring>(placement, *setting.number("hop"));
    }};

/// Violates the rules as requested.
class Wrong : public Distances {
 public:
  Wrong(int count, int between, double latency)
      : count_(count), between_(between), latency_(latency) {}
  int between(int, int) const override { return between_; }
  int count() const override { return count_; }
  double latency(int) const override { return latency_; }

 private:
  int count_, between_;
  double latency_;
};

/// T(n) = 100 + n ns at all levels, no overheads, no gap; and 7 ns a hop beyond the first.
Scenario ring(const std::string& more = "") {
  add_network_model(kRing);
  return parse_scenario("bandela:latency=100ns,bandwidth=1GB/s,contention.hop=7ns" + more);
}

}  // namespace

// In a ring of five, 0 and 1 are neighbours, 0 and 2 two hops apart, and 0 and 3 as well, the other
// way round; ranks 4 and 5 share a node.
TEST_CASE("a message takes longer with each hop, and none within a node") {
  const std::string text = R"(
    nodes 0 1 2 3 4 4
    0: 0..0 isend 1 1000B req 1
    0: 0..0 isend 2 1000B req 2
    0: 0..0 isend 3 1000B req 3
    0: 0..0 wait 1 2 3
    1: 0..10 recv 0 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 0 1000B
    4: 0..0 send 5 1000B
    5: 0..10 recv 4 1000B
  )";
  // Bandela's machine has no gap: all start at 0.
  check(ends(text, ring()), {0, 1100, 1107, 1107, 0, 1100});
  // Several scenarios at once, also of other distances.
  const Scenario flat = parse_scenario("bandela:latency=100ns,bandwidth=1GB/s");
  const Results results =
      replay(text, {ring(), flat, ring(",contention.hop=50ns"), ring(",latency*2,name=slow")});
  check(ends_of(results.scenarios[0]), {0, 1100, 1107, 1107, 0, 1100});
  check(ends_of(results.scenarios[1]), {0, 1100, 1100, 1100, 0, 1100});
  check(ends_of(results.scenarios[2]), {0, 1100, 1150, 1150, 0, 1100});
  check(ends_of(results.scenarios[3]), {0, 1200, 1207, 1207, 0, 1200});
  // Traffic is that of levels.
  const auto& traffic = results.scenarios[0].traffic;
  CHECK(traffic[static_cast<int>(Level::kNetwork)].messages == 3);
  CHECK(traffic[static_cast<int>(Level::kNode)].messages == 1);
}

// The request takes L = 107 to the receiver, which posts at 300; the answer and the data another
// 107 each, and the data 10000: T = 100 + 10000 by the file, including L of the request. 300 +
// (10100 - 100) + 2 * 7.
TEST_CASE("a handshake makes each of its three trips over all hops") {
  const auto machine = [] {
    Scenario scenario = ring();
    for (auto& level : scenario.platform.levels)
      if (level) level->protocols = {{0, Protocol::kEager}, {5000, Protocol::kAsync}};
    return scenario;
  };
  check(ends(R"(
    nodes 0 2 1 3
    0: 0..0 send 1 10000B
    1: 0..0 local MPI_Comm_rank
    1: 300..310 recv 0 10000B
    2: 0..1 local MPI_Comm_rank
    3: 0..1 local MPI_Comm_rank
  )",
             machine()),
        {10314, 10314, 1, 1});
  const Interconnect net(machine().platform, std::make_shared<Ring>(Placement::blocks(4, 1), 7e-9));
  CHECK(net.message(PairClass::of_distance(1), 10000).transfer == Approx(10121e-9));
  CHECK(net.message(PairClass::of_distance(1), 10).transfer == Approx(117e-9));
  CHECK(net.message(PairClass::of_distance(1), 10).latency == Approx(107e-9));
  CHECK(net.message(PairClass::of_distance(1), 10).answer == Approx(107e-9));
  CHECK(net.message(Level::kNetwork, 10).transfer == Approx(110e-9));
}

// Both over two hops, on one bus: the second begins at 1000. Alone 1107.
TEST_CASE("with contention the way is as far") {
  const std::string text = R"(
    nodes 0 1 2 3
    0: 0..0 send 2 1000B
    1: 0..0 send 3 1000B
    2: 0..10 recv 0 1000B
    3: 0..10 recv 1 1000B
  )";
  check(ends(text, ring()), {0, 0, 1107, 1107});
  check(ends(text, ring(",contention.network=2")), {0, 0, 1107, 1107});
  check(ends(text, ring(",contention.network=1")), {0, 0, 1107, 2107});
  // Only then the order of time is needed.
  const auto needs_order = [](const Scenario& scenario) {
    return group_scenarios({scenario}, Placement::blocks(4, 1), false).at(0).needs_order;
  };
  CHECK_FALSE(needs_order(ring()));
  CHECK(needs_order(ring(",contention.network=1")));
}

// A lock is a round trip of 107 each way, the put then takes 1107, and the word of it 107. The
// barrier: two rounds, to the next rank in one hop, 100, and to the one behind it in two, 107.
TEST_CASE("one-sided operations and collectives use the distances of messages") {
  const std::string text = R"(
    nodes 0 1 2 3
    window 1
    0: 0..0 win_lock 2
    0: 0..0 put 2 1000B
    0: 0..0 win_unlock 2
    1: 0..1 local MPI_Comm_rank
    2: 0..1 local MPI_Comm_rank
    3: 0..1 local MPI_Comm_rank
  )";
  check(ends(text, ring()), {214 + 1107 + 107, 1, 1, 1});
  check(ends(text, ring(",contention.network=1")), {214 + 1107 + 107, 1, 1, 1});
  check(ends("nodes 0 1 2 3\n0: 0..1 barrier\n1: 0..1 barrier\n2: 0..1 barrier\n3: 0..1 barrier\n",
             ring()),
        {207, 207, 207, 207});
}

// A ring of eight. Nodes 0 and 4 are two hops from node 2, and four from each other.
TEST_CASE("the most distant pair is looked for from the first rank and from the farthest") {
  const Placement placement = Placement::blocks(16, 2);
  const Pairs pairs(placement, std::make_shared<Ring>(placement, 1e-9));
  CHECK(pairs.classes() == kLevels + 4);
  CHECK(pairs.of(0, 0) == Level::kSelf);
  CHECK(pairs.of(0, 1) == Level::kNode);
  CHECK(pairs.of(0, 15) == PairClass::of_distance(0));
  CHECK(pairs.of(0, 8) == PairClass::of_distance(3));
  CHECK(pairs.of(0, 8).level() == Level::kNetwork);
  const std::vector<int> apart = {4, 0, 8}, near = {4, 5}, self = {4};
  CHECK(pairs.widest(apart) == PairClass::of_distance(3));
  CHECK(pairs.widest(near) == Level::kNode);
  CHECK(pairs.widest(self) == Level::kSelf);
  CHECK(Pairs(placement).widest(apart) == Level::kNetwork);
}

TEST_CASE(
    "scenarios with different distances are replayed separately, with the same distances "
    "together") {
  const auto groups = [](const std::vector<Scenario>& scenarios) {
    return group_scenarios(scenarios, Placement::blocks(4, 1), false).size();
  };
  CHECK(groups({ring(), ring(",latency*2")}) == 1);
  CHECK(groups({ring(), ring(",contention.hop*2")}) == 2);
  CHECK(groups({ring(), parse_scenario("bandela:latency=1us")}) == 2);
  // The default value, given or not. In a model without distances no value makes a difference
  // between pairs.
  Scenario usual = ring();
  usual.platform.contention.numbers.clear();
  CHECK(groups({ring(",contention.hop=0ns"), usual}) == 1);
  CHECK(groups({ring(), usual}) == 2);
  const auto unlimited = [](double number) {
    static const NetworkModel kNothing = {
        "test nothing", "", {{"some", NetworkKey::Kind::kCount, "", {}}}, nullptr};
    Scenario scenario = parse_scenario("bandela:latency=100ns,bandwidth=1GB/s");
    scenario.platform.contention.model = &kNothing;
    scenario.platform.contention.numbers["some"] = number;
    return scenario;
  };
  CHECK(groups({unlimited(1), unlimited(2)}) == 1);
}

TEST_CASE("a network that does not fit the placement is refused in one line") {
  const auto error = [](const std::string& nodes, const Scenario& scenario) -> std::string {
    try {
      ends("nodes " + nodes + "\n0: 0..1 barrier\n1: 0..1 barrier\n2: 0..1 barrier\n", scenario);
    } catch (const InputError& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK(error("0 1 2", ring(",name=odd")) == "scenario 'odd': a ring of three is a triangle");
  CHECK(error("0 0 1", ring(",name=even")).empty());
  // 600 nodes are up to 300 hops apart.
  const ContentionSetting setting = ring().platform.contention;
  CHECK(setting.make_distances(Placement::blocks(504, 1)) != nullptr);
  CHECK_THROWS_AS(setting.make_distances(Placement::blocks(600, 1)), InputError);
}

TEST_CASE("a network model that breaks the rules of distances is named") {
  const auto error = [](int count, int between, double latency) -> std::string {
    try {
      checked(std::make_unique<Wrong>(count, between, latency), "bent")->between(3, 5);
    } catch (const InputError& refused) {
      return refused.what();
    }
    return "";
  };
  CHECK(error(2, 1, 1e-9).empty());
  CHECK(error(252, 251, 0).empty());
  const std::string of_it = "contention.model \"bent\" has ";
  CHECK(error(253, 0, 0) == of_it + "253 distances between nodes; it must be 1 to 252");
  CHECK(error(0, 0, 0) == of_it + "0 distances between nodes; it must be 1 to 252");
  CHECK(error(2, 2, 0) == of_it + "distance 2 between ranks 3 and 5; it must be 0 to 1");
  CHECK(error(2, -1, 0) == of_it + "distance -1 between ranks 3 and 5; it must be 0 to 1");
  const std::string latency = " s at distance 0; it must be a number from 0 on";
  CHECK(error(1, 0, -1) == of_it + "a latency of -1" + latency);
  CHECK(error(1, 0, std::numeric_limits<double>::quiet_NaN()).ends_with(latency));
  CHECK(error(1, 0, std::numeric_limits<double>::infinity()).ends_with(latency));
  // So are distances defined in scenarios.
  const NetworkModel model = {"bent", "", {}, nullptr, [](const auto&, const auto&) {
                                return std::unique_ptr<Distances>(new Wrong(1, 7, 0));
                              }};
  ContentionSetting setting;
  setting.model = &model;
  CHECK_THROWS_AS(setting.make_distances(Placement::blocks(2, 1))->between(0, 1), InputError);
}
