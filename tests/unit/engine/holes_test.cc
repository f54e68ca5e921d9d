// Incomplete or inconsistent recordings: unmatched calls keep their time and are counted, and the
// rest is replayed.

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "replay/calls/reference_tables.h"
#include "replay/matching/channel_table.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/forwarding_source.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

Results replay(EventSource& source, const std::vector<std::string>& scenarios,
               const ReplayOptions& options = {}) {
  std::vector<Scenario> parsed;
  for (const std::string& text : scenarios) parsed.push_back(parse_scenario(text));
  return run_replay(source, parsed, options);
}

Results replay(const std::string& text, const std::vector<std::string>& scenarios,
               const ReplayOptions& options = {}) {
  const auto source = parse_text_trace(text);
  return replay(*source, scenarios, options);
}

double end_of(const Results& results, int scenario, int rank) {
  INFO(results.scenarios[scenario].deadlock);
  REQUIRE(results.scenarios[scenario].deadlock.empty());
  return results.scenarios[scenario].ranks[rank].end * 1e9;
}

/// A platform with one level, all of a message's costs in one line of TOML.
Scenario platform(const std::string& level) {
  Scenario scenario;
  scenario.name = "platform";
  scenario.platform = parse_platform("format = 1\n[level.node]\n" + level, "platform");
  return scenario;
}

const char* const kRendezvous = R"(
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
)";

/// A source in which one rank recorded nothing.
class Silenced : public ForwardingSource {
 public:
  Silenced(const std::string& text, int rank) : ForwardingSource(text), silent_(rank) {}
  bool read(int rank, Block& block) override {
    return rank != silent_ && ForwardingSource::read(rank, block);
  }

 private:
  int silent_;
};

}  // namespace

TEST_CASE("a receive without a send keeps its recorded time, and both kinds of holes are counted") {
  const char* text = R"(
    0: 0..1 send 1 8B tag 1
    0: 1 end
    1: 0..70 recv 0 8B tag 2
    1: 100 end
  )";
  const Results results = replay(text, {"perfect"});
  CHECK(results.trace.unmatched_sends == 1);
  CHECK(results.trace.unmatched_receives == 1);
  const std::string world = " on communicator 'MPI_COMM_WORLD'";
  CHECK(results.trace.unmatched_send ==
        "8 bytes from rank 0 to rank 1 with tag 1" + world + ", at 0.000000 s");
  CHECK(results.trace.unmatched_receive ==
        "8 bytes from rank 0 to rank 1 with tag 2" + world + ", at 0.000000 s");
  CHECK(results.scenarios[0].ranks[1].end == Approx(100e-9));
}

TEST_CASE("a hole in a channel is passed by the lengths") {
  // The receive of the first message was not recorded; the second fits by its length.
  const char* text = R"(
    0: 0..1 send 1 8B
    0: 1..2 send 1 16B
    0: 2 end
    1: 0..70 recv 0 16B
    1: 100 end
  )";
  const Results results = replay(text, {"perfect"});
  CHECK(results.trace.unmatched_sends == 1);
  CHECK(results.trace.unmatched_receives == 0);
  // The receive leaves when the second send is entered: 0 + 0 + 0 (sends are free), compute 30
  // more.
  CHECK(results.scenarios[0].ranks[1].end == Approx(30e-9));
}

TEST_CASE("a receive whose send is missing delays no rank, even if its sender continues") {
  // Rank 1's receive at 10..50 has no send; rank 0 still waits for rank 1 in the barrier.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 100..110 send 1 8B tag 1
    0: 120..130 barrier
    0: 130 end
    1: 0 local MPI_Comm_rank
    1: 10..50 recv 0 8B tag 7
    1: 60..111 recv 0 8B tag 1
    1: 115..130 barrier
    1: 130 end
  )";
  ReplayOptions options;
  options.verify = true;
  const Results results = replay(text, {"measured", "perfect"}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.unmatched_sends == 0);
  CHECK(results.trace.unmatched_receives == 1);
  // Perfect: the hole keeps its 40 and ends at 50; 10 compute; the next receive meets the send at
  // 100; 4 compute: 104. Rank 0: 100 + 10 compute = 110: both leave the barrier then.
  CHECK(end_of(results, 1, 0) == Approx(110));
  CHECK(end_of(results, 1, 1) == Approx(110));
}

