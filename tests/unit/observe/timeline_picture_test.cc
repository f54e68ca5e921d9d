// Timelines in cells, worked out by hand. One tick is one nanosecond.

#include "replay/analyse/timeline_picture.h"
#include "replay/study/run_replay.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/toy.h"
#include "tools/report/scenario_pictures.h"

using namespace rubato;

namespace {

/// Row by row in letters: compute, mpi, late sender, late receiver, collective wait, one-sided
/// wait, other; messages, collectives, one-sided calls without waiting; functions.
std::string letters(const TimelinePicture& picture) {
  std::string text;
  const std::vector<Activity> cells = picture.cells();
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    if (cell > 0 && cell % picture.columns() == 0) text += ' ';
    text += ".cmsrwoOMCW01234"[static_cast<size_t>(cells[cell])];
  }
  return text;
}

struct Drawn {
  std::string cells;
  std::vector<int> path_rows;
  int rows;
};

Drawn draw(const std::string& text, const std::string& scenario, double elapsed, size_t cells) {
  const auto source = parse_text_trace(text);
  TimelinePicture picture(source->definitions(), 0, elapsed, cells,
                          kept_losses(parse_scenario(scenario), false));
  CriticalPath path(source->definitions());
  ReplayOptions options;
  options.wait_states = true;
  options.observers = {&picture, &path};
  run_replay(*source, {parse_scenario(scenario)}, options);
  return {letters(picture), picture.path_rows(path), picture.rows()};
}

}  // namespace

// Cells of 10 ns. Rank 0 computes 40, sends until 50, computes until 80. Rank 1 receives from 10
// on, until 60: it waits 30 for the send at 40, 20 more are transfer. It computes until 100.
TEST_CASE("a cell shows what most of its time went to") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 40..50 send 1 8B
    0: 80 end
    1: 10..60 recv 0 8B
    1: 100 end
  )";
  const Drawn measured = draw(text, "measured", 100, 20);
  CHECK(measured.rows == 2);
  CHECK(measured.cells == "ccccMccc.. csssMMcccc");
  // Back from rank 1's end at 100 to 60, over to rank 0's send at 40, and from there to 0.
  CHECK(measured.path_rows == std::vector<int>{0, 0, 0, 0, -1, -1, 1, 1, 1, 1});
  // Perfect: the message is there at 40. Rank 0 is done at 70, rank 1 at 80.
  CHECK(draw(text, "perfect", 100, 20).cells == "ccccccc... cssscccc..");
  // Two cells a rank: of the first 50, rank 0 computes 40; rank 1 waits 30 of them.
  CHECK(draw(text, "measured", 100, 4).cells == "cc sc");
}

TEST_CASE("waits and losses have their own colours") {
  // Rank 1 comes to the barrier at 60; rank 0, there at 20, had no core for 20 of the 80 ticks of
  // its call, so that 40 × 60/80 = 30 of its ticks until 60 are waiting.
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 20..100 barrier lost 20
    1: 60..80 barrier
    1: 90..100 flush
    0: 100 end
    1: 100 end
  )";
  CHECK(draw(text, "measured", 100, 20).cells == "ccwwwCCCOO ccccccCCcO");
}

// Up to the first call solve has 30 of 50 ticks, behind it io 30 of 40. Functions come first in
// their gap: where in it they were is not kept.
TEST_CASE("compute in functions has separate colours") {
  const auto source = parse_text_trace(R"(
    0: 0..0 init
    0: 10..40 function solve
    0: 50..60 local MPI_Comm_rank
    0: 60..90 function io
    0: 100 end
  )");
  source->note_places();
  for (const bool all : {true, false}) {
    TimelinePicture picture(source->definitions(), 0, 100, 10);
    picture.know_places(*source, all ? std::vector<int>{1, 0} : std::vector<int>{-1, 0});
    ReplayOptions options;
    options.observers = {&picture};
    run_replay(*source, {parse_scenario("measured")}, options);
    CHECK(letters(picture) == (all ? "111ccm000c" : "cccccm000c"));
  }
}

TEST_CASE("ranks of a large run share rows") {
  std::string text;
  for (int rank = 0; rank < 1025; ++rank)
    text += std::to_string(rank) + ": 0..100 local MPI_Comm_rank\n";
  // 3 ranks per row: 342 rows, so that 700 cells allow 2 columns.
  const Drawn drawn = draw(text, "perfect", 100, 700);
  CHECK(drawn.rows == 342);
  CHECK(drawn.cells.substr(0, 5) == "mm mm");
}

