// The port through which a timeline receives: by hand, and against the closed form of a server that
// never rests while there is something to do.

#include "models/network/in_port.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace rubato;

namespace {

Lanes<1> at(double time) {
  return Lanes<1>::Constant(time);
}

/// For a message whose last byte arrives at `arrival`.
double taken(InPort<1>& port, double arrival, double gap) {
  return port.take(at(arrival), at(gap))[0];
}

struct Taken {
  double first, gap;
};

/// When a port has moved all of them: for the last stretch without a break, its begin and all that
/// comes from then on.
double end_of(const std::vector<Taken>& messages) {
  double end = -std::numeric_limits<double>::infinity();
  for (const Taken& begin : messages) {
    double moved = begin.first;
    for (const Taken& other : messages) moved += other.first >= begin.first ? other.gap : 0;
    end = std::max(end, moved);
  }
  return end;
}

}  // namespace

TEST_CASE("in-port: messages queue for as long as the port moves bytes") {
  // A needs the port from 0 to 100. B could have it from 60 to 160, and gets it from 100 to 200.
  InPort<1> port;
  CHECK(taken(port, 100, 100) == 100);
  CHECK(taken(port, 160, 100) == 200);
  CHECK(port.done()[0] == 200);
  CHECK(port.busy_since(0) == 0);
  // C comes when nothing is there.
  CHECK(taken(port, 350, 50) == 350);
  CHECK(port.busy_since(0) == 300);
}

TEST_CASE("in-port: the order in which messages are processed does not change the result") {
  // B before A: B from 60 to 160, and A has the port from 0 to 60 and from 160 to 200.
  InPort<1> port;
  CHECK(taken(port, 160, 100) == 160);
  CHECK(taken(port, 100, 100) == 200);
  // One that was there before, when the port was free, delays no other: from -30 to -10.
  CHECK(taken(port, -10, 20) == -10);
  CHECK(port.done()[0] == 200);
  // From -10 on there are 10 left before A, and 40 of 50 come last.
  CHECK(taken(port, 40, 50) == 240);
  CHECK(port.done()[0] == 240);
}

TEST_CASE("in-port: a long message interrupted by a short one does not restart") {
  // The short one has the port from 230 to 231, the long one from 80 to 230 and from 231 to 587.
  InPort<1> short_first;
  CHECK(taken(short_first, 231, 1) == 231);
  CHECK(taken(short_first, 586, 506) == 587);
  InPort<1> long_first;
  CHECK(taken(long_first, 586, 506) == 586);
  CHECK(taken(long_first, 231, 1) == 587);
}

TEST_CASE("in-port: messages that need no port time do not wait for it") {
  InPort<2> port;
  const Lanes<2> gap(100, 0);
  CHECK((port.take_some({100, 100}, gap) == Lanes<2>(100, 100)).all());
  // With a gap behind the first, without one at once.
  CHECK((port.take_some({120, 120}, gap) == Lanes<2>(200, 120)).all());
  // From -10 on: 10 before the first, the rest behind the second.
  CHECK((port.take_some({90, 90}, gap) == Lanes<2>(290, 90)).all());
}

TEST_CASE(
    "in-port: as a server that never idles while there is work, in any order, in every lane") {
  constexpr int kLanes = 4;
  std::mt19937 random(41);
  const auto draw = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + random() % 12;
    InPort<kLanes> port;
    std::array<InPort<1>, kLanes> alone;
    port.expect(count);
    for (InPort<1>& one : alone) one.expect(count);
    std::array<std::vector<Taken>, kLanes> all;
    for (size_t i = 0; i < count; ++i) {
      Lanes<kLanes> arrival, gap;
      for (int lane = 0; lane < kLanes; ++lane) {
        gap[lane] = 1 + draw(30);
        arrival[lane] = gap[lane] + draw(20.0 * static_cast<double>(count));
      }
      const Lanes<kLanes> received = port.take(arrival, gap);
      for (int lane = 0; lane < kLanes; ++lane) {
        const double before = end_of(all[lane]);
        all[lane].push_back({arrival[lane] - gap[lane], gap[lane]});
        const double end = end_of(all[lane]);
        CHECK(received[lane] == Approx(end > before + 1e-9 ? end : arrival[lane]));
        CHECK(port.done()[lane] == Approx(end));
        // To the last bit, whatever the other lanes are about.
        CHECK(received[lane] == alone[lane].take(at(arrival[lane]), at(gap[lane]))[0]);
      }
    }
  }
}

TEST_CASE("in-port: before the latest messages it counts as busy") {
  // Each has the port for 1 of 10: from 9 to 10, from 19 to 20, ...
  InPort<1> port;
  const int count = 2 * static_cast<int>(InPort<1>::kKept);
  for (int i = 1; i <= count; ++i) CHECK(taken(port, 10.0 * i, 1) == 10.0 * i);
  // The oldest known is the ninth, which ends at 90. There are 9 free before each of the next 7;
  // one of 30 takes them from 90 to 99, 100 to 109, 110 to 119 and 120 to 123.
  CHECK(taken(port, 30, 30) == 30);
  CHECK(port.done()[0] == 10.0 * count);
  // What is left of them, 7 x 9 - 30, is too little for one of 100.
  CHECK(taken(port, 100, 100) == 10.0 * count + 100 - 33);
}
