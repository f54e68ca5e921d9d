// Places of waits and of their causes, and efficiencies by function, on hand-made traces worked out
// by hand. One tick is one nanosecond.

#include "replay/observe/wait_places.h"
#include "replay/observe/wait_causes.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "replay/analyse/place_summary.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tests/unit/toy.h"
#include "tools/tables/place_tables.h"

using namespace rubato;

namespace {

struct Seen {
  PlaceSummary summary;
  ScenarioResult result;
  std::vector<double> roots;  ///< of WaitCauses, ns
  double waits_by_call = 0;   ///< likewise

  /// The wait of a rank at a place, in ns.
  double wait(int rank, const std::string& place, const std::string& communicator = "") const {
    double sum = 0;
    for (const PlaceSummary::Wait& wait : summary.waits) {
      if (wait.rank == rank && place_text(summary.places[wait.place]) == place &&
          (communicator.empty() || wait.communicator == communicator))
        sum += wait.seconds * 1e9;
    }
    return sum;
  }
  /// The waits of others at `waiting` ("": anywhere) caused by a rank at a place, in ns.
  double delay(int rank, const std::string& place, const std::string& waiting = "") const {
    double sum = 0;
    for (const PlaceSummary::Delay& delay : summary.delays) {
      if (delay.rank == rank && place_text(summary.places[delay.place]) == place &&
          (waiting.empty() || place_text(summary.places[delay.waiting]) == waiting))
        sum += delay.seconds * 1e9;
    }
    return sum;
  }
  double all_waits() const {
    double sum = 0;
    for (const PlaceSummary::Wait& wait : summary.waits) sum += wait.seconds * 1e9;
    return sum;
  }
  double all_delays() const {
    double sum = 0;
    for (const PlaceSummary::Delay& delay : summary.delays) sum += delay.seconds * 1e9;
    return sum;
  }
  const FunctionEfficiency& function(const std::string& name) const {
    for (const FunctionEfficiency& function : summary.functions) {
      if (function_text(function) == name) return function;
    }
    FAIL("no function " + name);
    throw 0;
  }
};

Seen see(const std::string& text, const Scenario& scenario, bool with_places = true) {
  const auto source = parse_text_trace(text);
  if (with_places) source->note_places();
  const KeptLosses kept = kept_losses(scenario, false);
  WaitPlaces places(*source, kept);
  WaitCauses causes(source->definitions());
  ReplayOptions options;
  options.wait_states = true;
  options.observers = {&places, &causes};
  Seen seen;
  seen.result = run_replay(*source, {scenario}, options).scenarios[0];
  REQUIRE(seen.result.deadlock.empty());
  seen.summary = place_summary(places, *source);
  seen.roots = causes.roots();
  for (const auto& [key, sum] : causes.waits()) seen.waits_by_call += sum.ticks;
  return seen;
}

const Scenario kMeasured = parse_scenario("measured");
const Scenario kPerfect = parse_scenario("perfect");

/// Nanoseconds.
std::vector<double> ns(std::vector<double> seconds) {
  for (double& each : seconds) each = std::round(each * 1e12) / 1e3;
  return seconds;
}

}  // namespace

// Rank 0 waits 100 for rank 1, which is in burn for 30 as called by pack, and for 70 by solve, also
// where burn calls itself.
TEST_CASE("a cause has the caller of its function") {
  const Seen seen = see(R"(
    0: 0..0 init
    0: 0..100 recv 1 8B
    0: 100 end
    1: 0..0 init
    1: 0 enter pack
    1: 0..30 function burn
    1: 30 leave pack
    1: 30 enter solve
    1: 30 enter burn
    1: 50..100 function burn
    1: 100 leave burn
    1: 100 leave solve
    1: 100..100 send 0 8B
    1: 100 end
  )",
                        kMeasured);
  CHECK(seen.delay(1, "burn, called by pack") == Approx(30));
  CHECK(seen.delay(1, "burn, called by solve") == Approx(70));
  CHECK(seen.all_delays() == Approx(100));
}

