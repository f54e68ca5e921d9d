// Receives from any source or tag that take the first message to arrive, worked out by hand. One
// tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/scenario/scenario.h"
#include "replay/calls/call_builder.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "replay/trace/mpi_calls.h"
#include "tests/unit/ends.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// Within a node a message of n bytes takes `node` + n, between nodes `network` + n.
ScenarioResult replay(const std::string& text, int node, int network, bool by_arrival = true) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.wildcards_by_arrival = by_arrival;
  const Scenario scenario =
      parse_scenario("bandela:bandwidth=1GB/s,node.latency=" + std::to_string(node) +
                     "ns,network.latency=" + std::to_string(network) + "ns");
  ScenarioResult result = run_replay(*source, {scenario}, options).scenarios[0];
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  return result;
}

/// Rank 0 heard from rank 2, which is on another node, before it heard from rank 1. Empty messages.
const char* const kTwoSenders = R"(
  nodes 0 0 1
  0: 0..50 recv 2 0B any_source
  0: 550..560 recv 1 0B any_source
  1: 0..1 send 0 0B
  2: 0..1 send 0 0B
)";

}  // namespace

// Rank 1's message is there at 100, rank 2's at 1000. The first receive takes rank 1's and leaves
// at 100; 500 later the second waits for rank 2's until 1000. As recorded, the first waits until
// 1000, and the second, at 1500, finds its message there.
TEST_CASE("a receive from any source takes the message that comes first") {
  const ScenarioResult flipped = replay(kTwoSenders, 100, 1000);
  check_ends(flipped, {1000, 0, 0});
  CHECK(flipped.wildcard_receives == 2);
  CHECK(flipped.rematched_receives == 2);
  check_ends(replay(kTwoSenders, 100, 1000, false), {1500, 0, 0});
}

// Now rank 2's is there at 100 and rank 1's at 1000, as when it was recorded: 100, then 600 to
// 1000.
TEST_CASE("nothing changes if messages arrive as recorded") {
  const ScenarioResult same = replay(kTwoSenders, 1000, 100);
  check_ends(same, {1000, 0, 0});
  CHECK(same.rematched_receives == 0);
  check_ends(replay(kTwoSenders, 1000, 100, false), {1000, 0, 0});
}

TEST_CASE("of two messages that come at once the one of the lower rank is taken") {
  check_ends(replay(kTwoSenders, 100, 100), {600, 0, 0});
  CHECK(replay(kTwoSenders, 100, 100).rematched_receives == 2);
}

// A receive with an explicit source keeps its message, and a later wildcard receive does not take
// it. Rank 1's message, there at 100, goes to the first receive; the second waits for 1000.
TEST_CASE("a message matches the first posted receive that accepts it") {
  check_ends(replay(R"(
    nodes 0 0 1
    0: 0..0 irecv 1 0B req 1
    0: 0..0 irecv 2 0B req 2 any_source
    0: 0..50 wait 1
    0: 50..60 wait 2
    1: 0..1 send 0 0B
    2: 0..1 send 0 0B
  )",
                    100, 1000),
             {1000, 0, 0});
}

// 10000 bytes with tag 1 leave before 8 with tag 2, which are there at 108. Both receives take any
// tag, and messages of one source do not overtake: the first takes tag 1 at 10100, as recorded.
TEST_CASE("a short message does not overtake a long one") {
  const ScenarioResult result = replay(R"(
    0: 0..0 irecv 1 10000B tag 1 req 1 any_tag
    0: 0..0 irecv 1 8B tag 2 req 2 any_tag
    0: 0..50 wait 1
    0: 50..60 wait 2
    1: 0..0 send 0 10000B tag 1
    1: 0..0 send 0 8B tag 2
  )",
                                       100, 1000);
  check_ends(result, {10100, 0});
  CHECK(result.rematched_receives == 0);
}

