// MPInside's tables and matrices, on hand-made traces. One tick is one nanosecond.

#include "replay/observe/call_profile.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>
#include <memory>
#include <numeric>

#include "replay/analyse/other_rows.h"
#include "replay/analyse/scenario_profile.h"
#include "replay/observe/collective_share.h"
#include "tests/unit/toy.h"

using namespace rubato;

namespace {

/// A text trace, replayed and profiled.
struct Profiled {
  explicit Profiled(const std::string& text, const std::string& scenario_text = "measured",
                    const KeptInScenario& kept = {
                        .overhead = {}, .flushes = true, .stolen = true}) {
    const auto source = parse_text_trace(text);
    const TraceDefinitions& trace = source->definitions();
    const Scenario scenario = parse_scenario(scenario_text);
    CallProfile seen(trace, kept);
    ReplayOptions options;
    options.observers = {&seen};
    options.wait_states = true;
    results = run_replay(*source, {scenario}, options);
    INFO(results.scenarios[0].deadlock);
    REQUIRE(results.scenarios[0].deadlock.empty());
    const Placement recorded(trace.node_of_rank, trace.socket_of_rank);
    profile = profile_of(results, seen, trace, scenario.placement.place(recorded), true);
    check_sums();
  }

  /// Invariants of every profile: the rows of a rank add up to Elapsed, and matrices agree with
  /// tables.
  void check_sums() const {
    for (size_t rank = 0; rank < profile.ranks.size(); ++rank) {
      INFO("rank " << rank);
      const RankProfile& row = profile.ranks[rank];
      double sum = row.compute + row.overhead;
      for (const CallRow& call : row.calls) sum += call.time;
      for (const OtherRow& other : kOtherRows)
        sum += results.scenarios[0].ranks[rank].*other.seconds;
      const RankResult& result = results.scenarios[0].ranks[rank];
      CHECK(ns(sum) == Approx(ns(results.scenarios[0].elapsed) * result.threads));
      for (int kind = 0; kind < kWaitKinds; ++kind) {
        double waits = 0;
        for (const CallRow& call : row.calls) waits += call.traffic.waits[kind];
        CHECK(ns(waits) == Approx(ns(result.waits[kind])).margin(1e-3));
      }
    }
  }

  static double ns(double seconds) { return seconds * 1e9; }

  const CallRow& row(int rank, const std::string& call) const {
    for (size_t i = 0; i < results.calls.size(); ++i) {
      if (results.calls[i] == call) return profile.ranks[rank].calls[i];
    }
    FAIL("no call " + call);
    throw 0;
  }
  /// Sends, bytes sent, receives, bytes received.
  std::vector<uint64_t> moved(int rank, const std::string& call) const {
    const CallTraffic& traffic = row(rank, call).traffic;
    const Requests sent = traffic.sent.total(), received = traffic.received.total();
    return {sent.count, sent.bytes, received.count, received.bytes};
  }
  double time(int rank, const std::string& call) const { return ns(row(rank, call).time); }
  /// SIZE, REQUEST.
  std::vector<uint64_t> pair(int rank, int peer) const {
    for (const PeerTraffic& entry : profile.ranks[rank].peers) {
      if (entry.peer == peer) return {entry.sent.bytes, entry.sent.count};
    }
    return {0, 0};
  }
  double wait(int rank, const std::string& call, WaitKind kind) const {
    return ns(row(rank, call).traffic.waits[static_cast<size_t>(kind)]);
  }
  double time_from(int rank, int peer) const { return ns(time_receiving(profile, rank, peer)); }

