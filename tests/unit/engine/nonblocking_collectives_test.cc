// Nonblocking collectives, worked out by hand. One tick is one nanosecond.

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// On measured, which has to give the recording back, and on `scenario`.
Results replay(const std::string& text, const std::string& scenario = "perfect") {
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.verify = true;
  Results results =
      run_replay(*source, {parse_scenario("measured"), parse_scenario(scenario)}, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.kept.empty());
  INFO(results.scenarios[1].deadlock);
  REQUIRE(results.scenarios[1].deadlock.empty());
  return results;
}

/// When each rank ends on the scenario that is not `measured`, in ns.
void check_ends(const Results& results, const Ends& expected) {
  rubato::check_ends(results.scenarios[1], expected);
}

}  // namespace

// Rank 0 starts at 10, waits from 10 + 88 on. Rank 1 starts at 250: all are there, both leave.
TEST_CASE("all-to-all: the wait lasts until the last member has started") {
  const Results results = replay(R"(
    0: 10..12 ibarrier req 1
    0: 100..300 wait 1
    0: 300 end
    1: 250..252 ibarrier req 1
    1: 252..300 wait 1
    1: 300 end
  )");
  check_ends(results, {250, 250});
  CHECK(results.trace.collectives == 2);
}

// Root 1 starts at 50 and does not wait for others: its wait, 10 later, leaves at 60. Rank 0
// started at 0 and waits from 8 on, until 50. Rank 2 starts at 400, long after: it waits from 405
// on, for nothing.
TEST_CASE("one-to-all: all wait for the start of the root, and the root does not wait") {
  check_ends(replay(R"(
    0: 0..2 ibcast root 1 0B 8B req 1
    0: 10..90 wait 1
    0: 90 end
    1: 50..52 ibcast root 1 24B 8B req 1
    1: 62..64 wait 1
    1: 64 end
    2: 400..405 ibcast root 1 0B 8B req 1
    2: 410..411 wait 1
    2: 411 end
  )"),
             {50, 60, 405});
}

// Root 0 waits for the last start, of rank 2 at 400. The others leave at their own enter: rank 1 at
// 50 + 10, rank 2 at 400 + 5.
TEST_CASE("all-to-one: the root waits for the last start, the others do not wait") {
  check_ends(replay(R"(
    0: 0..2 ireduce root 0 8B 24B req 1
    0: 10..450 wait 1
    0: 450 end
    1: 50..52 ireduce root 0 8B 0B req 1
    1: 62..64 wait 1
    1: 64 end
    2: 400..405 ireduce root 0 8B 0B req 1
    2: 410..411 wait 1
    2: 411 end
  )"),
             {400, 60, 405});
}

// Starts at 100, 30, 400, 20: rank 0 waits for itself alone and leaves at 100 + 5; rank 1 for rank
// 0, so until 100; rank 2 for itself, 400 + 5; rank 3 until 400.
TEST_CASE("prefix: a rank waits for the starts of those below it") {
  check_ends(replay(R"(
    0: 100..102 iscan 32B 8B req 1
    0: 107..108 wait 1
    0: 108 end
    1: 30..32 iscan 24B 16B req 1
    1: 37..120 wait 1
    1: 120 end
    2: 400..402 iscan 16B 24B req 1
    2: 407..410 wait 1
    2: 410 end
    3: 20..22 iscan 8B 32B req 1
    3: 27..410 wait 1
    3: 410 end
  )"),
             {105, 100, 405, 400});
}

// A barrier of 3 costs 2 rounds of a microsecond, first from 0 to 1, 1 to 2, 2 to 0, then from 0 to
// 2, 1 to 0, 2 to 1. The first is over on rank 0 at 1500, on rank 1 at 1000, on rank 2 at 1100; so
// rank 1 is done at 2100, and rank 2 at 2500. Rank 0 computes until 5000 meanwhile.
TEST_CASE("a model's time runs from the starts, under what the ranks compute") {
  check_ends(replay(R"(
    0: 0..0 ibarrier req 1
    0: 5000..5000 wait 1
    0: 5000 end
    1: 100..100 ibarrier req 1
    1: 600..600 wait 1
    1: 600 end
    2: 500..500 ibarrier req 1
    2: 500..600 wait 1
    2: 600 end
  )",
                    "bandela:latency=1us"),
             {5000, 2100, 2500});
}

