// Collectives played message by message, worked out by hand. One tick is one nanosecond.

#include "replay/rules/collective_play.h"

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"

using namespace rubato;

namespace {

/// 100 ns of latency, 1 B/ns, no overheads, no ports, and these algorithms.
std::string algorithms(const std::string& names, const std::string& more = "") {
  return "bandela:latency=100ns,bandwidth=1GB/s" + more + "," + names;
}

/// When each rank ends on `scenario`.
Ends ends(const std::string& text, const std::string& scenario) {
  const auto source = parse_text_trace(text);
  return ends_of(run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0]);
}

/// Four ranks that enter `call` at these times and end with it.
std::string four(const std::array<int, 4>& enters, const std::array<std::string, 4>& calls) {
  std::string text = "nodes 0 1 2 3\n";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string n = std::to_string(rank);
    text += n + ": 0 local MPI_Comm_rank\n";
    text += n + ": " + std::to_string(enters[rank]) + "..9000 " + calls[rank] + "\n" + n +
            ": 9000 end\n";
  }
  return text;
}
std::string four(const std::array<int, 4>& enters, const std::string& call) {
  return four(enters, {call, call, call, call});
}

/// The same calls, started at 0 and waited for at once.
std::string started(const std::array<std::string, 4>& calls) {
  std::string text = "nodes 0 1 2 3\n";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string n = std::to_string(rank) + ": ";
    text += n + "0 local MPI_Comm_rank\n" + n + "0..0 i" + calls[rank] + " req 1\n" + n +
            "0..9000 wait 1\n" + n + "9000 end\n";
  }
  return text;
}

/// 100 ns and 1 B/ns up to 63 B, from 64 B on a handshake: 300 ns. With links of that bandwidth,
/// where messages share the network, or without.
Scenario with_handshake(const std::string& collective, bool links) {
  Scenario scenario;
  scenario.name = "handshake";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" },
                 { from = "64B", latency = "300ns", bandwidth = "1GB/s" } ]
    gap = "0s"
    protocol = [ { from = "0B", kind = "eager" }, { from = "64B", kind = "async" } ]
)" + collective + (links ? "[network]\ntopology = \"crossbar\"\nlink_bandwidth = \"1GB/s\"\n" : ""),
                                     "handshake");
  return scenario;
}

void check_both(const std::string& text, const std::string& collective, const Ends& expected) {
  for (const bool links : {false, true}) {
    INFO((links ? "links" : "no links"));
    const auto source = parse_text_trace(text);
    const Results results = run_replay(*source, {with_handshake(collective, links)}, {});
    check(ends_of(results.scenarios[0]), expected);
  }
}

}  // namespace

// As SimGrid's SMPI has it, but for late receivers: there the request has come already.
TEST_CASE(
    "a message with a handshake blocks its sender: the children of a tree are served in turn") {
  // 100 B: 400. From 0 to 2 at 400, then to 1 and from 2 to 3 at 800.
  const std::array<std::string, 4> calls = {"bcast root 0 400B 100B", "bcast root 0 0B 100B",
                                            "bcast root 0 0B 100B", "bcast root 0 0B 100B"};
  const std::string tree = "[collectives.bcast]\nalgorithm = \"binomial\"\n";
  check_both(four({0, 0, 0, 0}, calls), tree, {800, 800, 800, 800});
  // Rank 1 comes at 2000, when the request has been there for long: an answer and the data, 200 +
  // 100.
  check_both(four({0, 2000, 0, 0}, calls), tree, {2300, 2300, 800, 800});
}

TEST_CASE("a pairwise exchange of long messages waits for a late member in each step") {
  // Rank r sends to r + 1, then to r + 2, then to r + 3. Rank 1 comes at 1000. Step 1: 1 has 0's
  // message at 1000 + 200 + 100 = 1300, 2 has 1's at 1400; rank 3 is done at 400, rank 0, which 1
  // held, at 1300, 1 and 2 at 1400. Step 2: 0 to 2 at max(1300 + 400, 1400 + 300) = 1700, back at
  // 1800; 3 to 1 at 1700, back at 1800; all are done at 1800, since each sent or received the later
  // one. Step 3: 2200. (SMPI: last enter and three steps as well.)
  check_both(four({0, 1000, 0, 0}, "alltoall 400B 400B"),
             "[collectives.alltoall]\nalgorithm = \"pairwise\"\n", {2200, 2200, 2200, 2200});
}

