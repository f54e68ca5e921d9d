#include "models/scenario/scenario.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "models/base/error.h"
#include "models/collective/collectives.h"
#include "models/platform/interconnect.h"

using namespace rubato;

namespace {

/// A platform file that lasts as long as the test. T: 1 us + n / 1 GB/s up to 1000 B, then 3 us + n
/// / 2 GB/s with a handshake, then from 10000 B a segment whose intercept lies below the latency:
/// 0.5 us + n / 1 GB/s.
class PlatformFile {
 public:
  PlatformFile() {
    std::ofstream(path_) << R"(
      format = 1
      [level.node]
      transfer = [
        { from = "0B", latency = "1us", bandwidth = "1GB/s" },
        { from = "1000B", latency = "3us", bandwidth = "2GB/s" },
        { from = "10000B", latency = "0.5us", bandwidth = "1GB/s" },
      ]
      protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
      [level.self]
      transfer = [ { from = "0B", latency = "100ns", bandwidth = "10GB/s" } ]
    )";
  }
  ~PlatformFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  /// Test cases run beside each other, in processes of their own.
  std::string path_ = "scenario_test_platform." + std::to_string(getpid()) + ".toml";
};

double node_time(const Scenario& scenario, double bytes) {
  return Interconnect(scenario.platform).message(Level::kNode, bytes).transfer;
}

}  // namespace

TEST_CASE("latency*f adds the smallest message's latency per trip, three in a handshake") {
  const PlatformFile file;
  const Scenario slow = parse_scenario(file.path() + ":latency*10");
  // L = 1 us, so 9 us more for each trip.
  CHECK(node_time(slow, 0) == Approx(10e-6));
  CHECK(node_time(slow, 500) == Approx(10e-6 + 0.5e-6));
  // 3 us + 1 us for 2000 B, and three trips in the handshake: 4 + 27 = 31 us.
  CHECK(node_time(slow, 2000) == Approx(31e-6));
  // Without a level, self is left alone.
  CHECK(Interconnect(slow.platform).message(Level::kSelf, 0).transfer == Approx(100e-9));
  CHECK(slow.changed_levels == std::array<bool, kLevels>{false, false, true, false});

  const Scenario set = parse_scenario(file.path() + ":node.latency=2us");
  CHECK(node_time(set, 500) == Approx(2.5e-6));        // 1 us more
  CHECK(node_time(set, 2000) == Approx(4e-6 + 3e-6));  // three times 1 us more
}

TEST_CASE("bandwidth/f multiplies what grows with the size") {
  const PlatformFile file;
  const Scenario slow = parse_scenario(file.path() + ":bandwidth/10");
  CHECK(node_time(slow, 0) == Approx(1e-6));
  CHECK(node_time(slow, 500) == Approx(1e-6 + 5e-6));
  CHECK(node_time(slow, 2000) == Approx(3e-6 + 10e-6));
  // 10000 B: 10.5 us, including 1 us of latency; the other 9.5 us grow tenfold.
  CHECK(node_time(slow, 10000) == Approx(1e-6 + 95e-6));
  // The port is held by what grows: 5 us at 500 B, 95 us at 10000 B.
  CHECK(Interconnect(slow.platform).message(Level::kNode, 500).gap == Approx(5e-6));
  CHECK(Interconnect(slow.platform).message(Level::kNode, 10000).gap == Approx(95e-6));
}

TEST_CASE("bandwidth and latency change the links that messages cross, too") {
  const std::string crossbar =
      "bandela:latency=1us,bandwidth=1GB/s,contention=crossbar,contention.link_bandwidth=2GB/s,";
  const auto links = [&](const std::string& change) {
    return parse_scenario(crossbar + change).platform.contention.numbers;
  };
  CHECK(links("bandwidth*4").at("link_bandwidth") == Approx(8e9));
  CHECK(links("network.bandwidth/2").at("link_bandwidth") == Approx(1e9));
  CHECK(links("bandwidth=5GB/s").at("link_bandwidth") == Approx(10e9));  // five times 1 GB/s
  CHECK(links("latency*2").at("link_bandwidth") == Approx(2e9));
  const Scenario torus = parse_scenario(
      "bandela:latency=1us,bandwidth=1GB/s,contention=torus,contention.dimensions=4x4,"
      "contention.link_latency=3us,latency*2");
  CHECK(torus.platform.contention.numbers.at("link_latency") == Approx(6e-6));
}

