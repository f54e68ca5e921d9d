#include "replay/run/check_numbers.h"

#include <catch2/catch.hpp>
#include <limits>

#include "models/base/error.h"
#include "models/scenario/scenario.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

/// Two ranks of 10 s: 6 s of compute and 4 s of MPI each.
Results made_up() {
  Results results;
  results.trace.path = "run.otf2";
  ScenarioResult scenario;
  scenario.name = "new";
  scenario.elapsed = scenario.elapsed_with_init = 10;
  RankResult rank;
  rank.end = 10;
  rank.compute = 6;
  rank.mpi = 4;
  rank.threads = 1;
  scenario.ranks = {rank, rank};
  results.scenarios = {scenario};
  return results;
}

std::string refusal(const Results& results) {
  try {
    check_numbers(results);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("results are finite, not negative, and add up") {
  Results results = made_up();
  CHECK(refusal(results).empty());
  ScenarioResult& scenario = results.scenarios[0];
  SECTION("rounding is allowed for") {
    scenario.ranks[0].compute = 6.000001;
    scenario.ranks[1].flushing = -1e-6;
    CHECK(refusal(results).empty());
  }
  SECTION("Elapsed is infinite, or no number") {
    scenario.elapsed = GENERATE(std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(), -1.0);
    CHECK(refusal(results).find("run.otf2: scenario 'new': Elapsed is ") == 0);
  }
  SECTION("a row is negative") {
    scenario.ranks[1].compute = 11;
    scenario.ranks[1].mpi = -1;
    CHECK(refusal(results).find("the time in MPI of rank 1 is -1 s") != std::string::npos);
  }
  SECTION("rows do not add up") {
    scenario.ranks[1].mpi = 3;
    CHECK(refusal(results).find("the sum of the rows of rank 1 is 9 s instead of 10 s") !=
          std::string::npos);
  }
  SECTION("a deadlock has none") {
    scenario.elapsed = -1;
    scenario.deadlock = "rank 0 waits for rank 0";
    CHECK(refusal(results).empty());
  }
}

TEST_CASE("times that run backwards give no negative results") {
  // From 1000 to 100: -900 ns.
  const auto source = parse_text_trace(R"(
    0: 1000..1005 local MPI_Comm_rank
    0: 100 end
  )");
  CHECK_THROWS_WITH(run_replay(*source, {parse_scenario("measured")}, {}),
                    Catch::Contains("scenario 'measured': Elapsed is -9e-07 s; the times of the "
                                    "archive run backwards, first at rank 0, event "));
}