// A receive of tag 2 alone may have it before: it leaves at 108, and 100 later the one of any tag
// waits for the long one.
TEST_CASE("a receive that does not accept the long one takes the short one at once") {
  const ScenarioResult result = replay(R"(
    0: 0..0 irecv 1 10000B tag 1 req 1 any_tag
    0: 0..0 irecv 1 8B tag 2 req 2
    0: 0..50 wait 2
    0: 150..160 wait 1
    0: 160 end
    1: 0..0 send 0 10000B tag 1
    1: 0..0 send 0 8B tag 2
  )",
                                       100, 1000);
  check_ends(result, {10100, 0});
  CHECK(result.rematched_receives == 0);
}

// Tags by any source: the long one of rank 2 with tag 7 is there at 1000 + 5000, the one of rank 1
// with tag 8 at 100. The second wait, 10 after the first, lasts until 6000.
TEST_CASE("a receive from any source with any tag takes another tag") {
  const ScenarioResult result = replay(R"(
    nodes 0 0 1
    0: 0..50 recv 2 5000B tag 7 any_source any_tag
    0: 60..70 recv 1 0B tag 8 any_source any_tag
    1: 0..0 send 0 0B tag 8
    2: 0..0 send 0 5000B tag 7
  )",
                                       100, 1000);
  check_ends(result, {6000, 0, 0});
  CHECK(result.rematched_receives == 2);
}

// The master receives from rank 1 at 100 and answers the same rank as in the recording, rank 2,
// which has the answer at 100 + 1000. It receives from rank 2 at 1000 and answers rank 1: 1000 +
// 100. As recorded, it receives from rank 2 at 1000, which has its answer at 2000, and 10 later
// from rank 1: 1010 + 100.
TEST_CASE("a master answers the same ranks as in the recording") {
  const char* const text = R"(
    nodes 0 0 1
    0: 0..20 recv 2 0B any_source
    0: 20..20 send 2 0B tag 1
    0: 30..40 recv 1 0B any_source
    0: 40..40 send 1 0B tag 1
    1: 0..0 send 0 0B
    1: 0..50 recv 0 0B tag 1
    2: 0..0 send 0 0B
    2: 0..30 recv 0 0B tag 1
  )";
  check_ends(replay(text, 100, 1000), {1000, 1100, 1100});
  check_ends(replay(text, 100, 1000, false), {1010, 1110, 2000});
}

// The explicit receives of rank 0 depend on earlier senders: it needs two messages of each. By
// arrival it would take both of rank 1 from any source, and then wait for a third forever. So this
// is replayed as recorded: 1000, 1000, and those of rank 1 arrived long before.
TEST_CASE("where taking the first would leave ranks waiting, receives are matched as recorded") {
  const ScenarioResult result = replay(R"(
    nodes 0 0 1
    0: 0..10 recv 2 0B any_source
    0: 10..20 recv 2 0B
    0: 20..30 recv 1 0B any_source
    0: 30..40 recv 1 0B
    1: 0..0 send 0 0B
    1: 0..0 send 0 0B
    2: 0..0 send 0 0B
    2: 0..0 send 0 0B
  )",
                                       100, 1000);
  check_ends(result, {1000, 0, 0});
  CHECK(result.rematched_receives == 0);
  REQUIRE(!warnings_about(result).empty());
  CHECK(warnings_about(result).back().find("as recorded") != std::string::npos);
}

// 50000 bytes from 40000 on by rendezvous: the request of rank 2 is at rank 0 at 1000, that of rank
// 1 at 2000 + 100 (it starts later). So the first receive, posted at 0, takes rank 2's: data from
// 1000 on for T - L = 50000. The second is posted at 51000 and finds rank 1's request: 101000.
TEST_CASE("above the eager limit the request to send decides") {
  Scenario scenario = parse_scenario(
      "bandela:bandwidth=1GB/s,node.latency=100ns,network.latency=1us,name=rendezvous");
  for (auto& level : scenario.platform.levels) {
    if (level) level->protocols = {{0, Protocol::kEager}, {40000, Protocol::kAsync}};
  }
  const auto source = parse_text_trace(R"(
    nodes 0 0 1
    0: 0..10 recv 1 50000B any_source
    0: 10..20 recv 2 50000B any_source
    1: 0..0 local MPI_Comm_rank
    1: 2000..2010 send 0 50000B
    2: 0..10 send 0 50000B
  )");
  ReplayOptions options;
  options.wildcards_by_arrival = true;
  const ScenarioResult result = run_replay(*source, {scenario}, options).scenarios[0];
  REQUIRE(result.deadlock.empty());
  check_ends(result, {101000, 101000, 51000});
  CHECK(result.rematched_receives == 2);
}