TEST_CASE("bandwidth changes what crossing messages take longer") {
  PlatformFile file;
  std::ofstream(file.path()) << R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    crossing_delay = [ { from = "0B", latency = "0s", bandwidth = "4GB/s" } ]
  )";
  const auto delay = [&](const std::string& change) {
    const Scenario scenario = parse_scenario(file.path() + change);
    return Interconnect(scenario.platform).message(Level::kNode, 1000).crossing_delay;
  };
  CHECK(delay("") == Approx(250e-9));              // 1000 B / 4 GB/s
  CHECK(delay(":bandwidth*2") == Approx(125e-9));  // half of it
  CHECK(delay(":latency*10") == Approx(250e-9));   // it is not on the way
  CHECK(delay(":bandwidth=2GB/s") == 0);           // of either direction
}

TEST_CASE("overhead changes what a synchronous message takes its receiver more") {
  PlatformFile file;
  std::ofstream(file.path()) << R"(
    format = 1
    [level.node]
    latency = "1us"
    bandwidth = "1GB/s"
    synchronous_overhead = [ { from = "0B", latency = "200ns", bandwidth = "10GB/s" } ]
  )";
  const auto extra = [&](const std::string& change) {
    const Scenario scenario = parse_scenario(file.path() + change);
    return Interconnect(scenario.platform).message(Level::kNode, 1000).synchronous_overhead;
  };
  CHECK(extra("") == Approx(300e-9));
  CHECK(extra(":overhead*2") == Approx(600e-9));
  CHECK(extra(":latency*10,bandwidth*2") == Approx(300e-9));  // it is the processor's
}

TEST_CASE("bandwidth changes burst gaps as gaps") {
  PlatformFile file;
  std::ofstream(file.path()) << R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    gap = [ { from = "0B", latency = "100ns", bandwidth = "4GB/s" } ]
    burst_gap = [ { from = "0B", latency = "300ns", bandwidth = "2GB/s" } ]
    second_burst_gap = [ { from = "0B", latency = "200ns", bandwidth = "2.5GB/s" } ]
  )";
  const auto cost = [&](const std::string& change) {
    const Scenario scenario = parse_scenario(file.path() + change);
    return Interconnect(scenario.platform).message(Level::kNode, 1000);
  };
  CHECK(cost("").gap == Approx(350e-9));                      // 100 ns + 1000 B / 4 GB/s
  CHECK(cost("").burst_delay == Approx(450e-9));              // 300 ns + 1000 B / 2 GB/s, less g
  CHECK(cost(":bandwidth*2").gap == Approx(225e-9));          // 100 + 125
  CHECK(cost(":bandwidth*2").burst_delay == Approx(325e-9));  // 300 + 250 - 225
  CHECK(cost(":bandwidth=10GB/s").gap == Approx(200e-9));
  CHECK(cost(":bandwidth=10GB/s").burst_delay == Approx(200e-9));    // 400 - 200
  CHECK(cost(":latency*10").burst_delay == Approx(450e-9));          // it is not on the way
  CHECK(cost("").second_burst_delay == Approx(250e-9));              // 200 + 400 - 350
  CHECK(cost(":bandwidth*2").second_burst_delay == Approx(175e-9));  // 200 + 200 - 225
}

TEST_CASE("changes of overheads apply to following messages, too") {
  PlatformFile file;
  std::ofstream(file.path()) << R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "1us", bandwidth = "inf" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
    send_overhead = "90ns"
    receive_overhead = "250ns"
    following_overhead = "100ns"
  )";
  const auto cost = [&](const std::string& change, double bytes = 8) {
    const Scenario scenario = parse_scenario(file.path() + change);
    return Interconnect(scenario.platform).message(Level::kNode, bytes);
  };
  CHECK(cost("").following_send == Approx(90e-9));
  CHECK(cost("").following_receive == Approx(100e-9));
  CHECK(cost("").following_unexpected == Approx(100e-9));
  CHECK(cost(":overhead*2").following_send == Approx(180e-9));
  CHECK(cost(":overhead*2").following_receive == Approx(200e-9));
  CHECK(cost(":latency*10").following_receive == Approx(100e-9));
  CHECK(cost("", 1000).following_receive == Approx(250e-9));  // not eager
}

TEST_CASE("additional delays of a stream do not depend on overheads and port") {
  // At 1000 B: g = 100 ns + 1000 B / 1 GB/s = 1100 ns. f = 1300 is more than a tenth above that:
  // 200 ns are explained by nothing.
  const auto cost = [&](const std::string& following, const std::string& change) {
    PlatformFile file;
    std::ofstream(file.path()) << R"(
      format = 1
      [level.node]
      transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
      gap = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
      send_overhead = "50ns"
      receive_overhead = "80ns"
      following_overhead = [ { from = "0B", latency = ")"
                               << following << R"(", bandwidth = "1GB/s" } ]
    )";
    const Scenario scenario = parse_scenario(file.path() + change);
    return Interconnect(scenario.platform).message(Level::kNode, 1000).streamed_send;
  };
  CHECK(cost("300ns", "") == Approx(1300e-9));
  CHECK(cost("300ns", ":bandwidth*10") == Approx(400e-9));  // 100 + 100, + 200
  CHECK(cost("300ns", ":overhead*2") == Approx(1300e-9));   // max(100, 160, 1100) + 200
  CHECK(cost("300ns", ":overhead*2,bandwidth*10,overhead*2") == Approx(520e-9));  // 4 * 80 + 200
  // f = 1150 is as much as a curve fitted to the same stream may differ: the port explains it.
  CHECK(cost("150ns", "") == Approx(50e-9));
  CHECK(cost("150ns", ":bandwidth*10") == Approx(50e-9));
  CHECK(cost("150ns", ":overhead*2") == Approx(100e-9));
}