  Results results;
  ScenarioProfile profile;
};

using Moved = std::vector<uint64_t>;
const Moved kNothing = {0, 0, 0, 0};

/// A communicator of `members` ranks.
TraceDefinitions members(int count, SizeConvention sizes) {
  TraceDefinitions trace;
  trace.sizes = sizes;
  std::vector<int32_t> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  trace.comms.emplace_back().set_members(ranks);
  return trace;
}

/// Sends, bytes sent, receives, bytes received, size.
Moved share(const TraceDefinitions& trace, CollectiveOp op, int root, uint64_t sent,
            uint64_t received, int me) {
  Action action;
  action.kind = ActionKind::kCollective;
  action.op = op;
  action.collective.root = root;
  action.collective.sent = sent;
  action.collective.received = received;
  const CollectiveShare s = collective_share(trace, action, me);
  return {s.sends, s.bytes_sent, s.receives, s.bytes_received, s.size};
}

}  // namespace

// Figure 2 of the paper, in small: rank 1 sends to rank 0, which receives by Irecv and Wait, and is
// the root of a broadcast of 64 bytes. Score-P states 2 x 64 sent bytes at the root.
TEST_CASE("MPInside's tables of a message and a broadcast") {
  const Profiled p(R"(
    0: 0..10 init
    0: 20..25 irecv 1 1000B req 1
    0: 45..80 wait 1
    0: 90..100 bcast root 1 0B 64B
    0: 110..115 finalize
    1: 0..10 init
    1: 30..50 send 0 1000B
    1: 60..95 bcast root 1 128B 64B
    1: 110..115 finalize
  )");
  // Bytes of the receive belong to MPI_Irecv, but arrive in MPI_Wait.
  CHECK(p.moved(0, "MPI_Irecv") == Moved{0, 0, 1, 1000});
  CHECK(p.moved(0, "MPI_Wait") == kNothing);
  CHECK(p.row(0, "MPI_Irecv").traffic.bytes_completed == 0);
  CHECK(p.row(0, "MPI_Wait").traffic.bytes_completed == 1000);
  CHECK(p.moved(1, "MPI_Send") == Moved{1, 1000, 0, 0});
  // The root sends the buffer once, the other receives it.
  CHECK(p.moved(1, "MPI_Bcast") == Moved{1, 64, 0, 0});
  CHECK(p.moved(0, "MPI_Bcast") == Moved{0, 0, 1, 64});
  CHECK(p.moved(0, "MPI_Init") == kNothing);

  // Windows from 10 to 110. Rank 0 computes 10 + 20 + 10 + 10, rank 1 20 + 10 + 15.
  CHECK(p.ns(p.profile.ranks[0].compute) == Approx(50));
  CHECK(p.ns(p.profile.ranks[1].compute) == Approx(45));
  CHECK(p.time(0, "MPI_Irecv") == Approx(5));
  CHECK(p.time(0, "MPI_Wait") == Approx(35));
  CHECK(p.time(1, "MPI_Bcast") == Approx(35));
  CHECK(p.time(0, "MPI_Init") == 0);
  CHECK(p.ns(p.row(0, "MPI_Init").outside) == Approx(10));
  CHECK(p.ns(p.row(0, "MPI_Finalize").outside) == Approx(5));

  // Matrices: the broadcast is none of their business. The wait is time with rank 1.
  CHECK(p.pair(1, 0) == Moved{1000, 1});
  CHECK(p.pair(0, 1) == Moved{0, 0});
  CHECK(p.time_from(0, 1) == Approx(35));
  CHECK(p.time_from(1, 0) == 0);
  // BW_eff = 1000 bytes / 35 ns.
  const std::vector<CallSum> sums = sums_of(p.profile);
  for (size_t call = 0; call < sums.size(); ++call) {
    const double expected = p.results.calls[call] == "MPI_Wait"    ? 1000 / 35e-9
                            : p.results.calls[call] == "MPI_Bcast" ? 64 / 45e-9
                                                                   : 0;
    INFO(p.results.calls[call]);
    CHECK(sums[call].effective_bandwidth() == Approx(expected));
  }
}