TEST_CASE("a collective without the call of one member keeps its time, and the members continue") {
  const char* text = R"(
    comm 1 0 1
    0: 0 local MPI_Comm_rank
    0: 10..20 barrier comm 1
    0: 30..60 barrier
    0: 60 end
    1: 0 local MPI_Comm_rank
    1: 50..60 barrier
    1: 60 end
  )";
  const Results results = replay(text, {"perfect"});
  // Rank 0: 10 + 10 kept + 10 = 30; the barrier at 50.
  CHECK(end_of(results, 0, 0) == Approx(50));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("1 collective call lacks") == 0);
}

TEST_CASE("a member that has ended frees a collective although another one is still to come") {
  // Rank 2 never calls the barrier; rank 1 waits for a message that rank 0 sends behind it.
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 10..20 barrier
    0: 20..21 send 1 8B
    0: 30 end
    1: 0 local MPI_Comm_rank
    1: 5..22 recv 0 8B
    1: 23..24 barrier
    1: 30 end
    2: 0 local MPI_Comm_rank
    2: 30 end
  )";
  CHECK(end_of(replay(text, {"perfect"}), 0, 1) == Approx(20 + 1 + 1 + 6));
}

TEST_CASE("a rendezvous that only the scenario requires is a deadlock, not a hole") {
  // In the recording rank 0's send was eager. Here it waits for a receive that rank 1 posts only
  // after it has got a message that rank 0 sends later.
  const char* text = R"(
    0: 0..1 send 1 2000B tag 1
    0: 1..2 send 1 8B tag 2
    0: 10 end
    1: 0..5 recv 0 8B tag 2
    1: 5..6 recv 0 2000B tag 1
    1: 10 end
  )";
  const auto source = parse_text_trace(text);
  const Results results =
      run_replay(*source, {platform(kRendezvous), parse_scenario("perfect")}, {});
  CHECK(results.scenarios[0].deadlock ==
        "rank 0, event 1 (MPI_Send) waits to send 2000 bytes to rank 1 with tag 1 on communicator "
        "'MPI_COMM_WORLD'; rank 1, event 1 (MPI_Recv) waits for 8 bytes from rank 0 with tag 2 on "
        "communicator 'MPI_COMM_WORLD'");
  CHECK(results.scenarios[1].deadlock.empty());
  // The summary of the archive comes from the pass that reached its end.
  CHECK(results.trace.messages == 2);
  CHECK(results.calls == std::vector<std::string>{"MPI_Recv", "MPI_Send"});
  CHECK(results.scenarios[1].ranks[1].calls.size() == 2);
  // Also when none of the scenarios did.
  const Results alone = run_replay(*source, {platform(kRendezvous)}, {});
  CHECK(alone.trace.messages == 2);
  CHECK(alone.calls.size() == 2);
}

namespace {

/// kRendezvous by another protocol: T = 1000 + n, L = 1000, g = n; from 1000 bytes on.
Scenario by_protocol(const std::string& kind) {
  return platform(R"(
    transfer = [ { from = "0B", latency = "1us", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                  kind + "\" } ]\n");
}

}  // namespace

TEST_CASE("a send without a receive is eager, whatever protocol its size has") {
  // The receive of the first message has no record. Waiting for it would be a deadlock: rank 1
  // waits for the second one.
  const char* text = R"(
    0: 0..1 send 1 2000B tag 1
    0: 1..2 send 1 8B tag 2
    0: 10 end
    1: 0..5 recv 0 8B tag 2
    1: 10 end
  )";
  for (const std::string kind : {"async", "pull", "push"}) {
    INFO(kind);
    const auto source = parse_text_trace(text);
    const Results results = run_replay(*source, {by_protocol(kind)}, {});
    CHECK(results.trace.unmatched_sends == 1);
    // Both sends leave at 0, and rank 0 computes 8. The out-port is busy with the first message
    // until 2000; the second arrives at 2000 + 1008. Rank 1 computes 5 behind it.
    CHECK(end_of(results, 0, 0) == Approx(8));
    CHECK(end_of(results, 0, 1) == Approx(3013));
    // Results do not depend on scenarios replayed before or after.
    const Results beside = run_replay(
        *source, {parse_scenario("perfect"), by_protocol(kind), by_protocol("async")}, {});
    for (const int scenario : {1, 2}) {
      CHECK(end_of(beside, scenario, 0) == Approx(8));
      CHECK(end_of(beside, scenario, 1) == Approx(3013));
    }
  }
}

TEST_CASE("a send without a receive is eager, whether or not it would delay a rank") {
  // Here its receiver ends, and no rank waits for the sender.
  const Results results = [] {
    const auto source = parse_text_trace("0: 0..70 send 1 2000B\n0: 75 end\n1: 0 end\n");
    return run_replay(*source, {platform(kRendezvous)}, {});
  }();
  CHECK(end_of(results, 0, 0) == Approx(5));
}

TEST_CASE("a send that is passed over by its length is eager, too") {
  const char* text = R"(
    0: 0..1 send 1 3000B
    0: 1..2 send 1 8B tag 2
    0: 2..3 send 1 2000B
    0: 3 end
    1: 0..2 recv 0 8B tag 2
    1: 2..4 recv 0 2000B
    1: 4 end
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {platform(kRendezvous)}, {});
  CHECK(results.trace.unmatched_sends == 1);
  // The out-port is busy until 3000 and 3008. 8 bytes arrive at 3000 + 1008, where rank 1 posts the
  // second receive. The request of the last send comes at the same time, 3008 + 1000; its data 2000
  // later.
  CHECK(end_of(results, 0, 0) == Approx(6008));
  CHECK(end_of(results, 0, 1) == Approx(6008));
}

