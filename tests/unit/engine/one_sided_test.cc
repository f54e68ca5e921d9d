// Times of one-sided communication on hand-made traces, worked out by hand. One tick is one
// nanosecond.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/all_buses.h"
#include "tests/unit/ends.h"

using namespace rubato;

namespace {

/// o_s = 10, T = 100 + n, L = 100, o_r = 20, g = n (all ns). A barrier of two ranks is one round of
/// o_s + T(0) + o_r = 130.
const char* const kToy = R"(
  format = 1
  [level.self]
  transfer = [ { from = "0B", latency = "0ns", bandwidth = "1GB/s" } ]
  [level.node]
  transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
  send_overhead = "10ns"
  receive_overhead = "20ns"
)";

Results replay(const std::string& text, const std::vector<Scenario>& scenarios) {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  Results results = run_replay(*source, scenarios, options);
  REQUIRE(results.identity);
  INFO(results.identity->first);
  CHECK(results.identity->differing == 0);
  return results;
}

Scenario toy() {
  Scenario scenario;
  scenario.name = "toy";
  scenario.platform = parse_platform(kToy, "toy");
  return scenario;
}

/// When each rank ends, in ns; on a model also in the order of time, where operations are flows.
void check(const std::string& text, const Scenario& scenario, const Ends& expected) {
  check_ends(replay(text, {scenario}).scenarios[0], expected);
  if (scenario.basis == Basis::kModel)
    check_ends(replay(text, {with_all_buses(scenario)}).scenarios[0], expected);
}

const Scenario kPerfect = parse_scenario("perfect");

}  // namespace

TEST_CASE("a fence ends what its rank began, and waits for what others aim at it") {
  const char* text = R"(
    window 1
    0: 0..5 win_fence
    0: 105..106 put 1 500B
    0: 106..210 win_fence
    0: 210 end
    1: 0..5 win_fence
    1: 205..210 win_fence
    1: 210 end
  )";
  // Toy: both leave the first fence at 130. Rank 0 computes 100, puts: 240 is start, 740 its port
  // is free, 840 the data are there. It enters the second fence at 240; the acknowledgment is there
  // at 940. Rank 1 computes 200 and enters at 330, + 130 = 460 for the barrier, but its data come
  // at 840.
  check(text, toy(), {940, 840});
  // Perfect: enters at 100 and 200; both leave at 200.
  check(text, kPerfect, {200, 200});
}

TEST_CASE("results of gets arrive one after the other, whatever the in-port carries later") {
  const char* text = R"(
    window 1
    0: 0..1 win_lock_all
    0: 1..2 get 1 500B
    0: 2..3 get 1 500B
    0: 3..9 win_flush_all
    0: 9..10 win_unlock_all
    0: 10 end
    1: 0..1 win_lock_all
    1: 1..2 win_unlock_all
    1: 2 end
  )";
  // The locks: 2 L = 200. First get: o_s, start 210, result at 210 + T(0) + T(500) = 910. Second:
  // start 220, 920 but for the port: 910 + g = 1410. Flush: 1410; unlock: nothing more.
  check(text, toy(), {1410, 200});
  check(text, kPerfect, {0, 0});
}

TEST_CASE(
    "flush_local waits until data have left, flush for the acknowledgment, Wait for its "
    "operation") {
  const auto text = [](const std::string& completes) {
    return R"(
      window 1
      0: 0..1 win_lock 1 exclusive
      0: 1..2 rput 1 500B req 1
      0: 2..3 rput 1 300B req 2
      0: 3..5 )" +
           completes + R"(
      0: 5 end
      1: 0..1 local MPI_Comm_rank
      1: 1 end
    )";
  };
  // Lock 200. Puts start at 210 and 710 (the port), which is free at 710 and 1010; they are at the
  // target at 810 and 710 + 400 = 1110.
  check(text("wait 1"), toy(), {710, 1});
  check(text("wait 2"), toy(), {1010, 1});
  check(text("wait 2 1"), toy(), {1010, 1});
  check(text("win_flush_local 1"), toy(), {1010, 1});
  check(text("win_flush 1"), toy(), {1210, 1});
  check(text("win_unlock 1"), toy(), {1210, 1});
}