TEST_CASE("the time of a call with several receives is the late sender's, then everybody's") {
  // MPI_Waitall from 20 to 80 completes two receives from 1, one from 2, and a send. Rank 2 sends
  // at 50: 30 are its, and 30 / 3 are those of each message. MPI_Sendrecv from 100 to 110 receives
  // from 1.
  const Profiled p(R"(
    0: 0..1 irecv 1 8B req 1
    0: 1..2 irecv 1 16B req 2
    0: 2..3 irecv 2 32B req 3
    0: 3..4 isend 2 64B req 4
    0: 20..80 wait 1 2 3 4
    0: 100..110 sendrecv 2 1B 1 2B
    0: 120 end
    1: 0..5 send 0 8B
    1: 5..10 send 0 16B
    1: 10..15 send 0 2B
    1: 120 end
    2: 0..10 recv 0 64B
    2: 50..55 send 0 32B
    2: 60..101 recv 0 1B
    2: 120 end
  )");
  CHECK(p.time_from(0, 1) == Approx(10 + 10 + 10));
  CHECK(p.time_from(0, 2) == Approx(30 + 10));
  CHECK(p.time_from(2, 0) == Approx(10 + 41));
  CHECK(p.wait(0, "MPI_Wait", WaitKind::kLateSender) == Approx(30));
  CHECK(p.pair(1, 0) == Moved{8 + 16 + 2, 3});
  CHECK(p.pair(0, 2) == Moved{64 + 1, 2});
  CHECK(p.row(0, "MPI_Wait").traffic.bytes_completed == 8 + 16 + 32);
  CHECK(p.moved(0, "MPI_Sendrecv") == Moved{1, 1, 1, 2});
  // Sizes, in classes from 8, 16 and 32 bytes.
  const SizeHistogram& sizes = p.row(0, "MPI_Irecv").traffic.received;
  REQUIRE(sizes.size() == 7);
  CHECK(SizeHistogram::least(4) == 8);
  CHECK(SizeHistogram::least(6) == 32);
  CHECK(sizes[4].bytes == 8);
  CHECK(sizes[5].bytes == 16);
  CHECK(sizes[6].count == 1);
  CHECK(sizes[3].count == 0);
}

TEST_CASE("sizes lie in classes that double") {
  SizeHistogram sizes;
  for (const uint64_t size : {0, 1, 2, 3, 4, 7, 8}) sizes.add(size, 10 * size);
  REQUIRE(sizes.size() == 5);
  const std::vector<uint64_t> counts = {1, 1, 2, 2, 1};  // 0 | 1 | 2, 3 | 4, 7 | 8
  const std::vector<uint64_t> bytes = {0, 10, 20 + 30, 40 + 70, 80};
  for (size_t at = 0; at < sizes.size(); ++at) {
    CHECK(sizes[at].count == counts[at]);
    CHECK(sizes[at].bytes == bytes[at]);
  }
  CHECK(sizes.total().count == 7);
  sizes.add(UINT64_MAX, 0);
  CHECK(sizes.size() == 65);
}

