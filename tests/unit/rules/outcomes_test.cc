// Recorded outcomes that contradict a scenario: times worked out by hand. One tick is one
// nanosecond. On `perfect` a message arrives when its send is entered.

#include "replay/rules/outcomes.h"

#include <catch2/catch.hpp>

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"

using namespace rubato;

namespace {

/// Rank 1 does `calls` with requests 1 (from rank 0, sent at 100) and 2 (from rank 2, sent at 40),
/// both posted at 0.
ScenarioResult result_of(const std::string& calls, const std::string& scenario = "perfect") {
  const auto source = parse_text_trace(
      "0: 0..0 init\n0: 100..101 send 1 8B\n0: 101 end\n"
      "1: 0..0 irecv 0 8B req 1\n1: 0..0 irecv 2 8B req 2\n" +
      calls + "1: 1000 end\n2: 0..0 init\n2: 40..41 send 1 8B\n2: 41 end\n");
  ScenarioResult result = run_replay(*source, {parse_scenario(scenario)}, {}).scenarios[0];
  REQUIRE(result.deadlock.empty());
  return result;
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

TEST_CASE("Waitsome that took two although one arrives first") {
  // From 40 to 100; if it was entered at 70, from then on.
  const ScenarioResult early = result_of("1: 10..200 waitsome 1 2\n");
  CHECK(early.contradicted_outcomes == 1);
  CHECK(early.contradicted_time == Approx(60e-9));
  CHECK(result_of("1: 70..200 waitsome 1 2\n").contradicted_time == Approx(30e-9));
  CHECK(result_of("1: 170..200 waitsome 1 2\n").contradicted_outcomes == 0);
}

TEST_CASE("unsuccessful tests after the arrival are counted, with the time to the end") {
  // Tests request 2, which arrives at 40, at 30, 60 and 110 with work between. The call that
  // completes it is entered at 140: 80 after the first test that was recorded as unsuccessful but
  // would now succeed.
  const std::string looks = "1: 30..31 test\n1: 60..61 test\n1: 110..111 test\n";
  const ScenarioResult result = result_of(looks + "1: 140..141 test 2\n1: 500..501 wait 1\n");
  CHECK(result.contradicted_outcomes == 2);
  CHECK(result.contradicted_time == Approx(80e-9));
  // For request 1, which comes at 100: only the one at 110, 30 before the end.
  const ScenarioResult later = result_of(looks + "1: 140..141 test 1\n1: 500..501 wait 2\n");
  CHECK(later.contradicted_outcomes == 1);
  CHECK(later.contradicted_time == Approx(30e-9));
  // For both: what the last one brought.
  const ScenarioResult both = result_of(looks + "1: 140..141 test 2 1\n");
  CHECK(both.contradicted_outcomes == 1);
  // A call that is no test ends what is known of them.
  CHECK(result_of(looks + "1: 140..141 wait 2\n1: 500..501 wait 1\n").contradicted_outcomes == 0);
  CHECK(result_of(looks + "1: 140..141 test 2\n1: 500..501 wait 1\n", "measured")
            .contradicted_outcomes == 0);
}

TEST_CASE("probes that were unsuccessful, or successful too early") {
  const auto probed = [](const std::string& calls, bool spinning_waits = true) {
    const auto source = parse_text_trace(
        "0: 0..0 init\n0: 100..101 send 1 8B\n0: 101 end\n"
        "1: 0..0 init\n" +
        calls + "1: 1000 end\n");
    ReplayOptions options;
    options.spinning_waits = spinning_waits;
    return run_replay(*source, {parse_scenario("perfect")}, options).scenarios[0];
  };
  // The second probe finds its message at 180. The first one was unsuccessful at 150: 30 before.
  const std::string late =
      "1: 150..151 local MPI_Iprobe\n1: 180..181 local MPI_Iprobe\n"
      "1: 182..183 recv 0 8B\n";
  CHECK(probed(late).contradicted_outcomes == 1);
  CHECK(probed(late).contradicted_time == Approx(30e-9));
  // So it is call by call.
  CHECK(probed(late, false).contradicted_outcomes == 1);
  CHECK(probed(late, false).contradicted_time == Approx(30e-9));
  // A test in the same run looked for something else.
  CHECK(probed("1: 150..151 test\n1: 180..181 local MPI_Iprobe\n1: 182..183 recv 0 8B\n")
            .contradicted_outcomes == 0);
  // A lone probe at 30 found what comes at 100. (Without a word on that, it found nothing: the send
  // began after it.)
  const ScenarioResult early = probed("1: 30..31 iprobe 0\n1: 35..120 recv 0 8B\n");
  CHECK(early.contradicted_outcomes == 1);
  CHECK(early.contradicted_time == Approx(70e-9));
  CHECK(probed("1: 30..31 local MPI_Iprobe\n1: 35..120 recv 0 8B\n").contradicted_outcomes == 0);
  CHECK(probed("1: 130..131 iprobe 0\n1: 135..136 recv 0 8B\n").contradicted_outcomes == 0);
}

TEST_CASE(
    "in a polling loop replayed call by call, tests after the arrival contradict the "
    "recording") {
  // Every 10 from 10 on a test of 2, 100 of them, then one that succeeds; ten times as fast a
  // processor, so that it is 2 + 0.8. The message is sent at 1000 / 10: tests are entered at 0.9 +
  // 2.8 k, the first a tick after the arrival with k = 36, at 101.7; so 64 of them, and the loop
  // ends at 280.9.
  std::string text =
      "0: 0..0 init\n0: 1000..1001 send 1 8B\n0: 1001 end\n1: 0..1 irecv 0 8B req 1\n";
  for (int time = 10; time <= 1000; time += 10)
    text += "1: " + std::to_string(time) + ".." + std::to_string(time + 2) + " test\n";
  text += "1: 1010..1012 test 1\n1: 1022 end\n";
  const auto source = parse_text_trace(text);
  ReplayOptions options;
  options.spinning_waits = false;
  const auto keeps = run_replay(*source, {parse_scenario("perfect:cpu*10")}, options).scenarios[0];
  CHECK(keeps.contradicted_outcomes == 64);
  CHECK(keeps.contradicted_time == Approx((280.9 - 101.7) * 1e-9));
  options.spinning_waits = true;
  const auto waits = run_replay(*source, {parse_scenario("perfect:cpu*10")}, options).scenarios[0];
  CHECK(waits.contradicted_outcomes == 0);
}

TEST_CASE("tests with recorded requests belong to the calls that complete these") {
  // Request 2 comes at 40, request 1 at 100. Looks for 2 at 30, 60 and 120, for 1 at 90 and 160;
  // other calls between them. The wait for 2 is entered at 200, 140 after the first one that was
  // wrong. It takes no time here, so the one for 1 is entered at 239, 79 after the look at 160.
  const std::string looks =
      "1: 30..31 test not 2\n1: 32..33 local MPI_Comm_rank\n1: 60..61 test not 2\n"
      "1: 90..91 test not 1\n1: 92..93 local MPI_Comm_rank\n1: 120..121 test not 2\n"
      "1: 122..123 local MPI_Comm_rank\n1: 160..161 test not 1\n";
  const ScenarioResult result = result_of(looks + "1: 200..201 wait 2\n1: 240..241 wait 1\n");
  CHECK(result.contradicted_outcomes == 3);
  CHECK(result.contradicted_time == Approx(219e-9));
  CHECK(result_of(looks + "1: 200..201 wait 2\n1: 240..241 wait 1\n", "measured")
            .contradicted_outcomes == 0);
  // In a run that ends with a test they count for what they name, too: here none for request 2.
  CHECK(result_of("1: 30..31 test not 2\n1: 110..111 test not 1\n1: 150..151 test 2\n"
                  "1: 500..501 wait 1\n")
            .contradicted_outcomes == 1);
  // A test that completes something is replayed as such, whatever it found not complete besides.
  CHECK(result_of("1: 30..31 test\n1: 60..61 test 2\n1: 500..501 wait 1\n", "perfect")
            .contradicted_outcomes == 0);
}

namespace {

/// o_s = 10, T = 100 + n, o_r = 20, g = n (all ns), async from 1000 bytes on.
ScenarioResult modelled(const std::string& text) {
  Scenario scenario;
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
  )",
                                     "modelled");
  const auto source = parse_text_trace(text);
  ScenarioResult result = run_replay(*source, {scenario}, {}).scenarios[0];
  REQUIRE(result.deadlock.empty());
  return result;
}

}  // namespace