// MPI wants blocking and nonblocking collectives of a communicator in one order. Rank 0 starts its
// first at 0, is in the barrier from 10 on; rank 1 starts at 100 and enters the barrier at 300. So
// the barrier ends at 300, and the waits, 5 later, return at once: the first instance was complete
// at 100. The two requests of rank 0 complete in one call, in another order than they were started.
TEST_CASE("started and blocking collectives count in one sequence") {
  check_ends(replay(R"(
    0: 0..0 ibarrier req 1
    0: 0..0 iallreduce 16B 16B req 2
    0: 10..310 barrier
    0: 315..316 waitall 2 1
    0: 316 end
    1: 100..100 ibarrier req 7
    1: 150..150 iallreduce 16B 16B req 8
    1: 300..310 barrier
    1: 315..316 wait 7
    1: 316..316 wait 8
    1: 316 end
  )"),
             {305, 305});
}

// Rank 0's Waitall, entered at 10, needs the message, sent at 700, and the barrier, started at 200.
// Rank 1's barrier is through at 200, when it starts it; Test completed it at 210.
TEST_CASE("a Waitall over messages and collectives ends with the last of them") {
  const Results results = replay(R"(
    0: 0..0 irecv 1 8B req 1
    0: 0..0 ibarrier req 2
    0: 10..800 waitall 1 2
    0: 800 end
    1: 200..200 ibarrier req 1
    1: 210..211 test 1
    1: 701..702 send 0 8B
    1: 702 end
  )");
  check_ends(results, {700, 700});
  CHECK(results.trace.messages == 1);
}

// Two duplicates are under way; their creation waits for all members of the parent, as a barrier.
TEST_CASE("MPI_Comm_idup waits in its completion") {
  check_ends(replay(R"(
    0: 0..0 comm_idup req 1
    0: 0..0 comm_idup req 2
    0: 10..400 wait 2
    0: 400..400 wait 1
    0: 400 end
    1: 100..100 comm_idup req 1
    1: 300..300 comm_idup req 2
    1: 300..300 waitall 1 2
    1: 300 end
  )"),
             {300, 300});
}

TEST_CASE("collectives on a communicator of one rank do not wait") {
  check_ends(replay(R"(
    comm 1 0
    0: 0..5 ibarrier req 1 comm 1
    0: 10..20 wait 1
    0: 20 end
    1: 0 end
  )"),
             {5, 0});
}

// Thread 1 waits from 199 on for what the main thread started at 100 and rank 1 at 300.
TEST_CASE("a collective started by one thread is waited for by another") {
  const Results results = replay(R"(
    0: 0..0 init
    0: 100..101 ibarrier req 1
    0: 1000..1000 finalize
    0.1: 200..350 wait 1
    0.1: 400..401 local MPI_Comm_rank
    1: 0..0 init
    1: 300..310 ibarrier req 1
    1: 310..350 wait 1
    1: 1000..1000 finalize
  )");
  for (size_t i = 0; i < results.calls.size(); ++i) {
    if (results.calls[i] != "MPI_Wait") continue;
    CHECK(results.scenarios[1].ranks[0].calls[i].time == Approx(101e-9));
    CHECK(results.scenarios[1].ranks[1].calls[i].time == Approx(0).margin(1e-12));
  }
}

// Rank 1's start is the first on its communicator that has an end; the one before is left out, and
// said to be.
TEST_CASE("a start that is never completed is left out and named") {
  const Results results = replay(R"(
    0: 0..1 ibarrier req 1
    0: 10..20 wait 1
    0: 20 end
    1: 0..1 ibarrier req 1
    1: 10..20 wait 1
    1: 20..21 ibarrier req 2
    1: 21 end
  )");
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find(
            "1 started collective never completes in the archive, the first at") == 0);
  CHECK(warnings_about(results.trace)[0].find("rank 1, event 7 (MPI_Ibarrier)") !=
        std::string::npos);
}

TEST_CASE("a member that never starts leaves the others with their recorded time") {
  const Results results = replay(R"(
    0: 0..0 ibarrier req 1
    0: 10..80 wait 1
    0: 80 end
    1: 0..5 local MPI_Comm_rank
    1: 5 end
  )");
  check_ends(results, {80, 5});
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find(
            "1 collective call lacks the calls of other members: it keeps its recorded time") == 0);
}

TEST_CASE("members that start different collectives are refused with the place") {
  const auto source = parse_text_trace(R"(
    0: 0..0 ibarrier req 1
    0: 10..80 wait 1
    0: 80 end
    1: 20..30 barrier
    1: 40..50 iallreduce 16B 16B req 1
    1: 60..80 wait 1
    1: 80 end
    2: 20..20 iallreduce 24B 24B req 1
    2: 60..80 wait 1
    2: 80 end
  )");
  CHECK_THROWS_AS(run_replay(*source, {parse_scenario("perfect")}, {}), InputError);
}

