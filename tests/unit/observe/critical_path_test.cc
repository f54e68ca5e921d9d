// The critical path, on hand-made traces worked out by hand, and on random programs beside
// difference quotients. One tick is one nanosecond.

#include "replay/observe/critical_path.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/all_buses.h"
#include "tests/unit/contended.h"
#include "tests/unit/random_machines.h"
#include "tests/unit/random_one_sided.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tests/unit/toy.h"
#include "tests/unit/watched.h"

using namespace rubato;

namespace {

/// toy(), where messages from 1000 bytes on go by that protocol.
Scenario toy_by(const std::string& protocol) {
  Scenario scenario = toy();
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                                         protocol + R"(" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
  )",
                                     "toy");
  return scenario;
}

}  // namespace

// Toy: o_s = 10, T = 100 + n, o_r = 20, L = 100, g = n. Rank 0 enters the send at 1000; the message
// of 8 bytes is there at 1000 + 10 + 108 = 1118, rank 1 leaves at 1138 and computes 500. It posted
// at 1050, after the send: neither was late, but its end still depends on the send.
TEST_CASE("the path crosses to the sender of a message that is still under way") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    0: 1000..1001 send 1 8B
    0: 1010 end
    1: 1050..1051 recv 0 8B
    1: 1551 end
  )",
                                toy());
  CHECK(watched.wait(1, "MPI_Recv", "late sender") == -1);
  CHECK(watched.path.elapsed == Approx(1638));
  CHECK(watched.path.compute == std::vector<double>{1000, 500});
  CHECK(watched.crossing("MPI_Recv") == Approx(138));
  CHECK(watched.path.hops == 1);
  REQUIRE(watched.pieces.size() == 2);
  CHECK(watched.pieces[0].timeline == 1);
  CHECK(watched.pieces[0].begin == Approx(1138));
  CHECK(watched.pieces[0].end == Approx(1638));
  CHECK(watched.pieces[1].end == Approx(1000));
}

// The message is there at 10 + 1000 = 1010. The sender is notified A = o_s + L + o_r = 130 after
// that or the post, whichever is later.
TEST_CASE("a synchronous send depends on its receiver if that posts after the arrival") {
  const auto at = [](int post) {
    return "0: 0..0 init\n1: 0..0 init\n0: 0..600 ssend 1 900B\n0: 5000 end\n1: " +
           std::to_string(post) + "..6000 recv 0 900B\n1: 6001 end\n";
  };
  // Posted at 500: rank 0 leaves at 1140 by itself, and computes 4400.
  const Watched early = watch(at(500), toy());
  CHECK(early.path.elapsed == Approx(1140 + 4400));
  CHECK(early.path.hops == 0);
  CHECK(early.path.compute[0] == Approx(4400));
  CHECK(early.in_call("MPI_Ssend") == Approx(1140));
  // Posted at 1100: it leaves at 1230.
  const Watched late = watch(at(1100), toy());
  CHECK(late.path.elapsed == Approx(1230 + 4400));
  CHECK(late.path.hops == 1);
  CHECK(late.path.compute == std::vector<double>{4400, 1100});
  CHECK(late.crossing("MPI_Ssend") == Approx(130));
  // The receiver takes y = 50 for the acknowledgment: 1010 + 20 + 50 or 1100 + 70, and the sender
  // gets it 50 later. From 1090 on rank 1 has 1 of compute, so posted late it ends at 1171.
  Scenario tells = toy();
  tells.platform.level(Level::kNode)->synchronous_overhead = TransferCurve({{0, 50e-9, 0, 0}});
  const Watched early_told = watch(at(500), tells);
  CHECK(early_told.path.elapsed == Approx(1190 + 4400));
  CHECK(early_told.in_call("MPI_Ssend") == Approx(1190));
  const Watched late_told = watch(at(1100), tells);
  CHECK(late_told.path.elapsed == Approx(1280 + 4400));
  CHECK(late_told.crossing("MPI_Ssend") == Approx(180));
}