// Archives of some tracers say other payloads by member. What the first one says decides how the
// collective is played; nothing may depend on the others.
TEST_CASE("an Allgatherv whose members disagree on its length is played all the same") {
  const std::array<std::string, 4> calls = {"allgatherv 32B 32B", "allgatherv 3200000B 3200000B",
                                            "allgatherv 3200000B 3200000B",
                                            "allgatherv 3200000B 3200000B"};
  for (const bool links : {false, true}) {
    const auto source = parse_text_trace(four({0, 100, 200, 300}, calls));
    const Results results = run_replay(*source, {with_handshake("", links)}, {});
    for (const double end : ends_of(results.scenarios[0])) CHECK(end >= 300);
  }
}

TEST_CASE("recursive doubling: the late member leaves with what the others have sent it") {
  // 8 B each: 108 a message. Ranks 0 to 2 enter at 0, rank 3 at 1000. Rank 2 sends to 3 at 0, rank
  // 3 to 2 at 1000, there at 1108; rank 0 and 1 are done with the first round at 108. Round two is
  // 0 with 2, 1 with 3: 1 sends at 108, so 3 has all at its enter, sends at 1000, and 1 has it at
  // 1108. Rank 2 sends at 1108: rank 0 at 1216; and rank 2 has had 0's since 216: 1108.
  check(
      ends(four({0, 0, 0, 1000}, "allreduce 32B 32B"), algorithms("allreduce=recursive_doubling")),
      {1216, 1108, 1108, 1000});
}

// Rank 0 hands over to 1, which exchanges with 2 and sends the result back. Rank 0 comes at 1000:
// there at 1 at 1108, which has had 2's message since 108; at 2, and back at 0, at 1216.
TEST_CASE(
    "recursive doubling: beyond a power of two the first pairs fold, and their odd ranks "
    "continue") {
  check(ends(R"(
    nodes 0 1 2
    0: 0 local MPI_Comm_rank
    0: 1000..9000 allreduce 24B 24B
    1: 0..9000 allreduce 24B 24B
    2: 0..9000 allreduce 24B 24B
  )",
             algorithms("allreduce=recursive_doubling")),
        {1216, 1108, 1216});
}

TEST_CASE("bcast: each member leaves when its copy arrives") {
  // Binomial from 0: to 2 and 1, from 2 to 3. Rank 2 comes at 500, its message was there at 108; it
  // passes it on: rank 3 at 608. Rank 1 at 108. No gap, so there are no waits for ports.
  const std::array<std::string, 4> calls = {"bcast root 0 32B 8B", "bcast root 0 0B 8B",
                                            "bcast root 0 0B 8B", "bcast root 0 0B 8B"};
  check(ends(four({0, 0, 500, 0}, calls), algorithms("bcast=binomial")), {0, 108, 500, 608});
}

TEST_CASE("reduce: an inner member leaves after its children, the others at once") {
  // Binomial to 0: 1 and 3 send, 2 receives from 3 and sends to 0. Rank 3 comes at 700, its message
  // is at 2 at 808; rank 2 leaves then, and rank 0 has its message at 916.
  const std::array<std::string, 4> calls = {"reduce root 0 8B 32B", "reduce root 0 8B 0B",
                                            "reduce root 0 8B 0B", "reduce root 0 8B 0B"};
  check(ends(four({0, 5, 10, 700}, calls), algorithms("reduce=binomial")), {916, 5, 808, 700});
}

// Rank 3 sends to 2 after the bcast, and 2 receives that before it. A binomial tree forwards rank
// 3's copy through 2, which never comes; directly from the root it arrives at 108, and rank 2
// continues with rank 3's message at 216.
TEST_CASE("a tree that deadlocks the program affects only its own scenario") {
  const auto source = parse_text_trace(R"(
    nodes 0 1 2 3
    0: 0..9 bcast root 0 32B 8B
    1: 0..9 bcast root 0 0B 8B
    2: 0..9 recv 3 8B
    2: 9..10 bcast root 0 0B 8B
    3: 0..8 bcast root 0 0B 8B
    3: 8..9 send 2 8B
  )");
  const Results results = run_replay(
      *source,
      {parse_scenario(algorithms("bcast=linear")), parse_scenario(algorithms("bcast=binomial"))},
      {});
  CHECK(results.scenarios[0].deadlock.empty());
  check(ends_of(results.scenarios[0]), {0, 108, 216, 108});
  CHECK(results.scenarios[1].deadlock != "");
}