TEST_CASE("an exclusive lock waits until earlier holders, in recorded order, release it") {
  const char* text = R"(
    window 1
    0: 0..0 init
    0: 0..10 win_lock 2 exclusive
    0: 510..520 win_unlock 2
    0: 520 end
    1: 0..0 init
    1: 100..560 win_lock 2
    1: 560..570 win_unlock 2
    1: 570 end
    2: 0..0 init
    2: 1000..1030 win_lock 2 exclusive
    2: 1030..1040 win_unlock 2
    2: 1040 end
  )";
  // Rank 0: grant 200, + 500 of compute, unlocks at 700, at once. The lock is free at 800. Rank 1
  // asks at 100, the word is there at 200; granted at 800, back at 900, unlocks. Free at 1000. Rank
  // 2 asks itself, at 1000.
  check(text, toy(), {700, 900, 1000});
  // Without latency: 500; granted and over at 500; 1000.
  check(text, kPerfect, {500, 500, 1000});
  // Compute twice as long: rank 0 gives back 500 later. Rank 1, which entered at 200, left 50 after
  // the unlock was entered (510), so at 1010 + 10 ... : init 0, lock 0..10, compute 1000, unlock
  // entered at 1010, left at 1020. Lock of rank 1: 1010 + 50, + 10. Rank 2: enters at 2000, + 40.
  check(text, parse_scenario("measured:cpu*0.5"), {1020, 1070, 2040});
}

TEST_CASE("an unlock releases the last lock if the unlock of an earlier one is missing") {
  const char* text = R"(
    window 1
    0: 0..1 win_lock 2 exclusive
    0: 100..110 win_lock 2 exclusive
    0: 200..210 win_unlock 2
    0: 210 end
    1: 120..240 win_lock 2 exclusive
    1: 300..310 win_unlock 2
    1: 310 end
    2: 0 end
  )";
  // Perfect: rank 0 takes it at 0, again after 99 of compute, and gives it back after 90 more, at
  // 189. For that rank 1 waits, and computes 60.
  check(text, kPerfect, {189, 249, 0});
}

TEST_CASE("shared locks do not keep each other out, and a lock that was put off did not wait") {
  const char* shared = R"(
    window 1
    0: 0..10 win_lock 2
    0: 510..520 win_unlock 2
    0: 520 end
    1: 100..110 win_lock 2
    1: 160..170 win_unlock 2
    1: 170 end
    2: 0 local MPI_Comm_rank
    2: 1 end
  )";
  // 0 + 200 + 500; 100 + 200 + 50.
  check(shared, toy(), {700, 350, 1});

  // Rank 1's lock was left before rank 0's unlock: measured keeps its length, whatever rank 0 does.
  const char* lazy = R"(
    window 1
    0: 0..0 init
    0: 0..10 win_lock 2 exclusive
    0: 510..520 win_unlock 2
    0: 520 end
    1: 0..0 init
    1: 100..110 win_lock 2 exclusive
    1: 110..570 win_unlock 2
    1: 570 end
    2: 0 local MPI_Comm_rank
    2: 1 end
  )";
  check(lazy, parse_scenario("measured:cpu*0.5"), {1020, 670, 2});
  // A model grants it when it is free: 800, back at 900.
  check(lazy, toy(), {700, 900, 1});
}

TEST_CASE("a fetching operation sends its request and receives its result") {
  const char* text = R"(
    window 1
    0: 0..1 win_lock 0
    0: 1..2 win_lock 1
    0: 2..3 fetch_and_op 1 8B 16B
    0: 3..5 win_flush 1
    0: 5..6 fetch_and_op 0 100B 100B
    0: 6..7 win_unlock 0
    0: 7..8 win_unlock 1
    0: 8 end
    1: 0 local MPI_Comm_rank
    1: 1 end
  )";
  // A lock of its own window is at hand. The other: 200. Fetch: start 210, + 108 + 116 = 434. Of
  // its own memory (100 + 100 at 1 GB/s, no latency): 434 + 200 = 634.
  check(text, toy(), {634, 1});
}