// 2000 bytes, o_s = 10: the request is at the receiver at 10 + L = 110, and T - L = 2000 behind
// that or the post the data is there.
TEST_CASE("a rendezvous depends on the side that was ready last, overhead included") {
  const auto at = [](int post) {
    return "0: 0..0 init\n1: 0..0 init\n0: 0..600 send 1 2000B\n0: 5000 end\n1: " +
           std::to_string(post) + "..600 recv 0 2000B\n1: 601 end\n";
  };
  const Watched early = watch(at(105), toy());
  CHECK(early.path.elapsed == Approx(2110 + 4400));
  CHECK(early.path.hops == 0);
  CHECK(early.in_call("MPI_Send") == Approx(2110));
  const Watched late = watch(at(115), toy());
  CHECK(late.path.elapsed == Approx(2115 + 4400));
  CHECK(late.path.compute == std::vector<double>{4400, 115});
  CHECK(late.crossing("MPI_Send") == Approx(2000));
}

// Rank 0's send of 2000 bytes, entered at 100, asks at 100 + 10 + 100 = 210. Rank 1, which posted
// at 0, is inside MPI again at 500: there its answer (L) and the data (T - 2 L = 1900) begin.
TEST_CASE("what is pulled follows from the call that pulls it") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..600 send 1 2000B
    0: 1600 end
    1: 0..0 irecv 0 2000B req 1
    1: 500..600 wait 1
    1: 601 end
  )",
                                toy_by("pull"));
  CHECK(watched.path.elapsed == Approx(500 + 2000 + 1000));
  CHECK(watched.path.compute == std::vector<double>{1000, 500});
  CHECK(watched.crossing("MPI_Send") == Approx(2000));
}

// A receiver that is in its receive answers at once, at 210; the sender, in MPI_Isend from 100 to
// 110, is back at 900. A = o_s + L + o_r = 130, so the answer was there at 340 at the latest: the
// data leaves at 900, T - 2 L = 1900 long; the receiver leaves at 2820.
TEST_CASE("what is pushed follows from the call of its sender that finds the answer") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    0: 100..110 isend 1 2000B req 1
    0: 900..1000 wait 1
    0: 1001 end
    1: 0..600 recv 0 2000B
    1: 1600 end
  )",
                                toy_by("push"));
  // Rank 0 computes 100, 10 lie in MPI_Isend, then 790 more: the wait is entered at 900.
  CHECK(watched.path.elapsed == Approx(2820 + 1000));
  CHECK(watched.path.compute == std::vector<double>{890, 1000});
  CHECK(watched.in_call("MPI_Isend") == Approx(10));
  CHECK(watched.crossing("MPI_Recv") == Approx(1920));
}

// The first message keeps the port from 60 to 960; the second, of a call entered at 100, starts
// then, and is there at 960 + 108. What rank 0 computes between the two does not matter.
TEST_CASE("a message that waits for a port depends on the call since which the port is busy") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 50..60 isend 2 900B req 1
    0: 100..110 send 1 8B
    0: 120..130 wait 1
    0: 140 end
    1: 0..1000 recv 0 8B
    1: 1012 end
    2: 0..1000 recv 0 900B
    2: 1000 end
  )",
                                toy());
  CHECK(watched.path.elapsed == Approx(1088 + 12));
  CHECK(watched.path.compute == std::vector<double>{50, 12, 0});
  CHECK(watched.crossing("MPI_Recv") == Approx(1088 - 50));
}

// Messages of 900 bytes are there at 20 + 10 + 1000 = 1030 and at 1040; the second drains no
// earlier than 1030 + g = 1930, and is received by 1950.
TEST_CASE("a receive that waits for a port depends on the message since which the port is busy") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 0..100 recv 1 900B
    0: 100..200 recv 2 900B
    0: 205 end
    1: 20..30 send 0 900B
    1: 40 end
    2: 30..40 send 0 900B
    2: 50 end
  )",
                                toy());
  CHECK(watched.path.elapsed == Approx(1950 + 5));
  CHECK(watched.path.compute == std::vector<double>{5, 20, 0});
  CHECK(watched.crossing("MPI_Recv") == Approx(1930));
}