TEST_CASE("a deadlock besides sends without receives is still reported") {
  const char* text = R"(
    0: 0..1 send 1 2000B tag 9
    0: 1..2 send 1 2000B tag 1
    0: 2..5 recv 1 2000B tag 1
    0: 5 end
    1: 0..1 send 0 2000B tag 1
    1: 1..5 recv 0 2000B tag 1
    1: 5 end
  )";
  for (const std::string kind : {"async", "pull", "push"}) {
    const auto source = parse_text_trace(text);
    const Results results = run_replay(*source, {by_protocol(kind)}, {});
    CHECK(results.scenarios[0].deadlock ==
          "rank 0, event 4 (MPI_Send) waits to send 2000 bytes to rank 1 with tag 1 on "
          "communicator 'MPI_COMM_WORLD'; rank 1, event 1 (MPI_Send) waits to send 2000 bytes to "
          "rank 0 with tag 1 on communicator 'MPI_COMM_WORLD'");
    CHECK(results.trace.unmatched_sends == 1);
  }
}

TEST_CASE("a Bcast waits only for its root, also in the report of a deadlock") {
  const char* text = R"(
    0: 0..9 bcast root 2 0B 8B
    0: 9..10 send 2 2000B
    0: 10..11 recv 2 2000B
    0: 11 end
    1: 0..20 barrier comm 1
    1: 20..21 bcast root 2 0B 8B
    1: 21 end
    2: 0..1 send 0 2000B
    2: 2..8 bcast root 2 24B 8B
    2: 9..10 recv 0 2000B
    2: 10..20 barrier comm 1
    2: 21 end
    comm 1 1 2
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {platform(kRendezvous)}, {});
  CHECK(results.scenarios[0].deadlock ==
        "rank 0, event 1 (MPI_Bcast) waits for rank 2 on communicator 'MPI_COMM_WORLD'; "
        "rank 2, event 1 (MPI_Send) waits to send 2000 bytes to rank 0 with tag 0 on communicator "
        "'MPI_COMM_WORLD'");
}

TEST_CASE("the eager limit never lies below a send that was done before its receive") {
  // Head to head: both ranks send, wait for completion, then receive. It was recorded, so 8000
  // bytes were eager, whatever the limit of 4000 says. A buffered send is no evidence of anything.
  ReplayOptions options;
  options.eager_limit = 4000;
  options.verify = true;
  for (const bool blocking : {true, false}) {
    std::string text;
    for (const int me : {0, 1}) {
      const std::string rank = std::to_string(me) + ": ";
      const std::string other = std::to_string(1 - me);
      text += rank + "0 local MPI_Comm_rank\n";
      text += rank + (blocking ? "1..5 send " + other + " 8000B\n"
                               : "1..2 isend " + other + " 8000B req 1\n" + rank + "3..5 wait 1\n");
      text += rank + "6..9 recv " + other + " 8000B\n" + rank + "10 end\n";
    }
    const Results results = replay(text, {"measured"}, options);
    CHECK(results.identity->differing == 0);
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
  }
}