// Rank 0 waits 100 in main > halo for rank 1, which is 30 in main > pack > burn and 70 in main >
// solve > burn, and 40 in main > sum for rank 1 in main > solve > burn. So burn, called by solve,
// has 110 of 140, in two rows; the call of halo has 100.
TEST_CASE("a cause and a wait have their whole call paths") {
  const Seen seen = see(R"(
    0: 0..0 init
    0: 0 enter main
    0: 0 enter halo
    0: 0..100 recv 1 8B at a.c:5
    0: 100 leave halo
    0: 100 enter sum
    0: 100..140 recv 1 8B at a.c:9
    0: 140 leave sum
    0: 140 leave main
    0: 140 end
    1: 0..0 init
    1: 0 enter main
    1: 0 enter pack
    1: 0..30 function burn
    1: 30 leave pack
    1: 30 enter solve
    1: 30..100 function burn
    1: 100..100 send 0 8B
    1: 100..140 function burn
    1: 140..140 send 0 8B
    1: 140 leave solve
    1: 140 leave main
    1: 140 end
  )",
                        kMeasured);
  std::map<std::pair<std::string, std::string>, double> pairs;
  for (const PlaceSummary::Delay& delay : seen.summary.delays)
    pairs[{path_text(seen.summary.places[delay.place]),
           path_text(seen.summary.places[delay.waiting])}] += delay.seconds * 1e9;
  const std::string halo = "main > halo (a.c:5) > MPI_Recv", sum = "main > sum (a.c:9) > MPI_Recv";
  CHECK(pairs.size() == 3);
  CHECK(pairs[{"main > pack > burn", halo}] == Approx(30));
  CHECK(pairs[{"main > solve > burn", halo}] == Approx(70));
  CHECK(pairs[{"main > solve > burn", sum}] == Approx(40));
  // Text of 60 columns has only the ends in which paths differ.
  const std::string text = places_text(seen.summary, "measured", 60);
  CHECK(text.find("\n... > solve > burn ") != std::string::npos);
  CHECK(text.find("\n... > pack > burn ") != std::string::npos);
  CHECK(text.find("... > halo (a.c:5) > MPI_Recv\n") != std::string::npos);
  CHECK(text.find("... > sum (a.c:9) > MPI_Recv\n") != std::string::npos);
  CHECK(places_text(seen.summary, "measured", 200).find("\nmain > pack > burn ") !=
        std::string::npos);
}

// The ends in which the two paths to burn differ have four functions: too long for 60 columns, so
// that the outermost and the two innermost are shown.
TEST_CASE("long call paths of causes leave out functions in the middle") {
  std::string text =
      "0: 0..0 init\n0: 0..100 recv 1 8B\n0: 100 end\n1: 0..0 init\n1: 0 enter main\n";
  for (const std::string outer : {"a", "b"}) {
    for (const std::string& function : {outer, std::string("x"), std::string("y")})
      text += "1: " + std::string(outer == "a" ? "0" : "30") + " enter " + function + "\n";
    text += outer == "a" ? "1: 0..30 function burn\n" : "1: 30..100 function burn\n";
    for (const std::string& function : {std::string("y"), std::string("x"), outer})
      text += "1: " + std::string(outer == "a" ? "30" : "100") + " leave " + function + "\n";
  }
  const Seen seen = see(text + "1: 100..100 send 0 8B\n1: 100 leave main\n1: 100 end\n", kMeasured);
  const std::string table = places_text(seen.summary, "measured", 60);
  CHECK(table.find("\n... > a > ... > y > burn ") != std::string::npos);
  CHECK(table.find("\n... > b > ... > y > burn ") != std::string::npos);
}

// 200 call paths to f, each with 1 of the 200 that rank 0 waits: a gap keeps 255 parts, those of f
// and g on 127 paths. The time of the others goes to a known path of the same function.
TEST_CASE("a gap with more call paths than are kept loses no time of a function") {
  std::string text = "0: 0..200 recv 1 8B\n0: 200 end\n1: 0..0 init\n";
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i);
    text += "1: " + number + " enter g" + number + "\n1: " + number + ".." + std::to_string(i + 1) +
            " function f\n1: " + std::to_string(i + 1) + " leave g" + number + "\n";
  }
  const Seen seen = see(text + "1: 200..200 send 0 8B\n1: 200 end\n", kMeasured);
  CHECK(ns(seen.function("f").compute) == std::vector<double>{0, 200});
  CHECK(seen.delay(1, "f, called by g1") == Approx(1));
  CHECK(seen.all_delays() == Approx(200));
}