TEST_CASE("each collective is attributed as MPInside does") {
  // Four members, 8 bytes a part. Score-P states products: what a member moves for all.
  const TraceDefinitions trace = members(4, SizeConvention::kLogical);
  const auto of = [&](CollectiveOp op, uint64_t sent, uint64_t received, int me) {
    return share(trace, op, 2, sent, received, me);
  };
  CHECK(of(CollectiveOp::kBcast, 32, 8, 2) == Moved{1, 8, 0, 0, 8});
  CHECK(of(CollectiveOp::kBcast, 0, 8, 1) == Moved{0, 0, 1, 8, 8});
  CHECK(of(CollectiveOp::kReduce, 8, 32, 2) == Moved{0, 0, 1, 8, 8});
  CHECK(of(CollectiveOp::kReduce, 8, 0, 3) == Moved{1, 8, 0, 0, 8});
  CHECK(of(CollectiveOp::kScatter, 32, 8, 2) == Moved{1, 32, 0, 0, 8});
  CHECK(of(CollectiveOp::kScatter, 0, 8, 0) == Moved{0, 0, 1, 8, 8});
  CHECK(of(CollectiveOp::kGatherv, 8, 32, 2) == Moved{0, 0, 1, 32, 8});
  CHECK(of(CollectiveOp::kGatherv, 8, 0, 0) == Moved{1, 8, 0, 0, 8});
  CHECK(share(trace, CollectiveOp::kAllreduce, kNoRoot, 32, 32, 0) == Moved{1, 32, 1, 32, 8});
  CHECK(share(trace, CollectiveOp::kAlltoallv, kNoRoot, 20, 40, 1) == Moved{1, 20, 1, 40, 10});
  CHECK(share(trace, CollectiveOp::kBarrier, kNoRoot, 0, 0, 0) == Moved{0, 0, 0, 0, 0});
  CHECK(share(trace, CollectiveOp::kCreateHandle, kNoRoot, 0, 0, 0) == Moved{0, 0, 0, 0, 0});
}

TEST_CASE("sizes of EZTrace are those of one part") {
  const TraceDefinitions trace = members(4, SizeConvention::kPerRank);
  CHECK(share(trace, CollectiveOp::kBcast, 0, 8, 8, 0) == Moved{1, 8, 0, 0, 8});
  CHECK(share(trace, CollectiveOp::kGather, 0, 8, 8, 0) == Moved{0, 0, 1, 32, 8});
  CHECK(share(trace, CollectiveOp::kGather, 0, 8, 8, 1) == Moved{1, 8, 0, 0, 8});
  CHECK(share(trace, CollectiveOp::kAlltoall, kNoRoot, 8, 8, 3) == Moved{1, 32, 1, 32, 8});
  CHECK(share(trace, CollectiveOp::kReduce, 0, 8, 8, 0) == Moved{0, 0, 1, 8, 8});
}

TEST_CASE("a started collective counts for the call that started it") {
  const Profiled p(R"(
    0: 0..1 iallreduce 16B 16B req 1
    0: 10..30 wait 1
    0: 40 end
    1: 0..1 iallreduce 16B 16B req 1
    1: 20..30 wait 1
    1: 40 end
  )");
  CHECK(p.moved(0, "MPI_Iallreduce") == Moved{1, 16, 1, 16});
  CHECK(p.moved(0, "MPI_Wait") == kNothing);
  CHECK(p.row(0, "MPI_Wait").traffic.bytes_completed == 16);
  CHECK(p.profile.ranks[0].peers.empty());
}

TEST_CASE("gets count for the target's row of SIZE, puts for the origin's") {
  const Profiled p(R"(
    window 1
    0: 0..10 win_fence
    0: 20..21 put 1 500B
    0: 22..23 get 1 30B
    0: 24..25 fetch_and_op 1 8B 8B
    0: 30..40 win_fence
    0: 50 end
    1: 0..10 win_fence
    1: 12..40 win_fence
    1: 50 end
  )");
  CHECK(p.moved(0, "MPI_Put") == Moved{1, 500, 0, 0});
  CHECK(p.moved(0, "MPI_Get") == Moved{0, 0, 1, 30});
  CHECK(p.moved(0, "MPI_Fetch_and_op") == Moved{1, 8, 1, 8});
  CHECK(p.moved(1, "MPI_Win_fence") == kNothing);
  CHECK(p.pair(0, 1) == Moved{500 + 8, 2});
  CHECK(p.pair(1, 0) == Moved{30 + 8, 2});
}