TEST_CASE("a rank without any record has no window") {
  Silenced source(R"(
    0: 1000..1000 init
    0: 1500..1500 finalize
    1: 2000 end
  )",
                  1);
  const Results results = replay(source, {"measured"});
  CHECK(results.scenarios[0].elapsed == Approx(500e-9));
  CHECK(results.scenarios[0].elapsed_with_init == Approx(500e-9));
  CHECK(results.trace.elapsed == Approx(500e-9));
}

TEST_CASE("ports are free at the start, whenever that is") {
  // The port takes 5 us, the trip 1 us: the first message arrives at 1 us, the second at 5 + 1.
  const auto first = parse_text_trace(R"(
    0: -3000..-3000 send 1 8B
    0: -3000..-3000 send 1 8B
    0: -3000 end
    1: -3000..-2000 recv 0 8B
    1: -2000 local MPI_Comm_rank
    1: -2000..-1000 recv 0 8B
    1: -1000 end
  )");
  const Scenario scenario = platform(
      "transfer = [ { from = \"0B\", latency = \"1us\", bandwidth = \"inf\" } ]\ngap = \"5us\"");
  const Results results = run_replay(*first, {scenario}, {});
  // It starts before the archive's clock does, which only shifts it: -3000 + 6000.
  CHECK(end_of(results, 0, 1) == Approx(3000));
  CHECK(results.scenarios[0].ranks[1].calls[0].time == Approx(6000e-9));
}

TEST_CASE("a flush is in measured alone, also at the very end") {
  const char* text = R"(
    0: 0 local MPI_Comm_rank
    0: 100..150 flush
    0: 200..300 flush
  )";
  // 100 compute, 50 flush, 50 compute, 100 flush.
  ReplayOptions kept;
  kept.compensate = false;
  const std::vector<std::string> all = {"measured", "undisturbed", "perfect"};
  for (int i = 0; i < 3; ++i) {
    CHECK(end_of(replay(text, all), i, 0) == Approx(i == 0 ? 300 : 150));
    CHECK(end_of(replay(text, all, kept), i, 0) == Approx(i == 0 ? 300 : 150));
  }
}

TEST_CASE("a flush between two calls is the tracer's time: neither compute nor scaled") {
  const char* text = R"(
    0: 0..0 init
    0: 100..150 flush
    0: 200..200 finalize
  )";
  // 100 + 50 of compute; the flush of 50 stays in measured.
  const Results results =
      replay(text, {"measured", "undisturbed", "perfect", "measured:cpu*2", "bandela:cpu*2"});
  const std::vector<double> ends = {200, 150, 150, 125, 75};
  const std::vector<double> compute = {150, 150, 150, 75, 75};
  for (int i = 0; i < 5; ++i) {
    INFO(results.scenarios[i].name);
    CHECK(end_of(results, i, 0) == Approx(ends[i]));
    CHECK(results.scenarios[i].ranks[0].compute == Approx(compute[i] * 1e-9));
    CHECK(results.scenarios[i].ranks[0].mpi == Approx(0).margin(1e-12));
  }
}

TEST_CASE("a switched-off stretch is neither compute nor scaled") {
  const char* text = R"(
    0: 0..0 init
    0: 100..300 off
    0: 400..400 finalize
  )";
  ReplayOptions options;
  options.overhead = RecordingOverhead{10e-9, 0, 0, 0};
  // 100 + 100 of compute around 200 that were not recorded. The interval before MPI_Finalize
  // contains the overhead of a call, 10; the one before the switch contains none.
  const Results results = replay(
      text, {"measured", "undisturbed", "perfect", "measured:cpu*2", "bandela:cpu*2"}, options);
  const std::vector<double> ends = {400, 390, 390, 300, 295};
  const std::vector<double> compute = {200, 190, 190, 100, 95};
  for (int i = 0; i < 5; ++i) {
    INFO(results.scenarios[i].name);
    CHECK(end_of(results, i, 0) == Approx(ends[i]));
    CHECK(results.scenarios[i].ranks[0].compute == Approx(compute[i] * 1e-9));
    CHECK(results.scenarios[i].ranks[0].mpi == Approx(0).margin(1e-12));
  }
}