// The first receive is posted at 0: the wait of the probe is its own. It represents a receive from
// any source, as the probe did: rank 1's message at 100. Then 490 of compute and 5 behind the
// second probe: the second receive waits from 595 until 1000.
TEST_CASE("a receive of what a probe from any source found is one from any source") {
  const ScenarioResult result = replay(R"(
    nodes 0 0 1
    0: 0..40 probe 2 any_source
    0: 40..50 recv 2 0B
    0: 540..545 probe 1 any_source
    0: 550..560 irecv 1 0B req 1
    0: 560..560 wait 1
    1: 0..1 send 0 0B
    2: 0..1 send 0 0B
  )",
                                       100, 1000);
  check_ends(result, {1000, 0, 0});
  CHECK(result.wildcard_receives == 2);
  CHECK(result.rematched_receives == 2);
}

// The probe was only for rank 2's message, so its receive is one from rank 2.
TEST_CASE("a probe that names its source leaves the receive as it is") {
  CHECK(replay(R"(
    nodes 0 0 1
    0: 0..40 probe 2
    0: 40..50 recv 2 0B
    0: 50..60 recv 1 0B
    1: 0..1 send 0 0B
    2: 0..1 send 0 0B
  )",
               100, 1000)
            .rematched_receives == 0);
}

namespace {

/// A rank that probes and receives, from rank 1.
class Prober {
 public:
  Prober() { trace_.calls = {mpi_call_info("MPI_Probe"), mpi_call_info("MPI_Recv")}; }

  void probe(uint32_t tag) {
    const double time = static_cast<double>(event_);
    builder_.enter(++event_, time, 0);
    builder_.probed(++event_, time, 0, 1, tag, kAnySource);
    builder_.leave(++event_, time, 0);
  }
  /// True if the receive represents one from any source.
  bool receive(uint32_t tag) {
    const double time = static_cast<double>(event_);
    builder_.enter(++event_, time, 1);
    builder_.recv(++event_, time, 0, 1, tag, 8, 0);
    const bool any = (builder_.pending().actions.back().flags & kAnySource) != 0;
    builder_.leave(++event_, time, 1);
    Block block;
    while (builder_.take(block)) {
    }
    return any;
  }
  bool is_quiet() const { return builder_.is_quiet(); }

 private:
  TraceDefinitions trace_;
  CallBuilder builder_{trace_, 0, std::make_shared<RequestBook>()};
  uint64_t event_ = 0;
};

}  // namespace

TEST_CASE("messages that were probed and are never received are forgotten") {
  constexpr uint32_t kMost = CallBuilder::kMostProbed;
  Prober rank;
  // The same message, however often it is probed; then one more than are kept.
  for (int i = 0; i < 1000; ++i) rank.probe(0);
  for (uint32_t tag = 1; tag <= kMost; ++tag) rank.probe(tag);
  CHECK_FALSE(rank.receive(0));  // the oldest
  CHECK(rank.receive(1));
  CHECK_FALSE(rank.receive(1));
  CHECK(rank.receive(kMost));
  CHECK_FALSE(rank.is_quiet());
  // Nor do they keep what comes after from being recognised when it comes again (loop_cache.h).
  for (uint32_t i = 0; i < CallBuilder::kReceivesAfterProbe; ++i) {
    CHECK_FALSE(rank.is_quiet());
    CHECK_FALSE(rank.receive(9999));
  }
  CHECK(rank.is_quiet());
  CHECK_FALSE(rank.receive(2));
}
