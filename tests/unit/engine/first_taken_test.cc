// MPI_Waitany and similar calls that take the first message to arrive (`--wildcards arrival`),
// worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/scenario/scenario.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// Within a node a message of n bytes takes 100 + n, between nodes 1000 + n.
ScenarioResult replay(const std::string& text, bool by_arrival) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.wildcards_by_arrival = by_arrival;
  const Scenario scenario =
      parse_scenario("bandela:bandwidth=1GB/s,node.latency=100ns,network.latency=1us");
  ScenarioResult result = run_replay(*source, {scenario}, options).scenarios[0];
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  return result;
}

/// Rank 0 does `calls` with requests 1, from rank 1 on its node, and 2, from rank 2 on another.
std::string two_neighbours(const std::string& calls) {
  return "nodes 0 0 1\n0: 0..0 irecv 1 0B req 1\n0: 0..0 irecv 2 0B req 2\n" + calls +
         "1: 0..1 send 0 0B\n2: 0..1 send 0 0B\n";
}

bool says(const ScenarioResult& result, const std::string& text) {
  for (const std::string& warning : warnings_about(result)) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// Rank 1's message is there at 100, rank 2's at 1000, and each is followed by 500 of compute: 100,
// 600; 1000, 1500. As recorded the first wait lasts until 1000: 1500, 2000.
TEST_CASE("MPI_Waitany takes the message that comes first") {
  for (const std::string call : {"waitany", "testany"}) {
    const std::string text =
        two_neighbours("0: 0..50 " + call + " 2\n0: 550..560 " + call + " 1\n0: 1060 end\n");
    const ScenarioResult first = replay(text, true);
    check_ends(first, {1500, 0, 0});
    CHECK(first.took_first == 2);
    CHECK(first.took_recorded == 0);
    // (A test that succeeded, at 0 and 600, waits for its message.)
    CHECK(first.contradicted_outcomes == (call == "waitany" ? 0 : 2));
    CHECK(says(first, "2 calls of MPI_Waitany or similar completed the first message to arrive"));
    const ScenarioResult recorded = replay(text, false);
    check_ends(recorded, {2000, 0, 0});
    CHECK(recorded.took_first + recorded.took_recorded == 0);
  }
}

// With it there already: both at 1100, as the rank computes until then; 600 of compute in all.
TEST_CASE("messages that are there are taken in the order in which they came") {
  const std::string text =
      two_neighbours("0: 1100..1150 waitany 2\n0: 1250..1251 waitany 1\n0: 1751 end\n");
  check_ends(replay(text, true), {1700, 0, 0});
}

// The message that rank 0 sends after the first wait may be an answer to the one it took.
TEST_CASE("before dependent communication, the recorded message is taken, with a warning") {
  const std::string text =
      two_neighbours("0: 0..50 waitany 2\n0: 50..51 send 2 0B tag 9\n0: 551..560 waitany 1\n") +
      "2: 1..60 recv 0 0B tag 9\n";
  const ScenarioResult result = replay(text, true);
  // 1000; the answer is there at 2000; 500 of compute.
  check_ends(result, {1500, 0, 2000});
  CHECK(result.took_first == 0);
  CHECK(result.took_recorded == 2);
  CHECK(says(result, "2 calls of MPI_Waitany or similar completed the recorded messages"));
}

// There at 100, 1000 and, 200 bytes, 300: the first call takes two, at 300; 10 later the second
// waits until 1000. As recorded the first lasts until 1000, and the second ends at 1010.
TEST_CASE("MPI_Waitsome takes as many as recorded, the first to arrive") {
  const std::string text = R"(
    nodes 0 0 1 0
    0: 0..0 irecv 1 0B req 1
    0: 0..0 irecv 2 0B req 2
    0: 0..0 irecv 3 200B req 3
    0: 0..50 waitsome 2 3
    0: 60..70 waitany 1
    1: 0..1 send 0 0B
    2: 0..1 send 0 0B
    3: 0..1 send 0 200B
  )";
  check_ends(replay(text, true), {1000, 0, 0, 0});
  check_ends(replay(text, false), {1010, 0, 0, 0});
}

// Polls that find nothing, and the end of a send, lie between the two: 100; 497 of compute and 2 of
// polls; a wait until 1000; 500 of compute. As recorded: 1000, and the same without a wait.
TEST_CASE("polls and sends that end are no communication that follows") {
  const std::string text = R"(
    nodes 0 0 1
    0: 0..0 irecv 1 0B req 1
    0: 0..0 irecv 2 0B req 2
    0: 0..0 isend 1 0B tag 5 req 4
    0: 0..50 testany 2
    0: 50..51 waitany 4
    0: 61..62 testany
    0: 63..64 testany
    0: 550..560 testany 1
    0: 1060 end
    1: 0..1 send 0 0B
    1: 5..6 recv 0 0B tag 5
    2: 0..1 send 0 0B
  )";
  const ScenarioResult result = replay(text, true);
  check_ends(result, {1500, 100, 0});
  CHECK(result.took_first == 2);
  check_ends(replay(text, false), {1999, 100, 0});
}

// Receives from any source are matched by arrival themselves, whichever request they have.
TEST_CASE("MPI_Waitany over receives from any source") {
  const std::string text = R"(
    nodes 0 0 1
    0: 0..0 irecv 2 0B req 1 any_source
    0: 0..0 irecv 1 0B req 2 any_source
    0: 0..50 waitany 2
    0: 550..560 waitany 1
    0: 1060 end
    1: 0..1 send 0 0B
    2: 0..1 send 0 0B
  )";
  check_ends(replay(text, true), {1500, 0, 0});
}

// The second message is never sent: matching by arrival would change the recording, so matching is
// as recorded, and the wait keeps its 10.
TEST_CASE("a message that never comes") {
  const std::string text = R"(
    0: 0..0 irecv 1 0B req 1
    0: 0..0 irecv 1 0B tag 3 req 2
    0: 0..50 waitany 1
    0: 550..560 waitany 2
    1: 0..1 send 0 0B
  )";
  const ScenarioResult result = replay(text, true);
  check_ends(result, {610, 0});
  CHECK(result.wildcard_matching == WildcardMatching::kWouldStarve);
}