TEST_CASE("a test of a send that succeeded too early") {
  // The send leaves its call at 10, the test comes 9 later, at 19. The receive is posted at 9000.
  const auto result = [](const std::string& send, const std::string& bytes) {
    return modelled("0: 0..1 " + send + " 1 " + bytes + " req 1\n0: 10..11 test 1\n0: 11 end\n" +
                    "1: 0..1 local MPI_Comm_rank\n1: 9000..9001 recv 0 " + bytes +
                    "\n1: 9001 end\n");
  };
  // Then 5000 bytes go, until 14000.
  CHECK(result("isend", "5000B").contradicted_outcomes == 1);
  CHECK(result("isend", "5000B").contradicted_time == Approx(13981e-9));
  // A synchronous one has seen an answer 10 + 100 + 20 later, at 9130; an eager one does not wait.
  CHECK(result("issend", "8B").contradicted_outcomes == 1);
  CHECK(result("issend", "8B").contradicted_time == Approx(9111e-9));
  CHECK(result("isend", "8B").contradicted_outcomes == 0);
}

TEST_CASE("a test of a collective that succeeded too early") {
  // The test is entered at 9. Rank 1 comes at 100, a round takes 10 + 100 + 20: until 230.
  const ScenarioResult result = modelled(
      "0: 0..1 ibarrier req 1\n0: 10..11 test 1\n0: 11 end\n1: 0..1 local MPI_Comm_rank\n"
      "1: 100..101 ibarrier req 1\n1: 101..111 wait 1\n1: 111 end\n");
  CHECK(result.contradicted_outcomes == 1);
  CHECK(result.contradicted_time == Approx(221e-9));
}