TEST_CASE("a started collective progresses while its members compute") {
  // As recursive doubling above; rank 0 waits from 1150 on, and its last message comes at 1216.
  std::string text = "nodes 0 1 2 3\n";
  const int starts[] = {0, 0, 0, 1000}, waits[] = {1150, 0, 2000, 1000};
  for (int rank = 0; rank < 4; ++rank) {
    const std::string line = std::to_string(rank) + ": ";
    const std::string start = std::to_string(starts[rank]), wait = std::to_string(waits[rank]);
    text += line + "0 local MPI_Comm_rank\n" + line + start + ".." + start +
            " iallreduce 32B 32B req 1\n" + line + wait + "..9000 wait 1\n" + line + "9000 end\n";
  }
  check(ends(text, algorithms("allreduce=recursive_doubling")), {1216, 1108, 2000, 1000});
}

TEST_CASE("an Alltoallv sends its parts, except the own one") {
  const std::string both =
      "nodes 0 1\n0: 0..9 alltoallv 1000B 1000B parts 0B 1000B\n"
      "1: 0..9 alltoallv 1000B 1000B parts 1000B 0B\n";
  for (const char* const algorithm : {"linear", "pairwise"})
    check(ends(both, algorithms("alltoallv=" + std::string(algorithm))), {1100, 1100});
  // One part alone, from 0 to 1; ranks 2 and 3 keep what they have.
  const std::array<std::string, 4> one = {
      "alltoallv 1000B 0B parts 0B 1000B 0B 0B", "alltoallv 0B 1000B parts 0B 0B 0B 0B",
      "alltoallv 8B 8B parts 0B 0B 8B 0B", "alltoallv 8B 8B parts 0B 0B 0B 8B"};
  check(ends(four({0, 0, 0, 0}, one), algorithms("alltoallv=linear")), {0, 1100, 0, 0});
}

// Links of 1 B/ns. All send at 0: three flows out of each node and three into each share a link, so
// those of 8 B are there at 100 + 24. Into rank 2 go 8 + 8 + 1000 B: 100 + 1016. Rank 0 comes first
// in the order of the replay, and has nothing long to send.
TEST_CASE("on a shared network each sender of an Alltoallv determines the sizes it sends") {
  const std::array<std::string, 4> calls = {
      "alltoallv 24B 24B parts 0B 8B 8B 8B", "alltoallv 1016B 24B parts 8B 0B 1000B 8B",
      "alltoallv 24B 1016B parts 8B 8B 0B 8B", "alltoallv 24B 24B parts 8B 8B 8B 0B"};
  check(
      ends(four({0, 0, 0, 0}, calls),
           algorithms("alltoallv=linear", ",contention=crossbar,contention.link_bandwidth=1GB/s")),
      {124, 124, 1116, 124});
}

TEST_CASE("the root of a Scatterv or Gatherv has a message for each part") {
  const std::array<std::string, 4> scatterv = {"scatterv root 0 1000B 0B parts 0B 1000B 0B 0B",
                                               "scatterv root 0 0B 1000B", "scatterv root 0 0B 0B",
                                               "scatterv root 0 0B 0B"};
  check(ends(four({0, 0, 0, 0}, scatterv), algorithms("scatterv=linear")), {0, 1100, 0, 0});
  const std::array<std::string, 4> gatherv = {"gatherv root 0 0B 1200B", "gatherv root 0 1000B 0B",
                                              "gatherv root 0 200B 0B", "gatherv root 0 0B 0B"};
  check(ends(four({0, 0, 0, 0}, gatherv), algorithms("gatherv=linear")), {1100, 0, 0, 0});
}

TEST_CASE("an Allgatherv on a ring forwards parts of different lengths") {
  // Rank 0 gives 1000 B, the others 8 B. Its part is at 1 at 1100, at 2 at 2200, at 3 at 3300. Rank
  // 0 gets 8 B three times, each at 3 before: 108, 216, 324.
  const std::array<std::string, 4> calls = {"allgatherv 4000B 1024B", "allgatherv 32B 1024B",
                                            "allgatherv 32B 1024B", "allgatherv 32B 1024B"};
  check(ends(four({0, 0, 0, 0}, calls), algorithms("allgatherv=ring")), {324, 1100, 2200, 3300});
}

