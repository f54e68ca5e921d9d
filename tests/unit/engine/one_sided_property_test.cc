// Random programs of one-sided communication: what must hold whatever a program does.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/random_one_sided.h"
#include "tests/unit/seeds.h"

using namespace rubato;
using property::OneSidedGenerator;

namespace {

std::vector<double> ends_of(const ScenarioResult& result) {
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  std::vector<double> ends;
  for (const RankResult& rank : result.ranks) ends.push_back(rank.end);
  return ends;
}

}  // namespace

TEST_CASE("random one-sided programs: identity, lanes and monotonicity") {
  const std::vector<Scenario> scenarios = {
      parse_scenario("perfect"), parse_scenario("bandela:latency=1us,bandwidth=1GB/s"),
      parse_scenario("bandela:latency=20us,bandwidth=1GB/s"),
      parse_scenario("bandela:latency=20us,bandwidth=0.1GB/s"), parse_scenario("measured")};
  unsigned keeping_time = 0;
  for (unsigned seed = 0; seed < seeds(300); ++seed) {
    const std::string text = OneSidedGenerator(seed).make();
    INFO("seed " << seed << "\n" << text);
    const auto source = parse_text_trace(text);
    ReplayOptions options;
    options.verify = true;
    options.wait_states = true;
    const Results all = run_replay(*source, scenarios, options);
    CHECK(all.identity->differing == 0);
    options.verify = false;

    // A lane does not depend on its neighbours, to the bit.
    for (size_t i = 0; i + 1 < scenarios.size(); ++i) {
      // (With repaired clocks in both cases, because they determine the order of lock holders.)
      const Results alone = run_replay(*source, {scenarios[i], scenarios.back()}, options);
      CHECK(ends_of(alone.scenarios[0]) == ends_of(all.scenarios[i]));
      for (size_t rank = 0; rank < all.scenarios[i].ranks.size(); ++rank)
        CHECK(alone.scenarios[0].ranks[rank].waits == all.scenarios[i].ranks[rank].waits);
    }

    // On `perfect`, time inside MPI consists of waits and of flushes without pending operations,
    // which keep their time. (So do calls released because no order of locks fits the recording: in
    // one program of 300.)
    bool keeps_time = false;
    for (const ScenarioResult& result : all.scenarios) {
      for (const RankResult& rank : result.ranks) {
        INFO(result.name << ", rank " << &rank - result.ranks.data());
        const double waited = std::accumulate(rank.waits.begin(), rank.waits.end(), 0.0);
        CHECK(waited <= rank.mpi * (1 + 1e-9));
        if (&result != &all.scenarios[0]) continue;
        double left = rank.mpi - waited;
        for (size_t i = 0; i < all.calls.size(); ++i)
          if (all.calls[i].starts_with("MPI_Win_flush")) left -= rank.calls[i].time;
        CHECK(left > -1e-12);
        keeps_time = keeps_time || left > 1e-12;
      }
    }
    keeping_time += keeps_time;

    // No rank gets faster with more latency or less bandwidth.
    for (size_t i = 0; i + 2 < scenarios.size(); ++i) {
      const std::vector<double> faster = ends_of(all.scenarios[i]);
      const std::vector<double> slower = ends_of(all.scenarios[i + 1]);
      for (size_t rank = 0; rank < faster.size(); ++rank) {
        INFO("rank " << rank << ", scenarios " << i << " and " << i + 1);
        CHECK(faster[rank] <= slower[rank] * (1 + 1e-12));
      }
    }
  }
  CHECK(keeping_time <= 1);
}