// Rank 1's thread receives at 50 what was sent then, computes 40 and ends; the joining thread
// computes 5 more before the end.
TEST_CASE("the path goes from a join to the thread that ended, if that was last") {
  const char* text = R"(
    0: 0..0 init
    1: 0..0 init
    0: 1..1 create 7
    0.1: 1..1 begin 7
    0.1: 10..50 recv 1 8B
    0.1: 90..90 end 7
    0: 2..95 join 7
    0: 95..95 finalize
    1: 50..50 send 0 8B
    1: 60..60 finalize
  )";
  for (const char* scenario : {"perfect", "measured"}) {
    INFO(scenario);
    const Watched watched = watch(text, parse_scenario(scenario));
    CHECK(watched.path.elapsed == 95);
    CHECK(watched.path.compute == std::vector<double>{45, 50});
    CHECK(watched.path.hops == 1);
    CHECK(sum_of(watched.path) == 95);
  }
  // On toy() the message is there at 50 + 10 + 108, received by 188: the thread ends at 228, the
  // main one is through its join at 233.
  const Watched slow = watch(text, toy());
  CHECK(slow.path.elapsed == Approx(233));
  CHECK(slow.path.compute == std::vector<double>{45, 50});
  CHECK(slow.crossing("MPI_Recv") == Approx(138));
  // A thread that ended before was not waited for.
  const Watched early = watch(R"(
    0: 0..0 init
    0: 30..30 create 7
    0.1: 40..40 begin 7
    0.1: 50..51 local MPI_Comm_rank
    0.1: 90..90 end 7
    0: 200..203 join 7
    0: 210..210 finalize
  )",
                              kPerfect);
  CHECK(early.path.compute == std::vector<double>{210});
  CHECK(early.pieces.size() == 1);
}

// The thread of rank 0 that ends last began 10 behind its creation at 30, which rank 1's message
// let come: sent at 20, 20 before.
TEST_CASE("the path goes from the begin of a thread to its creator") {
  const Watched watched = watch(R"(
    0: 0..0 init
    1: 0..0 init
    0: 0..20 recv 1 8B
    0: 30..30 create 7
    0.1: 40..40 begin 7
    0.1: 50..52 local MPI_Comm_rank
    0.1: 90..90 end 7
    0: 40..90 join 7
    0: 90..90 finalize
    1: 20..20 send 0 8B
    1: 20..20 finalize
  )",
                                kPerfect);
  // 90 - 52, 52 - 50 in the call, 50 - 20; rank 1 until 20.
  CHECK(watched.path.compute == std::vector<double>{68, 20});
  CHECK(watched.in_call("MPI_Comm_rank") == 2);
  REQUIRE(watched.pieces.size() == 4);
  CHECK(watched.pieces[1].timeline == 2);
  CHECK(watched.pieces[2].timeline == 0);
  CHECK(sum_of(watched.path) == 90);
}

// Rank 0 has its lock at 10 + 2 L = 210, puts 100 KB from 220 on (o_s = 10): they land at 230 + 100
// + 100000. Its unlock, entered at 239, releases the lock then, which rank 1 requested at 100: rank
// 1 has it L later, at 100430, and computes 10 + 99800.
TEST_CASE("a lock depends on the last put of its holder, and nothing later") {
  const Watched watched = watch(R"(
    window 1
    0: 0..0 init
    1: 0..0 init
    2: 0..0 init
    0: 10..20 win_lock 2 exclusive
    0: 30..31 put 2 100000B
    0: 40..200000 win_unlock 2
    0: 200001 end
    1: 100..200100 win_lock 2 exclusive
    1: 200110..200200 win_unlock 2
    1: 300000 end
    2: 1 end
  )",
                                toy());
  CHECK(watched.path.elapsed == Approx(100430 + 10 + 99800));
  CHECK(watched.path.hops == 1);
  CHECK(watched.path.compute == std::vector<double>{20, 99810, 0});
  CHECK(watched.crossing("MPI_Win_lock") == Approx(100430 - 220));
  CHECK(watched.in_call("MPI_Win_lock") == Approx(200));
  CHECK(sum_of(watched.path) == Approx(watched.path.elapsed));
}