// Rank 1 gives 1000 B, the others nothing; a message without bytes is not sent. On a ring the part
// goes to 2 (1100), 3 (2200) and 0 (3300), and in a tree of Bruck's to 0, then from 1 to 3 at once
// and from 0 to 2. Neighbours: from 1 to 0, then from 1 to 2 at once and from 0 to 3. Gathered in 0
// and sent from there: 1100 and 2200.
TEST_CASE("an Allgatherv of one part takes the way of its algorithm") {
  const std::array<std::pair<std::string, Ends>, 5> expected = {
      {{"ring", {3300, 0, 1100, 2200}},
       {"bruck", {1100, 0, 2200, 1100}},
       {"recursive_doubling", {1100, 0, 2200, 1100}},
       {"neighbour_exchange", {1100, 0, 1100, 2200}},
       {"gather_then_bcast", {1100, 2200, 2200, 2200}}}};
  const std::array<std::string, 4> calls = {"allgatherv 0B 1000B", "allgatherv 4000B 1000B",
                                            "allgatherv 0B 1000B", "allgatherv 0B 1000B"};
  for (const auto& [algorithm, end] : expected) {
    INFO(algorithm);
    const std::string machine =
        algorithms("allgatherv=" + algorithm + ",gatherv=binomial,bcast=linear");
    check(ends(four({0, 0, 0, 0}, calls), machine), end);
    check(ends(started(calls), machine), end);
  }
  // Rank 3 forwards on the ring, when it comes: to rank 0. In a tree it only receives.
  check(ends(four({0, 0, 0, 5000}, calls), algorithms("allgatherv=ring")), {6100, 0, 1100, 5000});
  check(ends(four({0, 0, 0, 5000}, calls), algorithms("allgatherv=bruck")), {1100, 0, 2200, 5000});
}

// Rank 2 gets 1000 B, the others nothing. Halving: 0 sends the two blocks of the upper half to 2, 1
// to 3, then 3 sends block 2 to 2. Ring: the sum of block 2 begins at 3 and goes by 0 and 1.
// Doubling: 0, 1 and 3 send block 2 one rank further (not 2), then 0 sends it to 2, and 3, which
// has got nothing, to 1 at once. Reduced in 0 by all at once, and sent to 2.
TEST_CASE("a Reduce_scatter of one part takes the way of its algorithm") {
  const std::array<std::pair<std::string, Ends>, 4> expected = {
      {{"recursive_halving", {0, 0, 2200, 1100}},
       {"ring", {1100, 2200, 3300, 0}},
       {"recursive_doubling", {1100, 1100, 2200, 0}},
       {"reduce_then_scatter", {1100, 0, 2200, 0}}}};
  const std::string none = "reduce_scatter 1000B 0B";
  const std::array<std::string, 4> calls = {none, none, "reduce_scatter 1000B 4000B", none};
  for (const auto& [algorithm, end] : expected) {
    INFO(algorithm);
    const std::string machine =
        algorithms("reduce_scatter=" + algorithm + ",reduce=linear,scatterv=binomial");
    check(ends(four({0, 0, 0, 0}, calls), machine), end);
    check(ends(started(calls), machine), end);
  }
}

// Rank r has r * 100 B. Up the tree 1 sends 100 B to 0 (200) and 3 sends 300 B to 2 (400), which
// sends 500 B to 0 (1000). Down, 0 sends 500 B to 2 (600), which sends 300 B to 3 (1000), and 100 B
// to 1 (200).
TEST_CASE("a message of a tree has the parts of the members behind it") {
  using Calls = std::array<std::string, 4>;
  const Calls up = {"gatherv root 0 0B 600B", "gatherv root 0 100B 0B", "gatherv root 0 200B 0B",
                    "gatherv root 0 300B 0B"};
  const Calls down = {"scatterv root 0 600B 0B parts 0B 100B 200B 300B", "scatterv root 0 0B 100B",
                      "scatterv root 0 0B 200B", "scatterv root 0 0B 300B"};
  const std::string machine = algorithms("gatherv=binomial,scatterv=binomial");
  check(ends(four({0, 0, 0, 0}, up), machine), {1000, 0, 400, 0});
  check(ends(started(up), machine), {1000, 0, 400, 0});
  check(ends(four({0, 0, 0, 0}, down), machine), {0, 200, 600, 1000});
  check(ends(started(down), machine), {0, 200, 600, 1000});
  // Rank 2 has nothing of its own, and passes on what rank 3 has at 400: 300 B, there at 800.
  const Calls empty = {"gatherv root 0 0B 400B", "gatherv root 0 100B 0B", "gatherv root 0 0B 0B",
                       "gatherv root 0 300B 0B"};
  CHECK(ends(four({0, 0, 0, 0}, empty), machine)[0] == Approx(800));
}