TEST_CASE("what crosses the border of nodes") {
  const Profiled p(R"(
    nodes 0 0 1
    0: 0..1 send 1 100B
    0: 1..2 send 2 10B
    0: 2..9 recv 2 1B
    0: 10 end
    1: 0..1 recv 0 100B
    1: 1..2 send 2 20B
    1: 10 end
    2: 0..5 recv 0 10B
    2: 5..6 recv 1 20B
    2: 6..7 send 0 1B
    2: 10 end
  )");
  REQUIRE(p.profile.nodes.size() == 2);
  CHECK(p.profile.nodes[0].ranks == 2);
  CHECK(p.profile.nodes[0].received.bytes == 1);
  CHECK(p.profile.nodes[0].sent.bytes == 30);
  CHECK(p.profile.nodes[1].received.count == 2);
  CHECK(p.profile.nodes[1].received.bytes == 30);
  CHECK(p.profile.nodes[1].sent.count == 1);
}

TEST_CASE("tracing overhead between calls is separated from compute") {
  // 5 a call, 2 a record of a function (none here). Rank 0: windows from 10 to 100; gaps before the
  // send 30, the receive 3 (all of it is overhead) and MPI_Finalize 37: 5 + 3 + 5 of 70.
  const Profiled p(
      R"(
    0: 0..10 init
    0: 40..50 send 0 1B
    0: 53..63 recv 0 1B
    0: 100..110 finalize
  )",
      "measured",
      {.overhead = {.outside = 5e-9, .function = 2e-9}, .flushes = true, .stolen = true});
  CHECK(p.ns(p.profile.ranks[0].overhead) == Approx(13));
  CHECK(p.ns(p.profile.ranks[0].compute) == Approx(57));
}

TEST_CASE("what a call lost is no part of its time") {
  // MPI_Recv takes 80: 20 of a flush of the tracer, and 30 without a core.
  const Profiled p(R"(
    0: 0..10 send 1 8B
    0: 100 end
    1: 10..90 recv 0 8B flushed 20 lost 30
    1: 100 end
  )");
  CHECK(p.time(1, "MPI_Recv") == Approx(30));
  CHECK(p.time_from(1, 0) == Approx(30));
}

TEST_CASE("threads of a rank add up, and may complete each other's requests") {
  const Profiled p(R"(
    0: 0..10 init
    0: 20..30 irecv 1 8B req 1
    0: 200..210 finalize
    0.1: 40..90 wait 1
    0.1: 95..100 send 1 4B
    0.1: 150 end
    1: 0..10 init
    1: 60..70 send 0 8B
    1: 80..110 recv 0 4B
    1: 200..210 finalize
  )");
  CHECK(p.moved(0, "MPI_Irecv") == Moved{0, 0, 1, 8});
  CHECK(p.row(0, "MPI_Wait").traffic.bytes_completed == 8);
  CHECK(p.time_from(0, 1) == Approx(50));
  CHECK(p.pair(0, 1) == Moved{4, 1});
  CHECK(p.pair(1, 0) == Moved{8, 1});
}

// Rank 0 sends at 50 and at 130, rank 1 waits for it from 10 and from 100: 40 of 60 in MPI_Recv, 30
// of 40 in MPI_Wait. Ssend waits from 200 for the receive at 215. The allreduce at 240 is complete
// at 250.
TEST_CASE("waits are reported per call") {
  const Profiled p(R"(
    0: 0..0 init
    0: 50..60 send 1 120B
    0: 130..140 send 1 40B
    0: 200..230 ssend 1 8B
    0: 250..260 allreduce 16B 16B
    0: 300..300 finalize
    1: 0..0 init
    1: 10..70 recv 0 120B
    1: 80..80 irecv 0 40B req 1
    1: 100..140 wait 1
    1: 215..230 recv 0 8B
    1: 240..260 allreduce 16B 16B
    1: 300..300 finalize
  )");
  CHECK(p.wait(1, "MPI_Recv", WaitKind::kLateSender) == Approx(40));
  CHECK(p.wait(1, "MPI_Wait", WaitKind::kLateSender) == Approx(30));
  CHECK(p.wait(1, "MPI_Irecv", WaitKind::kLateSender) == 0);
  CHECK(p.wait(1, "MPI_Allreduce", WaitKind::kCollective) == Approx(10));
  CHECK(p.wait(0, "MPI_Allreduce", WaitKind::kCollective) == 0);
  CHECK(p.wait(0, "MPI_Ssend", WaitKind::kLateReceiver) == Approx(15));
  CHECK(p.wait(0, "MPI_Send", WaitKind::kLateReceiver) == 0);
  // BW_raw of MPI_Wait is 40 bytes / 10 ns, where BW_eff is 40 bytes / 40 ns.
  const std::vector<CallSum> sums = sums_of(p.profile);
  for (size_t call = 0; call < sums.size(); ++call) {
    if (p.results.calls[call] != "MPI_Wait") continue;
    CHECK(sums[call].raw_bandwidth() == Approx(4e9));
    CHECK(sums[call].effective_bandwidth() == Approx(1e9));
  }
}