// Rank 0 is in MPI_Finalize from 40 on, until rank 1, which the run waits for, has come.
TEST_CASE("nothing is drawn after the enter of MPI_Finalize") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 40..100 finalize
    0: 110..120 local MPI_Finalized
    1: 100..100 finalize
  )";
  for (const char* scenario : {"measured", "perfect"})
    CHECK(draw(text, scenario, 100, 20).cells == "cccc...... cccccccccc");
}

// Of rank 1, as if it had no records, no start is known: the run begins when the others do. On a
// model calls have lost nothing, --keep-stolen or not; rank 0 waits from 10 on for rank 2, which
// comes to the barrier at 30.
TEST_CASE("a page draws from the begin of the run, and no lost time on models") {
  const auto source = parse_text_trace(R"(
    comm 1 0 2
    0: 1000..1000 init
    1: 1000 end
    2: 1000..1000 init
    0: 1010..1040 barrier comm 1 lost 20
    0: 1040 end
    2: 1030..1040 barrier comm 1
    2: 1040 end
  )");
  REQUIRE(source->definitions().ranks() == 3);
  for (const bool keep_stolen : {false, true}) {
    ReplayOptions options;
    options.keep_stolen = keep_stolen;
    options.wait_states = true;
    const std::vector<Scenario> scenarios = {on("measured"), on("perfect")};
    Results results = run_replay(*source, scenarios, options);
    for (ScenarioResult& scenario : results.scenarios) scenario.ranks[1] = {};
    const std::vector<ScenarioPicture> pictures =
        draw_scenarios(*source, scenarios, results, options);
    REQUIRE(pictures.size() == 2);
    // Of a packed line with single digits: nanoseconds in an activity. (No call is combined.)
    const auto ticks = [&](const ScenarioPicture& picture, int row, Activity activity) {
      const std::string line = picture.pieces["lines"][row];
      const auto digit = [](char letter) {
        return letter <= 'Z' ? letter - 'A' : letter - 'a' + 26;
      };
      int sum = 0;
      for (size_t at = 0; at < line.size();) {
        const int head = digit(line[at++]);
        if (head & 2) ++at;  // calls
        const int length = digit(line[at++]);
        if (picture.pieces["states"][head / 4][0] == static_cast<int>(activity)) sum += length;
      }
      return sum;
    };
    // Measured, 40 ticks: 10 of compute, and of the call, 30 ticks until 1040, 20 that were lost.
    // It waited until 1030, for 20, of which 20 × 10/30 = 6.7 were not lost.
    CHECK(ticks(pictures[0], 0, Activity::kCompute) == 10);
    CHECK(ticks(pictures[0], 0, Activity::kCollective) == 7);
    CHECK(ticks(pictures[0], 0, Activity::kCollectives) == 3);
    CHECK(ticks(pictures[0], 0, Activity::kOther) == 20);
    // Perfect, 30 ticks: 10 of compute, 20 of the wait.
    CHECK(ticks(pictures[1], 0, Activity::kCompute) == 10);
    CHECK(ticks(pictures[1], 0, Activity::kCollective) == 20);
    CHECK(ticks(pictures[1], 0, Activity::kOther) == 0);
    CHECK(ticks(pictures[1], 1, Activity::kNone) == 30);
  }
}

// Eleven platforms between measured and perfect, the first of which deadlocks: six are drawn.
TEST_CASE("a page draws measured, perfect, and others up to the limit") {
  Results results;
  std::vector<ScenarioResult>& scenarios = results.scenarios;
  scenarios.resize(13);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    scenarios[i].name = "platform " + std::to_string(i);
    scenarios[i].elapsed = 1;
  }
  scenarios[0].name = "measured";
  scenarios[1].deadlock = "rank 0 waits for rank 0";
  scenarios[12].name = "perfect";
  CHECK(choose_pictures(results) == std::vector<size_t>{0, 2, 3, 4, 5, 6, 7, 12});
  // Without measured, others are compared with the first.
  scenarios[0].name = "platform 0";
  CHECK(choose_pictures(results) == std::vector<size_t>{0, 2, 3, 4, 5, 6, 7, 12});
  scenarios.resize(4);
  CHECK(choose_pictures(results) == std::vector<size_t>{0, 2, 3});
  // Runs of zero length have no picture.
  scenarios[2].elapsed = 0;
  CHECK(choose_pictures(results) == std::vector<size_t>{0, 3});
}
