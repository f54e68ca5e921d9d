// Messages right behind one another: what they take of their ends, worked out by hand
// (tests/unit/toy.h).

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "models/platform/interconnect.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// The toy (o_s = 10, T = 100 + n, o_r = 20, g = n), where a message right behind another one takes
/// so many ns of an end at most.
Scenario following(double ns) {
  Scenario scenario = toy();
  scenario.name = "following";
  scenario.platform.level(Level::kNode)->following_overhead = TransferCurve({{0, ns * 1e-9, 0, 0}});
  return scenario;
}

/// Unlimited buses: no contention, but a replay in time order.
Scenario in_order(Scenario scenario) {
  scenario.platform.contention.model = network_model("buses");
  scenario.platform.contention.levels.fill(true);
  return scenario;
}

/// In either engine.
void check_both(const std::string& text, const Scenario& scenario, const Ends& expected) {
  check(ends(text, scenario), expected);
  check(ends(text, in_order(scenario)), expected);
}

}  // namespace

TEST_CASE("a message of a stream takes its ends less than one alone") {
  const std::string text = R"(
    0: 0..1 send 1 8B
    0: 1..2 send 1 8B
    0: 2..3 send 1 8B
    0: 3 end
    1: 0..200 recv 0 8B
    1: 200..201 recv 0 8B
    1: 201..202 recv 0 8B
    1: 202 end
  )";
  // T = 108, g = 8. Starts at 10, 20, 30, there at 118, 128, 138; received at 138, then o_r each:
  // 158, 178.
  check_both(text, toy(), {30, 178});
  // The sender is done at 10, 15, 20, its port takes the messages at 10, 18, 26; there at 118, 126,
  // 134. The first receive ends at 138. The second may at 138 + 5, but its message has to be
  // received, 126 + 20 = 146; the third at 146 + 5, and 134 + 20 = 154.
  check_both(text, following(5), {20, 154});
  // f = 15 leaves o_s: the messages are there at 118, 128, 138. 138; 153 (148); 168 (158).
  check_both(text, following(15), {30, 168});
  // An f that neither end reaches bounds nothing; but as neither they nor the port take as long,
  // something holds blocking sends: 10, 60, 110. There at 118, 168, 218: 138, 188, 238.
  check_both(text, following(50), {110, 238});
  // Side by side, as lanes of one pass: each as alone.
  const Results lanes =
      replay(text, {toy(), following(5), following(50), toy(), following(15), following(5)});
  const Ends expected[] = {{30, 178}, {20, 154}, {110, 238}, {30, 178}, {30, 168}, {20, 154}};
  for (size_t i = 0; i < lanes.scenarios.size(); ++i)
    check(ends_of(lanes.scenarios[i]), expected[i]);
}

TEST_CASE("nonblocking sends are not delayed") {
  const std::string text = R"(
    0: 0..1 isend 1 8B req 1
    0: 1..2 isend 1 8B req 2
    0: 2..3 isend 1 8B req 3
    0: 3..4 wait 1 2 3
    0: 4 end
    1: 0..0 irecv 0 8B req 1
    1: 0..0 irecv 0 8B req 2
    1: 0..0 irecv 0 8B req 3
    1: 0..9 wait 1 2 3
    1: 9 end
  )";
  // 10, 20, 30; there at 118, 128, 138; + 20.
  check_both(text, following(50), {30, 158});
  // Starts 10, 18, 26, the last one is there at 134; + 20.
  check_both(text, following(5), {20, 154});
}

TEST_CASE("a lone receive takes as long as one that was measured alone") {
  // Three messages are there at 138 at the latest; the receiver computes until 5000.
  const std::string sends = R"(
    0: 0..1 send 1 8B
    0: 1..2 send 1 8B
    0: 2..3 send 1 8B
    0: 3 end
  )";
  // 5000 + 20, a microsecond of compute, + 20, less than that, + 5: 6020 + 20 + 999 + 5.
  const std::string one_by_one = sends + R"(
    1: 5000..5010 recv 0 8B
    1: 6010..6020 recv 0 8B
    1: 7019..7029 recv 0 8B
    1: 7029 end
  )";
  check_both(one_by_one, following(5), {20, 7044});
  check_both(one_by_one, toy(), {30, 7059});
  // In one call the first one alone is: 20 + 5 + 5.
  const std::string at_once = sends + R"(
    1: 0..0 irecv 0 8B req 1
    1: 0..0 irecv 0 8B req 2
    1: 0..0 irecv 0 8B req 3
    1: 5000..5010 wait 1 2 3
    1: 5010 end
  )";
  check_both(at_once, following(5), {20, 5030});
  // For messages that arrived before their receive, o_u = 40 applies, and f likewise.
  Scenario unexpected = following(5);
  unexpected.platform.level(Level::kNode)->unexpected_overhead = TransferCurve({{0, 40e-9, 0, 0}});
  check_both(one_by_one, unexpected, {20, 7084});
}

TEST_CASE("a message after one in the opposite direction is not a following message") {
  // One way 10 + 108 + 20 = 138, however often.
  const std::string text = R"(
    0: 0..1 send 1 8B
    0: 1..2 recv 1 8B
    0: 2..3 send 1 8B
    0: 3..4 recv 1 8B
    0: 4 end
    1: 0..1 recv 0 8B
    1: 1..2 send 0 8B
    1: 2..3 recv 0 8B
    1: 3..4 send 0 8B
    1: 4 end
  )";
  // The last send ends at 3 * 138 + 10, and is there at 4 * 138.
  check_both(text, following(5), {552, 424});
  check_both(text, toy(), {552, 424});
}

TEST_CASE("messages that wait for their receives have no stream") {
  // 2000 B, async: starts at 10 and 2010 (g = 2000), there at 2110 and 4110.
  const std::string text = R"(
    0: 0..1 isend 1 2000B req 1
    0: 1..2 isend 1 2000B req 2
    0: 2..3 wait 1 2
    0: 3 end
    1: 0..0 irecv 0 2000B req 1
    1: 0..0 irecv 0 2000B req 2
    1: 0..9 wait 1 2
    1: 9 end
  )";
  check_both(text, following(5), {4110, 4130});
}

TEST_CASE("messages of collectives follow each other directly") {
  // A message costs its sender f + g, its receiver f, and what is busy longest is max(g, f).
  const Interconnect alone(toy().platform), behind(following(5).platform);
  const PairClass pair(Level::kNode);
  CHECK(alone.round_cost(pair).gap(8) == Approx(20e-9));  // o_r
  CHECK(behind.round_cost(pair).gap(8) == Approx(8e-9));
  CHECK(behind.round_cost(pair).send(8) == Approx(13e-9));
  CHECK(behind.round_cost(pair).receive(8) == Approx(5e-9));
  CHECK(behind.round_cost(pair).move(8) == Approx(138e-9));
}