// Rank 0 receives from 0 on, rank 1 sends at 60: a wait of 60. In it rank 1 is
//   0 to 5    in solve,  5 to 10 in main,
//   10 to 40  in a receive, in which it waits for rank 2, which is in solve,
//   40 to 55  in pack, 55 to 60 in main.
// So rank 0's wait is 5 of solve, 10 of main and 15 of pack on rank 1, and 30 of solve on rank 2;
// rank 1's own 30 are solve's on rank 2, too.
TEST_CASE("waits have a place, and so has what is at their root") {
  const char* text = R"(
    0: 0..0 init
    0: 0..60 recv 1 8B at src/a.c:10
    0: 60 end
    1: 0..0 init
    1: 0 enter main
    1: 0..5 function solve
    1: 10..40 recv 2 8B
    1: 40..55 function pack
    1: 60..60 send 0 8B at a.c:20
    1: 60 leave main
    1: 60 end
    2: 0..0 init
    2: 0 enter solve
    2: 40..40 send 1 8B at a.c:7
    2: 50 leave solve
    2: 60 end
  )";
  for (const Scenario& scenario : {kMeasured, kPerfect}) {
    INFO(scenario.name);
    const Seen seen = see(text, scenario);
    CHECK(seen.wait(0, "MPI_Recv (a.c:10)") == Approx(60));
    CHECK(seen.wait(1, "MPI_Recv in main") == Approx(30));
    CHECK(seen.all_waits() == Approx(90));
    CHECK(seen.delay(1, "solve") == Approx(5));
    CHECK(seen.delay(1, "main") == Approx(10));
    CHECK(seen.delay(1, "pack") == Approx(15));
    CHECK(seen.delay(2, "solve", "MPI_Recv (a.c:10)") == Approx(30));
    CHECK(seen.delay(2, "solve", "MPI_Recv in main") == Approx(30));
    CHECK(seen.all_delays() == Approx(90));
    // The longest wait, and its main cause: 30 of 60.
    const std::vector<WaitAtPlace> waits = waits_by_place(seen.summary);
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].rank == 2);
    CHECK(waits[0].caused == Approx(30e-9));
    CHECK(waits[0].all == Approx(60e-9));
    const std::vector<PlaceSummary::Delay>& delays = seen.summary.delays;
    REQUIRE(delays.size() == 5);
    CHECK(delays[0].rank == 2);
    CHECK(place_text(seen.summary.places[delays[0].place]) == "solve");
    CHECK(delays[0].seconds == Approx(30e-9));
    CHECK(delays[4].seconds == Approx(5e-9));
  }
  // Without note_places() there are only the call and the compute before it.
  const Seen seen = see(text, kMeasured, false);
  CHECK(seen.wait(0, "MPI_Recv") == Approx(60));
  CHECK(seen.delay(1, "before MPI_Send") == Approx(20));
  CHECK(seen.delay(1, "before MPI_Recv") == Approx(10));
  CHECK(seen.delay(2, "before MPI_Send") == Approx(60));
}

// Compute before 20 of rank 0 becomes 40 on processors of half the speed: with 10 of 20 in solve
// and 10 in none, 20 each. Rank 1 is there at 0.
TEST_CASE("functions keep their shares of compute that takes longer") {
  const Seen seen = see(R"(
    0: 0..0 init
    0: 5..15 function solve
    0: 20..20 barrier at b.c:3
    0: 20 end
    1: 0..0 init
    1: 0..20 barrier at b.c:3
    1: 20 end
  )",
                        parse_scenario("perfect:cpu*0.5"));
  CHECK(seen.result.elapsed == Approx(40e-9));
  CHECK(seen.wait(1, "MPI_Barrier (b.c:3)") == Approx(40));
  CHECK(seen.delay(0, "solve") == Approx(20));
  CHECK(seen.delay(0, "before MPI_Barrier (b.c:3)") == Approx(20));
}

// Rank 0 waits 30 on communicator 1 (rank 1 is there at 30), then 50 on the world: from 30 until
// rank 2 sends at 80. Rank 1 waits 50 likewise.
TEST_CASE("waits are reported by communicator") {
  const Seen seen = see(R"(
    comm 1 0 1
    0: 0..30 barrier comm 1
    0: 30..80 barrier
    0: 80 end
    1: 0..0 local MPI_Comm_rank
    1: 30..30 barrier comm 1
    1: 30..80 barrier
    1: 80 end
    2: 0..0 local MPI_Comm_rank
    2: 80..80 barrier
    2: 80 end
  )",
                        kMeasured);
  std::vector<std::string> names;
  for (const PlaceSummary::Wait& wait : seen.summary.waits) names.push_back(wait.communicator);
  REQUIRE(names.size() == 3);
  CHECK(names[0] != names[1]);
  CHECK(seen.wait(0, "MPI_Barrier", names[0]) + seen.wait(0, "MPI_Barrier", names[1]) ==
        Approx(80));
  CHECK(seen.wait(1, "MPI_Barrier", names[2]) == Approx(50));
  // The receive that completes is of communicator 1, whatever the wait says.
  const Seen requests = see(R"(
    comm 1 0 1
    0: 0..0 irecv 1 8B req 1 comm 1
    0: 0..40 wait 1
    0: 40 end
    1: 0..0 local MPI_Comm_rank
    1: 40..40 send 0 8B comm 1
    1: 40 end
  )",
                            kMeasured);
  REQUIRE(requests.summary.waits.size() == 1);
  CHECK(requests.summary.waits[0].communicator == "comm 1");
}

