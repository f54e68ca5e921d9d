// The machine of LogGPS, worked out by hand. One tick is one nanosecond.

#include "models/platform/loggps.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/platform/interconnect.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

Scenario machine() {
  return parse_scenario("loggps:L=1us,o=100ns,g=200ns,G=2ns,S=1000B");
}

}  // namespace

TEST_CASE("LogGPS: what a message costs") {
  const Interconnect net(machine().platform);
  for (const Level level : {Level::kSelf, Level::kSocket, Level::kNode, Level::kNetwork}) {
    CHECK(net.message(level, 0).transfer == Approx(1000e-9));     // L
    CHECK(net.message(level, 1).transfer == Approx(1000e-9));     // L + 0 G
    CHECK(net.message(level, 101).transfer == Approx(1200e-9));   // L + 100 G
    CHECK(net.message(level, 1000).transfer == Approx(2998e-9));  // L + 999 G
    // Request and answer take o + L + o = 1200 each: 2400 + 1000 + 1000 * 2.
    CHECK(net.message(level, 1001).transfer == Approx(5400e-9));
    CHECK(net.message(level, 101).send_overhead == Approx(100e-9));
    CHECK(net.message(level, 101).receive_overhead == Approx(100e-9));
    CHECK(net.message(level, 0).gap == Approx(200e-9));    // g
    CHECK(net.message(level, 101).gap == Approx(400e-9));  // g + 100 G
    CHECK(net.protocol(level, 1000) == Protocol::kEager);
    CHECK(net.protocol(level, 1001) == Protocol::kAsync);
  }
  // Nothing is synchronous without S, and everything with data where it is 0.
  const Interconnect plain(parse_scenario("loggps:L=1us").platform);
  CHECK(plain.message(Level::kNode, 1e9).transfer == Approx(1000e-9));
  CHECK(plain.protocol(Level::kNode, 1e9) == Protocol::kEager);
  const Interconnect strict(parse_scenario("loggps:L=1us,S=0B").platform);
  CHECK(strict.protocol(Level::kNode, 0) == Protocol::kEager);
  CHECK(strict.message(Level::kNode, 1).transfer == Approx(3000e-9));
}

TEST_CASE("LogGPS: two messages in a row, and a synchronous one") {
  // The first leaves at o = 100 and is there at 100 + 1000 + 200; + 100. The sender is done with
  // both at 200; the second leaves when the port is free, at 100 + 200 + 200, and is there at 1700;
  // + 100.
  check(ends(R"(
    0: 0..0 send 1 101B
    0: 0..0 send 1 101B
    0: 0 end
    1: 0..0 recv 0 101B
    1: 0..0 recv 0 101B
    1: 0 end
  )",
             machine()),
        {200, 1800});
  // It leaves at 100 and takes 5400. Both wait; the receiver takes another 100.
  check(ends(R"(
    0: 0..0 send 1 1001B
    0: 0 end
    1: 0..0 recv 0 1001B
    1: 0 end
  )",
             machine()),
        {5500, 5600});
}

TEST_CASE("LogGPS: other changes can be combined with it, and errors are refused") {
  const Scenario half = parse_scenario("loggps:o=100ns,cpu*2,L=1us,latency*0.5,name=half");
  CHECK(half.name == "half");
  CHECK(half.cpu == 2);
  // o + L + o = 1200 becomes 600, where T is 600 - 200.
  CHECK(Interconnect(half.platform).message(Level::kNetwork, 0).transfer == Approx(400e-9));
  CHECK_THROWS_WITH(parse_scenario("loggps:L=5"), Catch::Contains("'loggps:L=5': '5'"));
  CHECK_THROWS_WITH(parse_scenario("loggps:o=-1ns"), Catch::Contains("must not be negative"));
  CHECK_THROWS_WITH(parse_scenario("loggps:S=1us"), Catch::Contains("'1us' is not a"));
  CHECK_THROWS_WITH(parse_scenario("loggps:l=1us"), Catch::Contains("there is no key 'l'"));
  CHECK_THROWS_WITH(parse_scenario("loggps:L*2"), Catch::Contains("there is no key 'L'"));
  CHECK_THROWS_WITH(parse_scenario("bandela:L=1us"), Catch::Contains("there is no key 'L'"));
}