TEST_CASE("an epoch: operations wait until the target is ready") {
  const char* late_post = R"(
    window 1
    0: 0..1 win_start 1
    0: 1..2 put 1 500B
    0: 2..3 put 1 500B
    0: 3..1200 win_complete
    0: 1200 end
    1: 1000..1001 win_post 0
    1: 1001..1250 win_wait
    1: 1250 end
  )";
  // Post: enter 1000 + o_s; rank 0 is notified at 1110 and starts, again at 1610; its port is free
  // at 2110: complete. The data are there at 1610 + 600 = 2210; wait: + o_r = 2230.
  check(late_post, toy(), {2110, 2230});
  check(late_post, kPerfect, {1000, 1000});

  const char* early_post = R"(
    window 1
    0: 1000..1001 win_start 1
    0: 1001..1002 put 1 500B
    0: 1002..1200 win_complete
    0: 1200 end
    1: 0..1 win_post 0
    1: 1..1250 win_wait
    1: 1250 end
  )";
  // Put: start 1010; complete: 1510; there: 1610, + o_r = 1630. Perfect: 1000.
  check(early_post, toy(), {1510, 1630});
  check(early_post, kPerfect, {1000, 1000});

  // Nothing to put, the complete at 3000 + o_s: the word is there at 3110, + o_r.
  const char* empty = R"(
    window 1
    0: 10..11 win_start 1
    0: 3001..3010 win_complete
    0: 3010 end
    1: 0..1 win_post 0
    1: 1..3050 win_wait
    1: 3050 end
  )";
  check(empty, toy(), {10 + 2990 + 10, 3000 + 10 + 100 + 20});
}

TEST_CASE("a request number that is used again does not belong to the epoch of its first use") {
  // Both gets have the request 1. Rank 2 posts at 4000 and notifies rank 0 at 4000 + o_s + L =
  // 4110: then the second get starts, whose answer arrives a request (100) and 8 B (108) later.
  // (The recording is of a machine on which rank 2 was early.)
  const char* text = R"(
    window 1
    1: 0..1 win_post 0
    2: 4000..4001 win_post 0
    0: 0..1 win_start 1 2
    0: 1..2 rget 1 8B req 1
    0: 2..3 wait 1
    0: 3..4 rget 2 8B req 1
    0: 4..5 win_complete
    0: 5..6 wait 1
    0: 6 end
  )";
  const Results results = run_replay(*parse_text_trace(text), {toy(), with_all_buses(toy())}, {});
  for (const ScenarioResult& result : results.scenarios)
    CHECK(result.ranks[0].end * 1e9 == Approx(4110 + 100 + 108));
}

TEST_CASE("epochs of several targets are counted for each") {
  // Rank 0 puts to 1, then to 1 and 2; rank 2 posts once. Perfect: rank 1 posts at 0 and, after its
  // first wait, 500 later; rank 2 at 900.
  const char* text = R"(
    window 1
    0: 0..1 win_start 1
    0: 1..2 put 1 8B
    0: 2..10 win_complete
    0: 110..111 win_start 1 2
    0: 111..112 put 2 8B
    0: 112..950 win_complete
    0: 950 end
    1: 0..1 win_post 0
    1: 1..12 win_wait
    1: 512..513 win_post 0
    1: 513..960 win_wait
    1: 960 end
    2: 900..901 win_post 0
    2: 901..970 win_wait
    2: 970 end
  )";
  // Rank 1's second wait ends when rank 0 entered its second complete, 100, or it itself did, 500.
  check(text, kPerfect, {900, 500, 900});
}

TEST_CASE("on measured, waits follow what they waited for") {
  // cpu*0.5 doubles compute. Rank 1 computes 1000 (2000) before its post; rank 0 waited for it in
  // its complete, which ended 20 after the post was entered (the least of all: epochs take 10).
  const char* text = R"(
    window 1
    0: 0..10 win_start 1
    0: 10..1020 win_complete
    0: 1020..1030 win_start 1
    0: 1030..1040 win_complete
    0: 1040 end
    1: 0..0 init
    1: 1000..1010 win_post 0
    1: 1010..1015 win_wait
    1: 1015..1020 win_post 0
    1: 1020..1042 win_wait
    1: 1042 end
  )";
  check(text, parse_scenario("measured"), {1040, 1042});
  // Everything hangs on the first post, and moves with it.
  check(text, parse_scenario("measured:cpu*0.5"), {2040, 2042});
}

TEST_CASE("a fence that was left before all had come did not wait, and hurts no clock") {
  const char* text = R"(
    window 1
    0: 0..10 win_fence
    0: 10 end
    1: 500..510 win_fence
    1: 510 end
  )";
  const Results results = replay(text, {parse_scenario("measured")});
  CHECK(results.trace.clock_violations.total() == 0);
}

TEST_CASE(
    "a wait that ends before a complete is a clock violation; a start before a post is none") {
  const char* text = R"(
    window 1
    0: 0..1 win_start 1
    0: 100..120 win_complete
    0: 120 end
    1: 10..11 win_post 0
    1: 11..50 win_wait
    1: 50 end
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {parse_scenario("measured")}, {});
  CHECK(results.trace.clock_violations.messages == 1);
  REQUIRE(results.trace.clock_repair);
  CHECK(results.trace.clock_repair->after.total() == 0);
  CHECK(results.trace.clock_repair->largest_shift == Approx(50e-9));
}