// solve: rank 0 computes 10 + 20 in it, rank 1 60; load balance 45 / 60. It makes the barrier:
// rank 0 is there at 10 and leaves at 70, waits 50 (rank 1 comes at 60); rank 1 stays 10. So MPI is
// 70, 50 of it waiting. Of 90 + 70 that is 5/16; transfer is 20 / 160.
// Rank 0 then computes 20 in solve and 10 outside; rank 1 30 outside.
TEST_CASE("a function has its compute, and the calls that it makes itself") {
  Seen seen = see(R"(
    0: 0..0 init
    0: 0 enter solve
    0: 10..70 barrier
    0: 90 leave solve
    0: 100..100 finalize
    1: 0..0 init
    1: 0 enter solve
    1: 60..70 barrier
    1: 70 leave solve
    1: 100..100 finalize
  )",
                  kMeasured);
  const FunctionEfficiency& solve = seen.function("solve");
  CHECK(ns(solve.compute) == std::vector<double>{30, 60});
  CHECK(ns(solve.mpi) == std::vector<double>{60, 10});
  CHECK(ns(solve.waits) == std::vector<double>{50, 0});
  CHECK(solve.load_balance() == Approx(0.75));
  CHECK(solve.compute_share() == Approx(90. / 160));
  CHECK(solve.wait_share() == Approx(50. / 160));
  CHECK(solve.transfer_share() == Approx(20. / 160));
  CHECK(ns(seen.function("outside of functions").compute) == std::vector<double>{10, 30});
  const auto has = [&](const char* text) {
    return places_text(seen.summary, "measured", 1000).find(text) != std::string::npos;
  };
  seen.summary.sampling = Sampling{3, 1e-3, 2e-3};
  CHECK(has("by function, from 3 samples, one per 2.000 ms of processor time (1.000 ms asked)"));
  seen.summary.sampling->samples = 0;
  CHECK(has("by function, no sample was taken\n"));
}

// Rank 1 sends a thousand messages that are 2 apart, the last one at 2000, then the one that rank 0
// waits for from 0 on, at 2010. The replay has rank 1 far ahead of the others. All compute (2
// before each) is before a send: 2010. Then rank 0 takes the others, which are there.
TEST_CASE("places are also known for a rank that is far ahead") {
  std::string text = "0: 0..2010 recv 1 8B tag 1\n1: 0..0 local MPI_Comm_rank\n";
  for (int i = 1; i <= 1000; ++i) {
    const std::string at = std::to_string(2 * i);
    text += "1: " + at + ".." + at + " send 0 8B\n";
  }
  text += "1: 2010..2010 send 0 8B tag 1\n1: 2010 end\n";
  for (int i = 0; i < 1000; ++i) text += "0: 2010..2010 recv 1 8B\n";
  text += "0: 2010 end\n";
  const Seen seen = see(text, kPerfect);
  CHECK(seen.wait(0, "MPI_Recv") == Approx(2010));
  CHECK(seen.delay(1, "before MPI_Send") == Approx(2010));
}

// Of rank 0's 100 in the barrier it had no core for 60: 40 can be waiting, which is what counts. In
// these 100 rank 1 is 25 in pack and 75 in none, so 10 and 30 of the 40.
TEST_CASE("a wait with lost time counts in part, and so do its causes") {
  const Seen seen = see(R"(
    0: 0..100 barrier lost 60
    0: 100 end
    1: 0..0 local MPI_Comm_rank
    1: 0..25 function pack
    1: 100..100 barrier
    1: 100 end
  )",
                        kMeasured);
  CHECK(seen.wait(0, "MPI_Barrier") == Approx(40));
  CHECK(seen.delay(1, "pack") == Approx(10));
  CHECK(seen.delay(1, "before MPI_Barrier") == Approx(30));
}

// Whatever the program, waits by place are those by call, and roots by place those by rank.
TEST_CASE("waits and roots by place add up to those by rank, whatever the program") {
  using namespace rubato::property;
  double waits_in_all = 0;
  for (unsigned seed = 1; seed <= seeds(40); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, recorded);
    for (const char* machine :
         {"measured", "perfect", "loggps:L=700ns,G=0.5ns,S=1KiB", "perfect:cpu*0.5"}) {
      INFO("seed " << seed << ", " << machine);
      const Seen seen = see(text, parse_scenario(machine));
      CHECK(seen.all_waits() == Approx(seen.waits_by_call).margin(1e-3));
      std::vector<double> roots(seen.roots.size());
      for (const PlaceSummary::Delay& delay : seen.summary.delays)
        roots[delay.rank] += 1e9 * delay.seconds;
      for (size_t rank = 0; rank < roots.size(); ++rank)
        CHECK(roots[rank] == Approx(seen.roots[rank]).margin(1e-3));
      waits_in_all += seen.waits_by_call;
    }
  }
  CHECK(waits_in_all > 0);
}
