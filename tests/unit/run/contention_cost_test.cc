// Costs of contention for runs and calls, worked out by hand. One tick is one nanosecond, links
// take one byte a tick, and a message alone has a latency of 100.

#include "replay/run/contention_cost.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>

#include "tests/unit/on_network.h"
#include "tools/report/link_report.h"

using namespace rubato;

namespace {

Results costs(const std::string& trace, const std::vector<Scenario>& scenarios) {
  const auto source = parse_text_trace(trace);
  const ContentionPlan plan(scenarios, scenarios.size());
  Results results = run_replay(*source, plan.scenarios(), {});
  plan.settle(results);
  return results;
}

double nanoseconds(const Results& results, const std::string& call) {
  const auto at = std::find(results.calls.begin(), results.calls.end(), call);
  REQUIRE(at != results.calls.end());
  return 1e9 * results.scenarios[0].contention->by_call[at - results.calls.begin()];
}

}  // namespace

// Ranks 1 and 2 send 1000 bytes each to rank 0. Alone both are there at 100 + 1000; sharing the
// link into node 0, at 2100: the first receive waits 1000 longer, the second not at all.
TEST_CASE("contention of an incast of two") {
  const Results results =
      costs(traffic(3, {{1, 0, 1000}, {2, 0, 1000}}), {on_network("model = \"crossbar\"")});
  REQUIRE(results.scenarios.size() == 1);
  const ScenarioResult& result = results.scenarios[0];
  REQUIRE(result.contention);
  CHECK(result.elapsed * 1e9 == Approx(2100));
  CHECK(result.contention->elapsed_alone * 1e9 == Approx(1100));
  CHECK(result.contention->mpi * 1e9 == Approx(1000));
  CHECK(nanoseconds(results, "MPI_Recv") == Approx(1000));
  CHECK(nanoseconds(results, "MPI_Send") == Approx(0).margin(1e-6));
  CHECK(contention_line(results, result) ==
        "Contention on " + result.name +
            " costs 47.6 % (1.000 µs) of the elapsed time: 1.000 µs in "
            "MPI_Recv, over all ranks.");
  CHECK(contention_to_json(results.calls, result)["calls"].size() == 1);
}

// A link of half a byte per tick is slow for a single flow, too: 100 + 2000 without contention. Two
// flows take 100 + 4000, including 2000 of contention.
TEST_CASE("a slow link is no contention") {
  const Scenario slow = contended("model = \"crossbar\"\nlink_bandwidth = \"0.5GB/s\"");
  const Results one = costs(traffic(2, {{1, 0, 1000}}), {slow});
  CHECK(one.scenarios[0].elapsed * 1e9 == Approx(2100));
  CHECK(one.scenarios[0].contention->elapsed_alone == one.scenarios[0].elapsed);
  const Results two = costs(traffic(3, {{1, 0, 1000}, {2, 0, 1000}}), {slow});
  CHECK(two.scenarios[0].elapsed * 1e9 == Approx(4100));
  CHECK(two.scenarios[0].contention->elapsed_alone * 1e9 == Approx(2100));
}

// A crossbar without a bandwidth has latencies and nothing that is shared.
TEST_CASE("contention is not computed without shared links") {
  const Results results = costs(traffic(2, {{1, 0, 1000}}), {contended("model = \"crossbar\"")});
  CHECK(!results.scenarios[0].contention);
}

// Into different nodes: nothing is shared. Machines without contention have no line.
TEST_CASE("contention without cost, and no contention") {
  const Results free =
      costs(traffic(4, {{0, 2, 1000}, {1, 3, 1000}}),
            {on_network("model = \"crossbar\""), contended(""), parse_scenario("perfect")});
  REQUIRE(free.scenarios.size() == 3);
  CHECK(free.scenarios[0].contention->elapsed_alone == free.scenarios[0].elapsed);
  CHECK(contention_line(free, free.scenarios[0]) ==
        "Contention on " + free.scenarios[0].name + " has no effect.");
  CHECK(!free.scenarios[1].contention);
  CHECK(!free.scenarios[2].contention);
}
