// Outcomes that a scenario's clocks contradict: times worked out by hand. One tick is one
// nanosecond. On `perfect` a message arrives when its send is entered.

#include "replay/outcomes.h"

#include <catch2/catch.hpp>

#include "replay/replay_driver.h"
#include "replay/text_source.h"

using namespace rubato;

namespace {

/// Rank 1 does `calls` with requests 1 (from rank 0, sent at 100) and 2 (from rank 2, sent at 40),
/// both posted at 0.
ScenarioResult result_of(const std::string& calls, const std::string& scenario = "perfect") {
  const auto source = parse_text_trace(
      "0: 0..0 init\n0: 100..101 send 1 8B\n0: 101 end\n"
      "1: 0..0 irecv 0 8B req 1\n1: 0..0 irecv 2 8B req 2\n" +
      calls + "1: 1000 end\n2: 0..0 init\n2: 40..41 send 1 8B\n2: 41 end\n");
  return run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0];
}

}  // namespace

TEST_CASE("a test that succeeded too early for this machine is counted with its wait") {
  // Entered at 30; request 2 comes at 40, request 1 at 100: both after their tests.
  const ScenarioResult result = result_of("1: 30..31 test 2\n1: 500..501 test 1\n");
  CHECK(result.contradicted_outcomes == 1);
  CHECK(result.contradicted_time == Approx(10e-9));
  // It was recorded so: nothing to say of `measured`.
  CHECK(result_of("1: 30..31 test 2\n1: 500..501 test 1\n", "measured").contradicted_outcomes == 0);
}

TEST_CASE("a test in which a polling loop ends is a wait") {
  const ScenarioResult result = result_of("1: 30..31 test\n1: 32..33 test 2\n1: 500..501 wait 1\n");
  CHECK(result.contradicted_outcomes == 0);
}

TEST_CASE("Waitany that took the request which comes last is counted when the other one is taken") {
  // The first call waits from 10 until 100, though request 2 was there at 40: 60 of its time.
  const ScenarioResult result = result_of("1: 10..200 waitany 1\n1: 300..301 waitany 2\n");
  CHECK(result.contradicted_outcomes == 1);
  CHECK(result.contradicted_time == Approx(60e-9));
  // In the order in which they come, or where both were there, nothing is wrong.
  CHECK(result_of("1: 10..50 waitany 2\n1: 60..200 waitany 1\n").contradicted_outcomes == 0);
  CHECK(result_of("1: 300..301 waitany 1\n1: 400..401 waitany 2\n").contradicted_outcomes == 0);
}

TEST_CASE("Waitsome that took two of which one comes first") {
  // From 40 to 100; if it was entered at 70, from then on.
  const ScenarioResult early = result_of("1: 10..200 waitsome 1 2\n");
  CHECK(early.contradicted_outcomes == 1);
  CHECK(early.contradicted_time == Approx(60e-9));
  CHECK(result_of("1: 70..200 waitsome 1 2\n").contradicted_time == Approx(30e-9));
  CHECK(result_of("1: 170..200 waitsome 1 2\n").contradicted_outcomes == 0);
}
