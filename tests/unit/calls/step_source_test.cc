#include "replay/sources/step_source.h"

#include <catch2/catch.hpp>

#include "models/base/error.h"
#include "tests/unit/ends.h"
#include "tests/unit/toy.h"
#include "tools/profile/network_estimates.h"

using namespace rubato;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

RunSteps steps_of(std::vector<std::string> texts) {
  const std::vector<int> nodes(texts.size(), 0);
  return RunSteps(std::move(texts), nodes, {});
}

Results replay(const RunSteps& steps, const std::string& scenario) {
  ReplayOptions options;
  options.repair = false;
  return run_replay(*steps.source(steps.numbers()), {parse_scenario(scenario)}, options);
}

constexpr const char* kBarrier = "c:barrier,0,0,0,0,0\n";

}  // namespace

TEST_CASE("steps are replayed one behind the other") {
  // Perfect: the message leaves at 200 and rank 1, which waits since 50, has it then. The barrier
  // is entered at 200 + 100 and 200 + 150, so both leave at 350. In the next step, which is number
  // 4, rank 0 computes 40, rank 1 10; rank 0 ends 100 behind that: 350 + 40 + 100 = 490.
  const RunSteps steps =
      steps_of({std::string("comm 5 abc 0 1\nstep 0 1000 0\nMPI_Send 200 300 0 0 s:5,1,7,8,41\n"
                            "MPI_Barrier 100 300 0 0 ") +
                    "c:barrier,5,0,0,0,0\nstep 4 240 100\nMPI_Comm_rank 40 100 0 0\n",
                std::string("step 0 1000 0\ncomm 0 abc\nMPI_Recv 50 500 0 0 r:0,0,7,8,41\n"
                            "MPI_Barrier 150 300 0 0 ") +
                    kBarrier + "step 4 240 0\nMPI_Comm_size 10 100 0 0\n"});
  REQUIRE(steps.numbers() == std::vector<uint64_t>{0, 4});
  const Ends ends = ends_of(replay(steps, "perfect").scenarios[0]);
  // A local call keeps its 100: 350 + 40 + 100 + 100, and 350 + 10 + 100.
  CHECK(ends == Ends{590, 460});
  // The mean rank: 1000 + 240 long, 300 + 300 + 100 and 500 + 300 + 100 of it in MPI: 800.
  const RunSteps::Sums sums = steps.sums(steps.numbers());
  CHECK(sums.length == Approx(1240e-9));
  CHECK(sums.mpi == Approx(800e-9));
  CHECK(sums.calls == Approx(3));
}

TEST_CASE("a message keeps its receiver, whatever the steps of both") {
  // Rank 0 sends message 41 at 10 and, as sends take no time on this machine, 42 at 10 + 30. A
  // message takes 1000 + 8. Rank 1 receives one of them in the second step. If one of the ranks
  // does not know which, it is the one of that step, as steps between may lack. Number 43 was sent
  // in a step that is not on record: the receive keeps its 700.
  const auto end_of_rank_1 = [](const std::string& key, const std::string& sent = "42") {
    const RunSteps steps =
        steps_of({"comm 0 abc 0 1\nstep 1 20 0\nMPI_Send 10 10 0 0 s:0,1,7,8,41\n"
                  "step 2 50 0\nMPI_Send 30 20 0 0 s:0,1,7,8," +
                      sent + "\n",
                  "comm 0 abc\nstep 1 20 0\nstep 2 20 0\nMPI_Recv 10 700 0 0 r:0,0,7,8," + key +
                      "\nstep 3 20 0\n"});
    REQUIRE(steps.numbers() == std::vector<uint64_t>{1, 2});
    return ends_of(replay(steps, "bandela:latency=1us,bandwidth=1GB/s").scenarios[0]).at(1);
  };
  CHECK(end_of_rank_1("41") == Approx(10 + 1008));
  CHECK(end_of_rank_1("42") == Approx(40 + 1008));
  CHECK(end_of_rank_1("0") == Approx(40 + 1008));
  CHECK(end_of_rank_1("42", "0") == Approx(40 + 1008));
  CHECK(end_of_rank_1("43") == Approx(10 + 700));
}