TEST_CASE("changes chain, and names and processors are changed too") {
  const PlatformFile file;
  const Scenario s =
      parse_scenario(file.path() + ":latency*2,bandwidth*2,cpu*1.5,cpu/3,ppn=4,name=new one");
  CHECK(s.name == "new one");
  CHECK(s.cpu == Approx(0.5));
  CHECK(s.placement.kind == PlacementRule::Kind::kBlocks);
  CHECK(s.placement.count == 4);
  CHECK(node_time(s, 500) == Approx(2e-6 + 0.25e-6));
  CHECK(s.platform_file == file.path());
}

TEST_CASE("named machines") {
  CHECK(node_time(parse_scenario("perfect"), 1e9) == 0);
  const Scenario bandela = parse_scenario("bandela:latency=2us,bandwidth=10GB/s");
  for (const Level level : {Level::kSelf, Level::kSocket, Level::kNode, Level::kNetwork}) {
    const MessageCost cost = Interconnect(bandela.platform).message(level, 1e6);
    CHECK(cost.transfer == Approx(102e-6));  // 2 us + 1e6 / 1e10 s
    CHECK(cost.gap == 0);
  }
  CHECK(parse_scenario("measured:cpu*2").basis == Basis::kMeasured);
  CHECK(parse_scenario("undisturbed").basis == Basis::kUndisturbed);
  CHECK(!parse_scenario("undisturbed").local);
  CHECK(parse_scenario("undisturbed:local").basis == Basis::kUndisturbed);
  CHECK(parse_scenario("undisturbed:local").local);
  CHECK(parse_scenario("undisturbed:cpu*2,local").local);
  CHECK_THROWS_AS(parse_scenario("measured:local"), UsageError);
}

// The same as written at once, of bandela for messages of a rank to itself, too.
TEST_CASE("a scenario takes one more change") {
  const Scenario once = parse_scenario("bandela:latency=1us,bandwidth=1GB/s,latency*2.5");
  const Scenario more = changed(parse_scenario("bandela:latency=1us,bandwidth=1GB/s"),
                                change_by("latency", '*', 2.5));
  for (const Level level : {Level::kSelf, Level::kNode, Level::kNetwork})
    CHECK(more.platform.level(level)->transfer(1000) == once.platform.level(level)->transfer(1000));
  CHECK(more.changes == once.changes);
  CHECK(more.name == "bandela:latency=1us,bandwidth=1GB/s");
  CHECK(changed(more, change_by("cpu", '/', 4)).cpu == 0.25);
  CHECK(change_by("cpu", '*', 1.0 / 3) == "cpu*0.3333333333333333");
  CHECK_THROWS_WITH(changed(parse_scenario("measured"), "latency*2"),
                    Catch::Contains("only cpu and region can be changed"));
}

TEST_CASE("bad scenarios are refused with what would be right") {
  const PlatformFile file;
  CHECK_THROWS_WITH(parse_scenario("bandela:latncy=1us"),
                    Catch::Contains("did you mean 'latency'?"));
  CHECK_THROWS_WITH(parse_scenario("bandela:latency=1"), Catch::Contains("is not a time"));
  CHECK_THROWS_WITH(parse_scenario("bandela:latency*0"), Catch::Contains("number above 0"));
  CHECK_THROWS_WITH(parse_scenario("measured:latency*2"),
                    Catch::Contains("only cpu and region can be changed"));
  CHECK_THROWS_WITH(parse_scenario(file.path() + ":network.latency*2"),
                    Catch::Contains("does not have"));
  CHECK_THROWS_WITH(parse_scenario("perfct"), Catch::Contains("did you mean 'perfect'?"));
  CHECK_THROWS_AS(parse_scenario("bandela:latency"), UsageError);
  CHECK_THROWS_AS(parse_scenario("nothere.toml"), InputError);
}