// 24 members on a ring are priced as a block, since they have 552 messages. One of them gives
// 23,000 B, which take 23,000 ns to cross the port of each other one, in as many messages of 1000
// B.
TEST_CASE("a block takes as long as the bytes of its longest port") {
  std::string text = "nodes";
  for (int rank = 0; rank < 24; ++rank) text += " " + std::to_string(rank);
  for (int rank = 0; rank < 24; ++rank) {
    text += "\n" + std::to_string(rank) + ": 0..9 allgatherv " + (rank == 5 ? "552000B" : "0B") +
            " 23000B";
  }
  check(ends(text, "bandela:latency=0ns,bandwidth=1GB/s,allgatherv=ring"), Ends(24, 23000));
}

TEST_CASE("collectives and messages of a rank share its ports") {
  // Eager messages of 1000 B: 1100 ns one way, and each port is busy for 1000 ns.
  const Platform platform = parse_platform(R"(
    format = 1
    [level.network]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    gap = [ { from = "0B", latency = "0ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" } ]
    [collectives.bcast]
    algorithm = "binomial"
    [collectives.reduce]
    algorithm = "binomial"
)",
                                           "ports");
  Scenario scenario;
  scenario.name = "ports";
  scenario.platform = platform;
  const auto ends = [&](const std::string& text) {
    const auto source = parse_text_trace(text);
    return ends_of(run_replay(*source, {scenario}, {}).scenarios[0]);
  };
  SECTION("two reductions") {
    // Rank 1 sends at 0 and at 1000. Rank 3 too; rank 2 has its messages at 1100 and 2100, and
    // sends then. The root's port takes the first message of rank 1 until 1100, of rank 2 until
    // 2200, and the second ones until 3200 and 4200.
    const std::string calls = "0..9000 reduce root 0 1000B\n";
    std::string text = "nodes 0 1 2 3\n";
    for (const std::string rank : {"0: ", "1: ", "2: ", "3: "})
      text += rank + "0 local MPI_Comm_rank\n" + rank + calls + rank +
              "9000..18000 reduce root 0 1000B\n" + rank + "18000 end\n";
    check(ends(text), {4200, 2000, 3100, 2000});
  }
  SECTION("a message before a broadcast") {
    // The root's port sends the message until 1000, then the broadcast, which comes at 2100.
    check(ends(R"(
      nodes 0 1
      0: 0 local MPI_Comm_rank
      0: 0..0 isend 1 1000B req 1
      0: 0..9000 bcast root 0 2000B 1000B
      0: 9000..9000 wait 1
      0: 9000 end
      1: 0 local MPI_Comm_rank
      1: 0..5000 recv 0 1000B
      1: 5000..9000 bcast root 0 0B 1000B
      1: 9000 end
    )"),
          {2000, 2100});
  }
  SECTION("a broadcast before a message") {
    // Both come from 100 on; the port of rank 1 takes the broadcast until 1100, then the message.
    check(ends(R"(
      nodes 0 1 2
      comm 2 0 1
      0: 0 local MPI_Comm_rank
      0: 0..9000 bcast root 0 2000B 1000B comm 2
      0: 9000 end
      1: 0 local MPI_Comm_rank
      1: 0..5000 bcast root 0 0B 1000B comm 2
      1: 5000..9000 recv 2 1000B
      1: 9000 end
      2: 0 local MPI_Comm_rank
      2: 0..0 send 1 1000B
      2: 9000 end
    )"),
          {1000, 2100, 9000});
  }
}