TEST_CASE(
    "a request used again before its completion was seen gives its message up, not its slot") {
  // Three rendezvous sends with one request; only the last is waited for.
  const char* text = R"(
    0: 0..0 isend 1 2000B req 1
    0: 0..0 isend 1 2000B req 1
    0: 0..0 isend 1 2000B req 1
    0: 0..0 wait 1
    0: 0 end
    1: 0..0 recv 0 2000B
    1: 0..0 recv 0 2000B
    1: 5000..5000 recv 0 2000B
    1: 5000 end
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {platform(kRendezvous)}, {});
  // T = 1000 + 2000, L = 1000, g = 2000. Starts 0, 2000, 4000. First: max(0 + 1000, 0) + 2000 =
  // 3000. Second: posted 3000, max(3000, 3000) + 2000 = 5000. Third: compute to 5000 + 5000 =
  // 10000, arrives 12000; the sender is notified then.
  CHECK(end_of(results, 0, 1) == Approx(12000));
  CHECK(end_of(results, 0, 0) == Approx(12000));
}

TEST_CASE("ranks of a communicator in any order") {
  Communicator comm;
  for (const std::vector<int32_t>& members :
       {std::vector<int32_t>{2, 5, 9}, std::vector<int32_t>{9, 2, 5},
        std::vector<int32_t>{0, 2, 1}}) {
    comm.set_members(members);
    for (int local = 0; local < 3; ++local) CHECK(comm.local_rank(members[local]) == local);
    for (const int stranger : {3, 4, 10, -1}) CHECK(comm.local_rank(stranger) == -1);
  }
}

TEST_CASE("a collective of a rank that is no member, or with an impossible root, is refused") {
  CHECK_THROWS_WITH(parse_text_trace("comm 1 1\n0: 0..1 barrier comm 1\n1: 0 end\n"),
                    Catch::Contains("not in communicator 1"));
  CHECK_THROWS_WITH(parse_text_trace("0: 0..1 bcast root 3 8B 8B\n"), Catch::Contains("no rank 3"));
}

TEST_CASE("the table of requests returns inserted values") {
  // Against a map, with few enough numbers that they collide.
  RequestTable<int> table;
  std::map<uint64_t, int> expected;
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t request = random() % 64 * 4096;
    if (random() % 2) {
      table.put(request, i);
      expected[request] = i;
    } else {
      const auto taken = table.take(request);
      const auto found = expected.find(request);
      REQUIRE(taken.has_value() == (found != expected.end()));
      if (!taken) continue;
      REQUIRE(*taken == found->second);
      expected.erase(found);
    }
    REQUIRE(table.size() == expected.size());
    for (const auto& [key, value] : expected) REQUIRE(*table.find(key) == value);
  }
}

TEST_CASE("the table of channels forgets the ones that fell empty") {
  ChannelPool pool;
  ChannelTable table;
  const auto channel = [&](uint32_t tag) -> Channel& {
    return pool[table.find({0, 0, tag}, 0, pool)];
  };
  // A message in flight on each of three channels, and a new tag for each of many others.
  for (uint32_t tag = 0; tag < 3; ++tag) channel(tag) = {tag, tag};
  for (uint32_t tag = 3; tag < 100000; ++tag) {
    channel(tag) = {7, 7};
    channel(tag) = {};
  }
  // From 1024 slots on the table drops empty channels that were not used recently; it may double
  // once more for recently used ones. The pool, which holds the channels of the table, behaves
  // likewise.
  CHECK(table.capacity() <= 2048);
  size_t channels = 0;
  pool.for_each([&](const Channel&, const Route&) { ++channels; });
  CHECK(channels <= table.capacity());
  for (uint32_t tag = 0; tag < 3; ++tag) CHECK(channel(tag).head == tag);
}

TEST_CASE("channels in use keep their numbers, empty or not") {
  // Twenty channels in turn, each empty again before the next is used: the table grows until it
  // holds all, and then there are no further lookups.
  ChannelPool pool;
  ChannelTable table;
  std::vector<ChannelId> ids(20);
  for (uint32_t round = 0; round < 10; ++round) {
    const uint32_t before = table.generation();
    for (uint32_t tag = 0; tag < 20; ++tag) {
      const ChannelId id = table.find({0, 0, tag}, 0, pool);
      if (round > 0) CHECK(id == ids[tag]);
      ids[tag] = id;
    }
    if (round > 0) CHECK(table.generation() == before);
  }
}