TEST_CASE("numbers that no machine has are refused") {
  for (const char* text : {"bandela:latency=-1us", "perfect:node.latency=-1ns",
                           "bandela:latency=1us,self.latency=-2us"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("must not be negative"));
  for (const char* text : {"bandela:bandwidth=0B/s", "bandela:bandwidth=-1GB/s"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("must be greater than 0"));
  for (const char* text : {"bandela:latency=nan", "bandela:latency=infs", "bandela:bandwidth=nan"})
    CHECK_THROWS_AS(parse_scenario(text), UsageError);
  for (const std::string factor : {"0", "-1", "nan", "inf", "1e10", "1e-10"}) {
    for (const char* key : {"latency", "bandwidth", "overhead", "cpu", "node0.cpu"})
      CHECK_THROWS_AS(parse_scenario("loggps:L=1us,o=1us,G=1ns," + std::string(key) + "*" + factor),
                      UsageError);
  }
  CHECK(node_time(parse_scenario("bandela:latency=0us,bandwidth=1GB/s"), 1000) == Approx(1e-6));
}

// A factor of what is not there would be accepted and do nothing.
TEST_CASE("a change that cannot have an effect is refused") {
  for (const char* text :
       {"perfect:latency*2", "perfect:node.latency/2", "bandela:bandwidth=1GB/s,latency*2"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("the machine has no latency; set one"));
  for (const char* text : {"perfect:bandwidth*2", "bandela:latency=1us,bandwidth/2"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("the machine has no bandwidth"));
  for (const char* text :
       {"perfect:overhead*2", "bandela:latency=1us,overhead*2", "loggps:L=1us,G=1ns,overhead*2"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("the machine has no overhead"));
  for (const char* text : {"perfect:allreduce=ring", "perfect:collectives=mpich",
                           "bandela:collectives=perfect,bcast=chain"})
    CHECK_THROWS_WITH(parse_scenario(text), Catch::Contains("add collectives=algorithm"));
  // Values set now, or set before, are present.
  for (const char* text :
       {"perfect:latency=1us,latency*2", "perfect:bandwidth=1GB/s,bandwidth*2",
        "loggps:L=1us,o=1us,G=1ns,overhead*2",
        "perfect:latency=1us,collectives=algorithm,bcast=chain", "perfect:allreduce=perfect"})
    CHECK_NOTHROW(parse_scenario(text));
  // Searches and sweeps go on from any machine.
  CHECK_NOTHROW(changed(parse_scenario("perfect"), "latency*2"));
  CHECK_THROWS_AS(refuse_idle_change(parse_scenario("perfect"), "latency*2"), UsageError);
}

TEST_CASE("no other scenario can be called measured or perfect") {
  for (const char* text : {"measured:cpu*2,name=measured", "bandela:name=perfect",
                           "perfect:name=perfect", "measured:name=undisturbed"}) {
    CHECK_THROWS_WITH(parse_scenario(text),
                      Catch::Contains("belongs to the scenario without changes"));
  }
  CHECK(parse_scenario("measured:name=Measured").name == "Measured");
}

TEST_CASE("a scenario chooses algorithms of collectives") {
  const PlatformFile file;
  const auto algorithm = [](const Scenario& s, CollectiveOp op) {
    return s.platform.collectives.describe(op, 4, 1000);
  };
  const Scenario plain = parse_scenario(file.path());
  CHECK(algorithm(plain, CollectiveOp::kAllreduce) == "rabenseifner");  // MPICH's
  const Scenario ring = parse_scenario(file.path() + ":allreduce=ring,latency*2");
  CHECK(algorithm(ring, CollectiveOp::kAllreduce) == "ring");
  CHECK(algorithm(ring, CollectiveOp::kBarrier) == "dissemination");
  const Scenario openmpi = parse_scenario(file.path() + ":collectives=openmpi,bcast=chain");
  CHECK(algorithm(openmpi, CollectiveOp::kAllreduce) == "recursive_doubling");
  CHECK(algorithm(openmpi, CollectiveOp::kBarrier) == "linear");
  CHECK(algorithm(openmpi, CollectiveOp::kBcast) == "chain");
  CHECK(algorithm(parse_scenario(file.path() + ":collectives=perfect"), CollectiveOp::kBcast) ==
        "perfect");
  CHECK_THROWS_WITH(parse_scenario(file.path() + ":allreduce=binary"),
                    Catch::Contains("'allreduce' has no algorithm 'binary'; use one of 'linear'"));
  CHECK_THROWS_WITH(parse_scenario(file.path() + ":alreduce=ring"),
                    Catch::Contains("did you mean 'allreduce'?"));
  CHECK_THROWS_WITH(parse_scenario(file.path() + ":collectives=intel"),
                    Catch::Contains("with one of 'mpich', 'openmpi', 'analytic'"));
  CHECK_THROWS_WITH(parse_scenario("measured:allreduce=ring"),
                    Catch::Contains("only cpu and region can be changed"));
}
