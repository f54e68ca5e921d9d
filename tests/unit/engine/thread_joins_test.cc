// Threads that are created and joined outside of MPI, worked out by hand. One tick is one
// nanosecond.

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/words/note_words.h"

using namespace rubato;

namespace {

/// A message of rank 1 is sent at 400, and comes to a thread of rank 0 that the main one joins.
const std::string kLateMessage = R"(
  0: 0..0 init
  0: 10 create 1
  0: 20..520 join 1
  0: 1000..1000 finalize
  0.1: 30 begin 1
  0.1: 50..500 recv 1 8B
  0.1: 510 end 1
  1: 0..0 init
  1: 400..410 send 0 8B
  1: 1000..1000 finalize
)";

/// Verified; every message has to find its other side, and the rows of each rank add up.
Results replay(const std::string& text, const std::vector<std::string>& scenarios,
               ReplayOptions options = {}) {
  const auto source = parse_text_trace(text);
  options.verify = true;
  std::vector<Scenario> parsed;
  for (const std::string& scenario : scenarios) parsed.push_back(parse_scenario(scenario));
  const Results results = run_replay(*source, parsed, options);
  CHECK(results.identity->differing == 0);
  CHECK(results.trace.unmatched_sends == 0);
  CHECK(results.trace.clock_violations.total() == 0);
  for (const ScenarioResult& scenario : results.scenarios) {
    INFO(scenario.name << ": " << scenario.deadlock);
    REQUIRE(scenario.deadlock.empty());
    for (const RankResult& rank : scenario.ranks) {
      CHECK(rank.compute + rank.mpi + rank.flushing + rank.not_recorded + rank.lost_core +
                rank.before + rank.after ==
            Approx(rank.threads * scenario.elapsed));
      CHECK(rank.after >= 0);
    }
  }
  return results;
}

/// When a rank ends in a scenario, in ns.
double end_of(const Results& results, size_t scenario, int rank) {
  return results.scenarios[scenario].ranks[rank].end * 1e9;
}

double end_of(const std::string& text, const std::string& scenario, int rank) {
  return end_of(replay(text, {scenario}), 0, rank);
}

}  // namespace

TEST_CASE("a join waits for what its thread waits for") {
  const Results results =
      replay(kLateMessage, {"measured", "perfect", "bandela:latency=1us", "bandela:latency=2us"});
  CHECK(end_of(results, 0, 0) == Approx(1000));
  // Perfect: the message is there at 400; the thread ends 10 later; the join leaves 520 - 510
  // behind that, at 420, and 480 of compute follow.
  CHECK(end_of(results, 1, 0) == Approx(900));
  CHECK(end_of(results, 1, 1) == Approx(990));
  // A latency of 1000 and 2000 is how much later it all comes.
  CHECK(end_of(results, 2, 0) == Approx(1900));
  CHECK(end_of(results, 3, 0) == Approx(2900));
  // Perfect: the main thread computes, or waits for its thread, from 0 to 900; the thread from 30
  // to 50 and from 400 to 410.
  CHECK(results.scenarios[1].ranks[0].compute == Approx(930e-9));
  CHECK(results.scenarios[1].ranks[0].mpi == Approx(350e-9));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find(
            "1 thread besides the main thread of its rank calls MPI. Its join is recorded") == 0);
}

TEST_CASE("a join follows a faster rank on measured, too") {
  // Rank 1 sends at 40. The receive takes 100 itself (500 - 400), so from 50 on it ends at 150; the
  // thread at 160, the join at 170, the rank at 170 + 480.
  CHECK(end_of(kLateMessage, "measured:rank1.cpu*10", 0) == Approx(650));
}

TEST_CASE("a join in the order of time") {
  ReplayOptions options;
  options.wildcards_by_arrival = true;
  const Results results = replay(kLateMessage, {"perfect", "bandela:latency=1us"}, options);
  CHECK(end_of(results, 0, 0) == Approx(900));
  CHECK(end_of(results, 1, 0) == Approx(1900));
}

TEST_CASE("a join of an ended thread does not wait") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 600..610 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..500 recv 1 8B
    0.1: 510 end 1
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 1000..1000 finalize
  )";
  const Results results = replay(text, {"perfect", "bandela:latency=1us"});
  CHECK(end_of(results, 0, 0) == Approx(1000));
  // The thread ends at 1410, the join 10 later, and 390 of compute follow.
  CHECK(end_of(results, 1, 0) == Approx(1810));
}