TEST_CASE("a rank that waits for an impossible epoch is reported") {
  // Each waits for the other's complete before its own.
  const char* text = R"(
    window 1
    0: 0..1 win_post 1
    0: 1..2 win_start 1
    0: 2..10 win_wait
    0: 10..20 win_complete
    0: 20 end
    1: 0..1 win_post 0
    1: 1..2 win_start 0
    1: 2..10 win_wait
    1: 10..20 win_complete
    1: 20 end
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {parse_scenario("perfect")}, {});
  CHECK(results.scenarios[0].deadlock.find(
            "waits for the complete of rank 1 on window 'window 1'") != std::string::npos);
}

TEST_CASE("bytes and levels of one-sided communication are counted as those of messages") {
  const char* text = R"(
    window 1
    0: 0..5 win_fence
    0: 5..6 put 1 500B
    0: 6..7 get 1 30B
    0: 7..8 fetch_and_op 1 8B 16B
    0: 8..10 win_fence
    0: 10 end
    1: 0..5 win_fence
    1: 5..10 win_fence
    1: 10 end
  )";
  const Results results = replay(text, {toy()});
  const LevelTraffic& node = results.scenarios[0].traffic[static_cast<int>(Level::kNode)];
  CHECK(node.messages == 3);
  CHECK(node.bytes == 500 + 30 + 8 + 16);
  const auto totals = [&](const std::string& name) {
    const auto at = std::find(results.calls.begin(), results.calls.end(), name);
    REQUIRE(at != results.calls.end());
    return results.scenarios[0].ranks[0].calls[at - results.calls.begin()];
  };
  CHECK(totals("MPI_Put").bytes_sent == 500);
  CHECK(totals("MPI_Get").bytes_received == 30);
  CHECK(totals("MPI_Fetch_and_op").bytes_sent == 8);
  CHECK(totals("MPI_Fetch_and_op").bytes_received == 16);
  CHECK(results.trace.kept.empty());
  CHECK(results.trace.communicators == 1);
}

TEST_CASE("mistakes in one-sided lines are named") {
  CHECK_THROWS_WITH(parse_text_trace("0: 0..1 put 0 8B\n"), "trace:1: window 1 is not defined");
  CHECK_THROWS_WITH(parse_text_trace("window 1\n0: 0..1 win_wait\n"),
                    "trace:2: there is no win_post or win_start before");
  CHECK_THROWS_WITH(
      parse_text_trace("comm 1 0\nwindow 1 comm 1\n0: 0..1 init\n1: 0..1 win_fence\n"),
      "trace:4: the rank is not in window 1");
}

TEST_CASE("operations under a released lock do not delay the next epoch") {
  const char* text = R"(
    window 1
    0: 0..1 win_lock 1
    0: 1..2 put 1 100000B
    0: 2..200000 win_unlock 1
    0: 200000..200001 barrier
    0: 200001..200002 win_start 1
    0: 200002..200003 put 1 8B
    0: 200003..200004 win_complete 1
    0: 200004 end
    1: 0..200001 barrier
    1: 200001..200002 win_post 0
    1: 200002..200010 win_wait 0
    1: 200010 end
  )";
  // Latency 100, a byte a nanosecond, no overheads. Rank 0 has the lock after two trips, at 200;
  // its put lands 100 + 100000 later, at 100300, and rank 0 is notified at 100400. The barrier of
  // two takes one trip: both leave at 100500. The post is known at rank 0 at 100600; only then can
  // the 8 bytes leave; they arrive 108 later.
  check(text, parse_scenario("bandela:latency=100ns,bandwidth=1GB/s"), {100600, 100708});
}

TEST_CASE("what a local flush waited for is not waited for again") {
  // The lock of all is a round trip, 200. Each get takes o_s = 10, T(0) = 100 to ask and T(500) =
  // 600 back: 710, and the next one begins when it is there. The unlock finds nothing under way.
  const auto text = [](const std::string& flush) {
    const std::string get = "0: 1..1 get 1 500B\n0: 1..1 " + flush + "\n";
    return "window 1\n0: 0..1 win_lock_all\n" + get + get + get +
           "0: 1..1 win_unlock_all\n0: 1 end\n1: 0..1 local MPI_Comm_rank\n1: 1 end\n";
  };
  check(text("win_flush_local 1"), toy(), {200 + 3 * 710, 1});
  check(text("win_flush 1"), toy(), {200 + 3 * 710, 1});
}
