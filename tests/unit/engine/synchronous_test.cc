// Additional time of an eager synchronous message over a standard one, worked out by hand (toy.h):
// 8 B: o_s 10, T 108, o_r 20, L 100, so A = 130. y = 50.

#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "tests/unit/toy.h"

using namespace rubato;

namespace {

Scenario machine() {
  Scenario scenario = toy();
  scenario.platform.level(Level::kNode)->synchronous_overhead = TransferCurve({{0, 50e-9, 0, 0}});
  return scenario;
}

/// The same in the order of time. One message at a time has the network to itself.
Scenario in_time(Scenario scenario) {
  scenario.platform.contention.model = network_model("degradation");
  scenario.platform.contention.levels[static_cast<size_t>(Level::kNode)] = true;
  return scenario;
}

/// Rank 0 sends by `call` to a receive that is posted at `post`.
std::string one(const std::string& call, int post, int bytes = 8) {
  return fmt::format(
      "0: 0..1 {} 1 {}B\n0: 1 end\n1: 0..0 local MPI_Comm_rank\n1: {}..{} recv 0 {}B\n1: {} end\n",
      call, bytes, post, post + 1, bytes, post + 1);
}

}  // namespace

TEST_CASE("a synchronous message takes its receiver longer and completes later at its sender") {
  for (const Scenario& scenario : {machine(), in_time(machine())}) {
    // Arrival 118. Receiver: 118 + 20 + 50. Sender: 118 + 50 + 130.
    check(ends(one("ssend", 0), scenario), {298, 188});
    // Posted at 500: 500 + 70 and 500 + 180.
    check(ends(one("ssend", 500), scenario), {680, 570});
    // In standard mode y does not apply: the sender leaves at 10.
    check(ends(one("send", 0), scenario), {10, 138});
    // 1000 B wait for the receiver by themselves, in either mode: 10 + 1100, and o_r.
    check(ends(one("ssend", 0, 1000), scenario), {1110, 1130});
    check(ends(one("send", 0, 1000), scenario), {1110, 1130});
  }
  // Without y the two answers cost the same: A behind the arrival.
  check(ends(one("ssend", 0), toy()), {248, 138});
}

TEST_CASE("a synchronous message that is not waited for takes its receiver longer, too") {
  const char* text = R"(
    0: 0..1 issend 1 8B req 1
    0: 2001..2002 wait 1
    0: 2002 end
    1: 0..1 recv 0 8B
    1: 1 end
  )";
  // The sender computes for 2000 from 10 on, and has long heard of it.
  check(ends(text, machine()), {2010, 188});
}

TEST_CASE("an unexpected synchronous message takes y more than an unexpected one") {
  Scenario scenario = machine();
  scenario.platform.level(Level::kNode)->unexpected_overhead = TransferCurve({{0, 90e-9, 0, 0}});
  check(ends(one("send", 500), scenario), {10, 590});
  check(ends(one("ssend", 500), scenario), {680, 640});
  // Posted before: as above.
  check(ends(one("ssend", 0), scenario), {298, 188});
}

TEST_CASE("a ping-pong of synchronous sends takes y more one way") {
  const char* text = R"(
    0: 0..1 ssend 1 8B
    0: 1..2 recv 1 8B
    0: 2 end
    1: 0..1 recv 0 8B
    1: 1..2 ssend 0 8B
    1: 2 end
  )";
  // One way takes 10 + 108 + 20 = 138, and 50: 188 there. Rank 0 is out of its send at 298, when
  // the other message is almost there: 188 + 118 = 306, + 70 = 376 = 2 * 188. Rank 1: 306 + 180.
  check(ends(text, machine()), {376, 486});
  check(ends(text, in_time(machine())), {376, 486});
}