// On `perfect` rank 1 receives what rank 0 sends at 100 and again at 200, at once: MPI_Recv is
// entered at 0 and leaves at 100, MPI_Wait is entered at 105 and leaves at 200.
TEST_CASE("times are those of the scenario") {
  const Profiled p(R"(
    0: 100..130 send 1 8B
    0: 230..260 send 1 8B
    0: 300 end
    1: 0..150 recv 0 8B
    1: 150..150 irecv 0 8B req 1
    1: 155..290 wait 1
    1: 300 end
  )",
                   "perfect");
  CHECK(p.time(1, "MPI_Recv") == Approx(100));
  CHECK(p.time(1, "MPI_Wait") == Approx(95));
  CHECK(p.time_from(1, 0) == Approx(195));
  // Nothing but waiting is left: there is no raw bandwidth.
  CHECK(p.wait(1, "MPI_Wait", WaitKind::kLateSender) == Approx(95));
  for (const CallSum& sum : sums_of(p.profile)) CHECK(sum.raw_bandwidth() == 0);
}

TEST_CASE("many peers and many requests are counted separately") {
  // Rank 0 sends k bytes to each rank k, k times (1 + 2 + ... + 99 = 4950 sends, of one tick each);
  // each answers with one message of one byte. The wait for all 99 takes 99 ticks.
  constexpr int kRanks = 100;
  std::string text;
  int now = 0;
  for (int k = 1; k < kRanks; ++k) {
    for (int i = 0; i < k; ++i, ++now) {
      text += "0: " + std::to_string(now) + ".." + std::to_string(now + 1) + " send " +
              std::to_string(k) + " " + std::to_string(k) + "B\n";
    }
  }
  for (int k = 1; k < kRanks; ++k, ++now) {
    text += "0: " + std::to_string(now) + ".." + std::to_string(now + 1) + " irecv " +
            std::to_string(k) + " 1B req " + std::to_string(k) + "\n";
  }
  text += "0: " + std::to_string(now) + ".." + std::to_string(now + 99) + " wait";
  for (int k = kRanks - 1; k >= 1; --k) text += " " + std::to_string(k);
  text += "\n0: " + std::to_string(now + 100) + " end\n";
  for (int k = 1; k < kRanks; ++k) {
    const std::string rank = std::to_string(k) + ": ";
    for (int i = 0; i < k; ++i) text += rank + "4950..4950 recv 0 " + std::to_string(k) + "B\n";
    text += rank + "4950..4950 send 0 1B\n" + rank + "6000 end\n";
  }
  const Profiled p(text);
  REQUIRE(p.profile.ranks[0].peers.size() == kRanks - 1);
  for (int k = 1; k < kRanks; ++k) {
    const auto n = static_cast<uint64_t>(k);
    CHECK(p.pair(0, k) == Moved{n * n, n});
    CHECK(p.pair(k, 0) == Moved{1, 1});
    CHECK(p.time_from(0, k) == Approx(1));
  }
}