// Rank 1's main thread begins at 50, its other one, which ends last, at 0; the run begins when rank
// 0 does, at 20.
TEST_CASE("what a thread did before the run began is not on the path") {
  const Watched watched = watch(R"(
    0: 20 local MPI_Comm_rank
    0: 60 end
    1: 50 local MPI_Comm_rank
    1: 60 end
    1.1: 0..1 local MPI_Comm_rank
    1.1: 100..110 local MPI_Comm_rank
    1.1: 120 end
  )",
                                kPerfect);
  CHECK(watched.path.elapsed == Approx(watched.result.elapsed * 1e9));
  CHECK(watched.path.late_start == 0);
  CHECK(sum_of(watched.path) == Approx(watched.path.elapsed));
}

// --- Whatever the program ---

namespace {

Scenario with_factor(Scenario scenario, int rank, double longer) {
  scenario.processors.push_back({.first = rank, .last = rank, .factor = 1 / (1 + longer)});
  return scenario;
}

/// How often check_derivative() had something to compare.
struct Compared {
  int ranks = 0, networks = 0;
};

/// The parts of the path add up. For a rank that computes e longer, T grows by e times its compute
/// (and its own work in calls) on the path, and falls by as much if it computes less: where both
/// difference quotients are one, they are that. And where the machine with a little more latency,
/// and a little less bandwidth, has a path of as many crossings, it is the same one: what T grows
/// by lies in these and in calls, none of it in compute.
void check_derivative(const std::string& text, const Scenario& machine, const Scenario& slower,
                      Compared& compared) {
  const Watched watched = watch(text, machine);
  const PathSums& sums = watched.path;
  CHECK(sums.elapsed == Approx(watched.result.elapsed * 1e9).epsilon(1e-12));
  CHECK(sum_of(sums) == Approx(sums.elapsed).epsilon(1e-9));
  CHECK(sums.late_start >= 0);
  const double step = 1e-7, now = sums.elapsed, rounding = 1e-3 + 1e-13 * now / step;
  for (size_t rank = 0; rank < sums.compute.size(); ++rank) {
    const auto elapsed = [&](double longer) {
      const Scenario other = with_factor(machine, static_cast<int>(rank), longer);
      return replay(text, {other}).scenarios[0].elapsed * 1e9;
    };
    const double behind = (elapsed(step) - now) / step, before = (now - elapsed(-step)) / step;
    if (std::abs(behind - before) > rounding) continue;  // of several paths
    INFO("rank " << rank << ": " << before << " and " << behind);
    // Its own work in calls, as far as it is on the path, takes longer, too.
    const double own = behind - sums.compute[rank];
    CHECK(own > -rounding);
    CHECK(own < watched.result.ranks[rank].own_work * 1e9 + rounding);
    ++compared.ranks;
  }
  const Watched other = watch(text, slower);
  if (other.path.hops != sums.hops) return;
  for (size_t rank = 0; rank < sums.compute.size(); ++rank)
    CHECK(other.path.compute[rank] == Approx(sums.compute[rank]).margin(1e-3));
  for (const auto& [call, ticks] : sums.crossings)
    CHECK(other.path.crossings.at(call) == Approx(ticks).epsilon(1e-5));
  ++compared.networks;
}

/// Machines with all features of the model.
std::vector<property::Machine> machines() {
  using property::Machine;
  Machine plain;
  plain.o_s = 130;
  plain.o_r = 290;
  plain.node_latency = 410;
  plain.network_latency = 2170;
  plain.per_byte = 0.53;
  std::vector<Machine> machines = {plain};
  Machine busy = plain;  // ports
  busy.gap = 0.71;
  busy.burst_gap = 0.83;
  busy.second_burst_gap = 0.77;
  busy.following = 160;  // between o_s and o_r
  machines.push_back(busy);
  for (const Protocol protocol : {Protocol::kAsync, Protocol::kPull, Protocol::kPush}) {
    busy.protocol = protocol;
    busy.rendezvous = 900;
    machines.push_back(busy);
  }
  busy.crossing = 77;
  machines.push_back(busy);
  return machines;
}

property::Machine slower(property::Machine machine) {
  constexpr double kSlower = 1 + 1e-8;
  machine.node_latency *= kSlower;
  machine.network_latency *= kSlower;
  machine.per_byte *= kSlower;
  machine.gap *= kSlower;
  machine.burst_gap *= kSlower;
  machine.second_burst_gap *= kSlower;
  return machine;
}

}  // namespace