TEST_CASE("a receive whose send is not on record lets no other receive pass") {
  // Rank 1 receives number 43, of a step that is not on record, then 41, which rank 0 sends at 10
  // in the same step, so that it is there at 10 + 1008. The first receive keeps its 700, or 1700,
  // and so does the wait for a nonblocking one, whose call takes no time on this machine.
  const std::string sender = "comm 0 abc 0 1\nstep 1 20 0\nMPI_Send 10 10 0 0 s:0,1,7,8,41\n";
  const auto end_of_rank_1 = [&](const std::string& first) {
    const RunSteps steps =
        steps_of({sender, "comm 0 abc\nstep 1 20 0\n" + first + "MPI_Recv 0 9 0 0 r:0,0,7,8,41\n"});
    return ends_of(replay(steps, "bandela:latency=1us,bandwidth=1GB/s").scenarios[0]).at(1);
  };
  CHECK(end_of_rank_1("MPI_Recv 10 700 0 0 r:0,0,7,8,43\n") == Approx(1018));
  CHECK(end_of_rank_1("MPI_Recv 10 1700 0 0 r:0,0,7,8,43\n") == Approx(1710));
  CHECK(end_of_rank_1("MPI_Irecv 0 10 0 0 p:1\nMPI_Wait 10 1700 0 0 g:0,0,7,8,43,1\n") ==
        Approx(1710));
}

TEST_CASE("a step that one rank left out is left out on all") {
  // Rank 0 left out step 1, of 500 with 400 in 9 calls. Rank 1 has it: 480, 100 and one call. Rank
  // 2 has neither, so that the mean of the others counts. Rank 3 left it out, too: 510, 350 and 5.
  const std::string kept = "step 0 10 0\n";
  const RunSteps steps =
      steps_of({"left 1 500 400 9\n" + kept, kept + "step 1 480 0\nMPI_Wait 20 100 0 0\n", kept,
                "left 1 510 350 5\n" + kept});
  REQUIRE(steps.numbers() == std::vector<uint64_t>{0});
  CHECK(steps.left_out().length == Approx((500 + 480 + 510) / 3. * 1e-9));
  CHECK(steps.left_out().mpi == Approx((400 + 100 + 350) / 3. * 1e-9));
  CHECK(steps.left_out().calls == Approx(5));
  CHECK_THROWS_WITH(
      steps_of({"step 0 10 0\nleft 1 500 400 9\n"}),
      "rank 0, line 2 of its steps: expected a step, two times and calls, in front of "
      "all steps");
}

TEST_CASE("requests, collectives of some ranks and own work are replayed") {
  // Rank 0 posts a send at 100 and waits; rank 2 posts the receive and waits from 300 on. The
  // members 0 and 2 then broadcast from 2, which it enters at 300 + 50: rank 0 waits for it. It has
  // 25 of own work behind that.
  const RunSteps steps = steps_of(
      {"comm 1 beef 0 2\nstep 0 1000 0\nMPI_Isend 100 10 0 0 i:1,2,3,16,77,9,0\nMPI_Wait 5 10 0 0 "
       "d:9\n"
       "MPI_Bcast 20 400 0 0 c:bcast,1,1,0,16,0 o:25\n",
       "step 0 1000 0\n",
       "comm 4 beef\nstep 0 1000 0\nMPI_Irecv 10 10 0 0 p:1\nMPI_Wait 290 10 0 0 g:4,0,3,16,77,1\n"
       "MPI_Bcast 50 10 0 0 c:bcast,4,1,16,0,0\n"});
  CHECK(ends_of(replay(steps, "perfect").scenarios[0]) == Ends{350 + 25, 0, 350});
  // Lost cores are no compute: rank 1 computes 100 of which it had no core for 40.
  const RunSteps lost = steps_of({"step 0 100 0\nMPI_Comm_rank 100 30 40 10\n"});
  CHECK(ends_of(replay(lost, "perfect").scenarios[0]) == Ends{60 + 20});
}