TEST_CASE("a join of a thread that never calls MPI is computation") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 9
    0: 100..300 join 9
    0: 500..500 finalize
    0.1: 20 begin 1
    0.1: 30..30 local MPI_Comm_rank
    0.1: 40 end 1
  )";
  const Results results = replay(text, {"measured", "measured:cpu*2"});
  CHECK(end_of(results, 0, 0) == Approx(500));
  CHECK(end_of(results, 1, 0) == Approx(250));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("No joins of threads are recorded") !=
        std::string::npos);
}

TEST_CASE("the warning of missing joins comes first") {
  const std::string text = R"(
    0: 0..0 init
    0: 10..11 irecv 0 8B req 1
    0: 500..500 finalize
    0.1: 30..30 local MPI_Comm_rank
  )";
  const auto source = parse_text_trace(text);
  const Results results = run_replay(*source, {parse_scenario("perfect")}, {});
  REQUIRE(warnings_about(results.trace).size() == 2);  // the other one is about the receive
  CHECK(warnings_about(results.trace)[0].find("1 thread besides the main thread") == 0);
}

TEST_CASE("a thread begins as long after its creation as recorded, whichever thread created it") {
  // The main thread waits all the time; thread 1 creates thread 2, which is never joined.
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 20..720 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..500 recv 1 8B
    0.1: 510 create 2
    0.1: 700 end 1
    0.2: 530 begin 2
    0.2: 600..610 send 1 8B tag 1
    0.2: 650 end 2
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 450..640 recv 0 8B tag 1
    1: 1000..1000 finalize
  )";
  const Results results = replay(text, {"perfect", "bandela:latency=1us"});
  // Perfect: thread 1 has its message at 400, creates thread 2 at 410 and ends at 600, and the join
  // 20 later; 280 of compute. Thread 2 begins at 430 and sends at 500, where rank 1 has waited
  // since 440; 360 of compute.
  CHECK(end_of(results, 0, 0) == Approx(900));
  CHECK(end_of(results, 0, 1) == Approx(860));
  // 1000 later; rank 1 gets its message another 1000 later.
  CHECK(end_of(results, 1, 0) == Approx(1900));
  CHECK(end_of(results, 1, 1) == Approx(2860));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("The joins of 1 of 2 are recorded") !=
        std::string::npos);
}

TEST_CASE("a location may contain several threads, one after the other") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 20..120 join 1
    0: 200 create 2
    0: 210..520 join 2
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 40..100 recv 1 8B tag 5
    0.1: 110 end 1
    0.1: 220 begin 2
    0.1: 250..500 recv 1 8B
    0.1: 510 end 2
    1: 0..0 init
    1: 80..90 send 0 8B tag 5
    1: 400..410 send 0 8B
    1: 1000..1000 finalize
  )";
  const Results results = replay(text, {"perfect", "bandela:latency=1us"});
  // Perfect: messages at 80 and 390. Thread 1 ends at 90, its join at 100; thread 2 is created at
  // 180, begins at 200, ends at 400; its join at 410; 480 of compute.
  CHECK(end_of(results, 0, 0) == Approx(890));
  // Messages at 1080 and 1390: thread 1 ends at 1090, its join at 1100; thread 2 begins at 1200,
  // receives from 1230 to 1390, ends at 1400.
  CHECK(end_of(results, 1, 0) == Approx(1890));
}

TEST_CASE("a join that was recorded to leave a little before the end of its thread") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 20..500 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..480 recv 1 8B
    0.1: 505 end 1
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 1000..1000 finalize
  )";
  // Perfect: the message is there at 400, 80 earlier; so is the end of the thread, which counts as
  // if it had been at 500: the join leaves at 420, and 500 of compute follow.
  CHECK(end_of(text, "perfect", 0) == Approx(920));
}