TEST_CASE("unsuccessful tests of a send that was complete") {
  // The receive is posted at 40, the request comes at 110, the data at 5110. Looks at 109 and 6009;
  // the one that finds it is entered at 7009.
  const ScenarioResult result = modelled(
      "0: 0..1 isend 1 5000B req 1\n0: 100..101 test\n0: 6000..6001 test\n0: 7000..7001 test 1\n"
      "0: 7001 end\n1: 0..40 local MPI_Comm_rank\n1: 40..41 recv 0 5000B\n1: 41 end\n");
  CHECK(result.contradicted_outcomes == 1);
  CHECK(result.contradicted_time == Approx(1000e-9));
}

TEST_CASE("Waitsome that took a receive and a send that is over later") {
  // Rank 1 sends at 100 (there at 100 + 10 + 108), and posts 899 after it left, at 1009: until 6009
  // for 5000 bytes. The call is entered at 10: 6009 - 218.
  const ScenarioResult result = modelled(
      "0: 0..1 irecv 1 8B req 1\n0: 1..2 isend 1 5000B req 2\n0: 2..1100 waitsome 1 2\n"
      "0: 1100 end\n1: 0..100 local MPI_Comm_rank\n1: 100..101 send 0 8B\n"
      "1: 1000..1001 recv 0 5000B\n1: 1001 end\n");
  CHECK(result.contradicted_outcomes == 1);
  CHECK(result.contradicted_time == Approx(5791e-9));
}