TEST_CASE("steps that cannot be read are refused with rank and line") {
  const auto refused = [](const std::string& text, const std::string& why) {
    CHECK_THROWS_WITH(replay(steps_of({text}), "perfect"), "rank 0, line 2 of its steps: " + why);
  };
  refused("step 0 1 0\nMPI_Send 1 2 3", "a call has a name and four times");
  refused("step 0 1 0\nMPI_Send 1 2 3 x", "'x' is not a count");
  refused("step 0 1 0\nMPI_Send 1 2 0 0 s:1,2", "'s:1,2' is no item of a call");
  refused("step 0 1 0\nMPI_Send 1 2 0 0 y:1", "'y:1' is no item of a call");
  refused("step 0 1 0\nMPI_Send 1 2 0 0 s", "'s' is no item of a call");
  refused("step 0 1 0\nMPI_Send 1 2 0 0 s:0,0,1,1,9", "an unknown communicator");
  refused("step 0 1 0\nMPI_Bcast 1 2 0 0 c:cast,0,0,1,1,0", "'cast' is no collective");
  refused("step 0 1 0\ncomm 0 abc 7", "there is no rank 7");
  refused("comm 0 abc 0\nMPI_Send 1 2 0 0", "a call outside of a step");
  refused("comm 0 abc 0\ncomm 0 def", "communicator 0 is defined twice");
  refused("comm 0 abc 0\ncomm 1 def  0", "'' is not a count");
  refused("step 3 1 0\nstep 3 2 0", "step 3 is there twice");
}

TEST_CASE(
    "steps whose collectives differ, and changes of what is not there, are refused in words") {
  const std::string members = "comm 0 abc 0 1\nstep 0 1 0\n";
  const RunSteps steps = steps_of({members + "MPI_Barrier 1 2 0 0 " + kBarrier,
                                   members + "MPI_Bcast 1 2 0 0 c:bcast,0,0,8,8,0\n"});
  CHECK_THROWS_WITH(replay(steps, "perfect"), StartsWith("the file of sums: rank 1, event ") &&
                                                  Contains("differs in operation"));
  CHECK_THROWS_WITH(replay(steps, "perfect:region=solve*0.5"),
                    Contains(": the file of sums has no function 'solve'"));
}

TEST_CASE("steps with contradictory members of a communicator are refused") {
  const std::string none = "step 0 1 0\n";
  const auto refused = [&](const std::string& second, const std::string& why) {
    CHECK_THROWS_WITH(replay(steps_of({"comm 1 abc 0 1\n" + none, second, none}), "perfect"),
                      "rank 1, line 2 of its steps: " + why);
  };
  refused(none + "comm 2 def 1 2 1", "communicator def has rank 1 twice");
  refused(none + "comm 2 abc 1 2", "communicator abc has other members on another rank");
  CHECK_THROWS_WITH(
      replay(steps_of({"comm 1 abc 0 1\n" + none, none,
                       "comm 4 abc\n" + none + "MPI_Barrier 1 2 0 0 c:barrier,4,0,0,0,0\n"}),
             "perfect"),
      "rank 2, line 3 of its steps: this rank is no member of communicator abc");
  // MPI_COMM_SELF is one communicator by its identity.
  CHECK_NOTHROW(steps_of({"comm 1 2 0\n" + none, "comm 1 2 1\n" + none}));
}