TEST_CASE("the compute on the path is the derivative of the elapsed time, whatever the program") {
  using namespace rubato::property;
  Compared compared;
  Scenario shared = platform(machines().back());
  shared.name = "degradation";
  shared.platform.contention = degraded(0.5).platform.contention;
  for (unsigned seed = 1; seed <= seeds(40); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    const std::string text = as_text(program, recorded);
    INFO("seed " << seed);
    for (const Machine& machine : machines()) {
      INFO("machine of protocol " << static_cast<int>(machine.protocol) << " from "
                                  << machine.rendezvous << ", gap " << machine.gap << ", crossing "
                                  << machine.crossing);
      check_derivative(text, platform(machine), platform(slower(machine)), compared);
    }
    for (const char* machine : {"perfect", "bandela:latency=700ns,bandwidth=2GB/s",
                                "loggps:L=700ns,G=0.5ns,S=1KiB", "bandela:latency=1us,ppn=1"}) {
      INFO(machine);
      check_derivative(text, parse_scenario(machine), parse_scenario(machine), compared);
    }
    // By the recording, and where messages share the network, there is but the sum.
    for (const Scenario& scenario :
         {on("measured"), on("undisturbed"), shared, with_all_buses(platform(machines().back()))}) {
      INFO(scenario.name);
      const Watched watched = watch(text, scenario);
      CHECK(sum_of(watched.path) == Approx(watched.result.elapsed * 1e9).epsilon(1e-9));
      CHECK(watched.path.late_start >= 0);
    }
  }
  CHECK(compared.ranks * 40 > 800 * static_cast<int>(seeds(40)));
  CHECK(compared.networks * 40 > 200 * static_cast<int>(seeds(40)));
}

TEST_CASE("the same where threads send and receive, and are joined") {
  using namespace rubato::property;
  Compared compared;
  for (unsigned seed = 1; seed <= seeds(30); ++seed) {
    Program program = threaded(seed);
    std::vector<double> ends = Reference(program, recorder()).run(&program);
    std::istringstream plain(as_text(program, ends, 2));
    // Every second thread is created and joined.
    std::string text;
    for (std::string line; std::getline(plain, line);) {
      const size_t rank =
          line.empty() || line[0] < '0' || line[0] > '9' ? ends.size() : 2 * std::stoul(line);
      const bool has_thread = rank + 1 < ends.size() && rank % 4 == 0;
      const std::string name = std::to_string(rank / 2);
      if (has_thread && line.ends_with("end")) {
        std::ostringstream joined;
        joined.precision(17);
        const double end = ends[rank + 1], last = std::max(ends[rank], end);
        if (line.find('.') < line.find(':'))
          joined << name << ".1: " << end << ".." << end << " end 1";
        else
          joined << name << ": " << ends[rank] << ".." << last << " join 1\n"
                 << name << ": " << last << " end";
        line = joined.str();
      } else if (has_thread && line == name + ".1: 0..0 local MPI_Comm_rank") {
        line = name + ".1: 0..0 begin 1";
      } else if (has_thread && line == name + ": 0..0 init") {
        line += "\n" + name + ": 0..0 create 1";
      }
      text += line + "\n";
    }
    INFO("seed " << seed << "\n" << text);
    for (const Machine& machine : machines())
      check_derivative(text, platform(machine), platform(slower(machine)), compared);
  }
  CHECK(compared.ranks * 30 > 200 * static_cast<int>(seeds(30)));
  CHECK(compared.networks * 30 > 100 * static_cast<int>(seeds(30)));
}

TEST_CASE("the same of one-sided communication") {
  Compared compared;
  for (unsigned seed = 0; seed < seeds(60); ++seed) {
    const std::string text = property::OneSidedGenerator(seed).make();
    INFO("seed " << seed << "\n" << text);
    for (const property::Machine& machine : machines()) {
      INFO("machine of protocol " << static_cast<int>(machine.protocol) << " from "
                                  << machine.rendezvous << ", gap " << machine.gap);
      check_derivative(text, platform(machine), platform(slower(machine)), compared);
    }
  }
  CHECK(compared.ranks * 60 > 300 * static_cast<int>(seeds(60)));
  CHECK(compared.networks * 60 > 100 * static_cast<int>(seeds(60)));
}