TEST_CASE("a thread that continues after its join did not end in it") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 20..500 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..480 recv 1 8B
    0.1: 600..610 send 1 8B tag 1
    0.1: 700 end 1
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 590..620 recv 0 8B tag 1
    1: 1000..1000 finalize
  )";
  const Results results = replay(text, {"perfect"});
  // The join counts as compute. The thread has its message at 400, and sends at 520, before rank 1
  // posts its receive at 580; 380 of compute.
  CHECK(end_of(results, 0, 0) == Approx(1000));
  CHECK(end_of(results, 0, 1) == Approx(960));
  REQUIRE(warnings_about(results.trace).size() == 1);
  CHECK(warnings_about(results.trace)[0].find("No joins of threads are recorded") !=
        std::string::npos);
}

TEST_CASE("a thread is waited for once, and begins once, whatever the records say") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 20..520 join 1
    0: 600..700 join 1
    0: 720..730 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..500 recv 1 8B
    0.1: 510 end 1
    0.2: 540 begin 1
    0.2: 550..550 local MPI_Comm_rank
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 1000..1000 finalize
  )";
  // Perfect: the first join leaves at 420. The second thread of that number has no recorded
  // creation and begins 20 later, ends at 450, and is joined from 500 to 600. The third join finds
  // no thread and counts as compute, so that 300 follow.
  CHECK(end_of(text, "perfect", 0) == Approx(900));
}

TEST_CASE("a thread without a record of its end ends with its last record") {
  const std::string text = R"(
    0: 0..0 init
    0: 20..520 join 1
    0: 1000..1000 finalize
    0.1: 30 begin 1
    0.1: 50..500 recv 1 8B
    1: 0..0 init
    1: 400..410 send 0 8B
    1: 1000..1000 finalize
  )";
  // Perfect: it ends at 400, the join 20 later; 480 of compute. No creation is on record: the
  // thread begins when the main one has come as far, which is in the join.
  CHECK(end_of(text, "perfect", 0) == Approx(900));
}

TEST_CASE("a thread that ends while its rank is in MPI_Finalize does not make the run longer") {
  const std::string text = R"(
    0: 0..0 init
    0: 10 create 1
    0: 500..900 finalize
    0.1: 30 begin 1
    0.1: 50..60 local MPI_Comm_rank
    0.1: 800 end 1
    1: 0..0 init
    1: 500..900 finalize
  )";
  const Results results = replay(text, {"measured"});
  CHECK(results.scenarios[0].elapsed == Approx(500e-9));
}

// A thread without MPI calls is no timeline, and its join counts as compute: 7850, including 7000
// of lost core, with 350 after it. The rest: 850 and 150 before it, less the 10 of MPI_Init; 0
// after it.
TEST_CASE("a join of an unknown thread excludes the time without a core") {
  const Results results = replay(R"(
    one_clock
    0: 0..10 init
    0: 150..8000 join 9
    0: 8350..8360 local MPI_Comm_rank stolen 7350
    0: 8360..8370 finalize
  )",
                                 {"measured", "perfect"});
  CHECK(results.scenarios[0].elapsed * 1e9 == Approx(8350));
  CHECK(results.scenarios[0].ranks[0].lost_core * 1e9 == Approx(7350));
  CHECK(results.scenarios[1].ranks[0].compute * 1e9 == Approx(140 + 850));
}

// The thread ends at 1000, and the main thread gets a core only at 8000, which is recorded at the
// next call, or at the join itself. With a core it leaves at 1000 and computes 500: 1500, less the
// 10 of MPI_Init.
TEST_CASE("a join does without the core that it lost") {
  for (const auto& [in_join, in_barrier] :
       {std::pair<std::string, std::string>{"", " stolen 7000"}, {" lost 7000", ""}}) {
    const std::string text = R"(
      nodes 0 0
      one_clock
      0: 0..10 init
      1: 0..10 init
      0: 100 create 7
      0.1: 110 begin 7
      0.1: 300..310 local MPI_Comm_rank
      0.1: 1000 end 7
      0: 150..8000 join 7)" + in_join +
                             R"(
      0: 8500..8600 barrier)" +
                             in_barrier + R"(
      1: 200..8600 barrier
      0: 8600..8610 finalize
      1: 8600..8610 finalize
    )";
    const Results results = replay(text, {"measured", "perfect"});
    CHECK(results.scenarios[0].elapsed * 1e9 == Approx(8590));
    CHECK(results.scenarios[0].ranks[0].lost_core * 1e9 == Approx(7000));
    CHECK(results.scenarios[1].elapsed * 1e9 == Approx(1490));
    CHECK(results.scenarios[1].ranks[0].lost_core == 0);
  }
}