// Root 0 gathers from rank 1, which comes at 50, and not from rank 2, which comes at 400 with no
// data. Then rank 1 gets nothing in the scatter and does not wait for the root, which comes at 50 +
// 100; rank 2 would, but comes even later, at 400 + 5. The same for nonblocking calls.
TEST_CASE("Gatherv and Scatterv: a member without a part neither waits nor is waited for") {
  check_ends(replay(R"(
    0: 0..60 gatherv root 0 8B 16B
    0: 160..161 scatterv root 0 16B 8B
    0: 161 end
    1: 50..51 gatherv root 0 8B 0B
    1: 53..54 scatterv root 0 0B 0B
    1: 54 end
    2: 400..401 gatherv root 0 0B 0B
    2: 406..407 scatterv root 0 0B 8B
    2: 407 end
  )"),
             {150, 52, 405});
  check_ends(replay(R"(
    0: 0..0 igatherv root 0 8B 16B req 1
    0: 0..60 wait 1
    0: 160..160 iscatterv root 0 16B 8B req 1
    0: 160..161 wait 1
    0: 161 end
    1: 50..50 igatherv root 0 8B 0B req 1
    1: 50..50 iscatterv root 0 0B 0B req 2
    1: 53..54 waitall 1 2
    1: 54 end
    2: 400..400 igatherv root 0 0B 0B req 1
    2: 400..401 wait 1
    2: 401..401 iscatterv root 0 0B 8B req 2
    2: 401..402 wait 2
    2: 402 end
  )"),
             {150, 53, 400});
}

// 0 bytes: MPI libraries return from it without a look at the others, and so do both calls here.
TEST_CASE("a collective of no data is complete at once") {
  check_ends(replay(R"(
    0: 0..5 iallreduce 0B 0B req 1
    0: 10..20 wait 1
    0: 20 end
    1: 500..505 iallreduce 0B 0B req 1
    1: 510..520 wait 1
    1: 520 end
  )"),
             {5, 505});
}

// Rank 0 starts the first at 0 and the second at 100, rank 1 the second at 10 and the first at 300:
// MPI wants the same order of initialisation only. In the second round both start the first alone.
// Rank 0's first wait is for the second, whose last start is at 100, so until 100. Its next, 10
// later, is for the first: until 300. Rank 1 has both at 300. The second round starts on rank 0 at
// 300 + 20 and on rank 1 at 300 + 50, so both leave it at 350.
TEST_CASE("persistent collectives may be started in different orders") {
  check_ends(replay(R"(
    0: 0..0 ibarrier req 1 persistent 1
    0: 100..100 iallreduce 16B 16B req 2 persistent 2
    0: 100..110 wait 2
    0: 120..320 wait 1
    0: 340..340 ibarrier req 1 persistent 1
    0: 340..400 wait 1
    0: 400 end
    1: 10..10 iallreduce 16B 16B req 7 persistent 2
    1: 300..300 ibarrier req 8 persistent 1
    1: 300..310 waitall 7 8
    1: 360..360 ibarrier req 8 persistent 1
    1: 360..400 wait 8
    1: 400 end
  )"),
             {350, 350});
}

// A barrier between the starts belongs to the other barriers of the communicator: rank 0 comes to
// it at 50 and rank 1 at 70, with the persistent one started before on rank 0 only.
TEST_CASE("persistent collectives do not count among the blocking ones") {
  check_ends(replay(R"(
    0: 0..0 iallreduce 16B 16B req 1 persistent 1
    0: 50..75 barrier
    0: 75..95 wait 1
    0: 95 end
    1: 70..75 barrier
    1: 90..90 iallreduce 16B 16B req 1 persistent 1
    1: 90..95 wait 1
    1: 95 end
  )"),
             {85, 85});
}

TEST_CASE("a start without a known persistent collective is assigned by order") {
  const auto source = parse_text_trace(R"(
    0: 0..0 ibarrier req 1
    0: 0..0 iallreduce 16B 16B req 2
    0: 10..20 waitall 1 2
    1: 0..0 iallreduce 16B 16B req 7
    1: 0..0 ibarrier req 8
    1: 10..20 waitall 7 8
  )");
  CHECK_THROWS_AS(run_replay(*source, {parse_scenario("perfect")}, {}), InputError);
}