TEST_CASE("other networks are estimated from some of the steps") {
  // Steps of two ranks: one computes 100, then both are in a barrier, for 10 + x and x; the other
  // computes 110. A perfect interconnect needs 110. So a step of 110 + x saves D = x, and has M = x
  // + 5 of MPI time in the mean rank, with x = 10 or 30: R = 20 / 25. The residuals D - R M are -2
  // and 2 in turns, whose standard error is sqrt(8 * 4 / 7) / sqrt(8) = 0.7559, for 25 of MPI time.
  // (By calls, one in each step, they are -10 and 10; a step of 25 in MPI makes 10^7 of 0.25 s.)
  // Half of the steps are on record: 2.3646 (Student's t, 7 degrees of freedom) * 0.7559 / 25 *
  // sqrt(1 / 2) = 5.056 % of the MPI time.
  std::string first = "comm 0 abc 0 1\n", second = "comm 0 abc\n";
  for (int step = 0; step < 8; ++step) {
    const int x = step % 2 == 0 ? 10 : 30;
    const std::string head =
        "step " + std::to_string(3 * step) + " " + std::to_string(110 + x) + " 0\n";
    first += head + "MPI_Barrier 100 " + std::to_string(10 + x) + " 0 0 " + kBarrier;
    second += head + "MPI_Barrier 110 " + std::to_string(x) + " 0 0 " + kBarrier;
  }
  const std::vector<Scenario> perfect = {parse_scenario("perfect")};
  ReplayOptions options;
  options.repair = false;
  const WholeRun whole = {.elapsed = 1, .mpi = 0.25, .lost = 0.1, .calls = 1e7};
  const RunSteps steps = steps_of({first, second});
  NetworkEstimates found = estimate_networks(steps, 2, whole, perfect, options);
  REQUIRE(found.scenarios.size() == 1);
  CHECK(found.scenarios[0].elapsed == Approx(1 - 0.1 - 0.8 * 0.25));
  CHECK(found.scenarios[0].half_width == Approx(0.05056 * 0.25).epsilon(0.001));
  // All steps, without estimate: 8 * 110 ns. Not if calls of the run are in none of them.
  found = estimate_networks(steps, 1, {.elapsed = 1040e-9, .calls = 8}, perfect, options);
  CHECK(found.scenarios[0].elapsed == Approx(880e-9));
  CHECK(found.scenarios[0].half_width == 0);
  CHECK(estimate_networks(steps, 1, whole, perfect, options).scenarios[0].elapsed ==
        Approx(1 - 0.1 - 0.8 * 0.25));
  // Steps that were too long keep their time: 0.05 s of MPI time in the mean rank.
  const std::string left = "left 7 300000000 50000000 3\n";
  found = estimate_networks(steps_of({left + first, left + second}), 2, whole, perfect, options);
  CHECK(found.scenarios[0].elapsed == Approx(1 - 0.1 - 0.8 * 0.2));
  CHECK_THROWS_WITH(
      estimate_networks(steps_of({"step 0 1 0\n", "step 0 1 0\n"}), 2, whole, perfect, options),
      "fewer than 8 steps between collectives of all ranks are on record; record a trace");
}

TEST_CASE("a network on which the steps deadlock has its reason in place of an estimate") {
  // Both ranks send before they receive: from 4 bytes on a send waits for the receive.
  std::string first = "comm 0 abc 0 1\n", second = "comm 0 abc\n";
  for (int step = 0; step < 8; ++step) {
    const std::string number = std::to_string(step), head = "step " + number + " 40 0\n";
    const std::string key = ",7,8," + number + "1\n", other = ",7,8," + number + "2\n";
    first += head + "MPI_Send 10 10 0 0 s:0,1" + key + "MPI_Recv 10 10 0 0 r:0,1" + other;
    second += head + "MPI_Send 10 10 0 0 s:0,0" + other + "MPI_Recv 10 10 0 0 r:0,0" + key;
  }
  const RunSteps steps = steps_of({first, second});
  const std::vector<Scenario> scenarios = {parse_scenario("loggps:L=1us,S=4B"),
                                           parse_scenario("perfect")};
  ReplayOptions options;
  options.repair = false;
  for (const uint64_t one_of : {1, 2}) {  // a replay of all, an estimate
    const NetworkEstimates found = estimate_networks(
        steps, one_of, {.elapsed = 1, .mpi = 0.25, .lost = 0, .calls = 32}, scenarios, options);
    const Json networks = network_table(found, 1).json();
    REQUIRE(networks.size() == 3);
    CHECK(networks[1]["scenario"] == "loggps:L=1us,S=4B");
    CHECK(networks[1]["elapsed"].is_null());
    CHECK(networks[1]["vs_measured"].is_null());
    CHECK_THAT(networks[1]["deadlock"].get<std::string>(),
               Contains("rank 0") && Contains("MPI_Send"));
    CHECK(networks[2]["elapsed"].get<double>() > 0);
    CHECK(networks[2]["deadlock"].is_null());
  }
}
