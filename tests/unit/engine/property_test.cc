// Random programs without deadlock, replayed on many machines: what must hold whatever a program
// does. Each is also simulated by a naive reference (reference_simulation.h).

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <sstream>

#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/all_buses.h"
#include "tests/unit/each_width.h"
#include "tests/unit/ends.h"
#include "tests/unit/random_machines.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"

using namespace rubato;
using namespace rubato::property;

namespace {

Scenario bandela(const Machine& machine) {
  std::ostringstream text;
  text.precision(17);
  text << "bandela:self.latency=" << machine.node_latency
       << "ns,node.latency=" << machine.node_latency
       << "ns,network.latency=" << machine.network_latency
       << "ns,bandwidth=" << 1 / machine.per_byte << "GB/s";
  return parse_scenario(text.str());
}

void check_near(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("rank " << i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

/// No rank of `a` ends later than in `b`, rounding aside.
void check_not_later(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("rank " << i);
    CHECK(a[i] <= b[i] * (1 + 1e-12));
  }
}

void check_same_bits(const ScenarioResult& a, const ScenarioResult& b) {
  REQUIRE(a.ranks.size() == b.ranks.size());
  CHECK(a.elapsed == b.elapsed);
  for (size_t i = 0; i < a.ranks.size(); ++i) {
    CHECK(a.ranks[i].end == b.ranks[i].end);
    CHECK(a.ranks[i].compute == b.ranks[i].compute);
    CHECK(a.ranks[i].mpi == b.ranks[i].mpi);
    CHECK(a.ranks[i].waits == b.ranks[i].waits);
  }
}

double waited(const RankResult& rank) {
  return std::accumulate(rank.waits.begin(), rank.waits.end(), 0.0);
}

/// Ranks wait inside MPI and nowhere else.
void check_waits(const ScenarioResult& result) {
  REQUIRE(result.has_waits);
  for (const RankResult& rank : result.ranks) {
    INFO(result.name << ", rank " << &rank - result.ranks.data());
    for (const double wait : rank.waits) CHECK(wait >= 0);
    CHECK(waited(rank) <= rank.mpi * (1 + 1e-9));
  }
}

/// On `perfect` they spend time there only in own work, and in local calls and unsuccessful tests,
/// which keep their time.
void check_waits_alone(const Results& results, const ScenarioResult& perfect) {
  for (const RankResult& rank : perfect.ranks) {
    INFO("rank " << &rank - perfect.ranks.data());
    double left = rank.mpi - waited(rank) - rank.own_work;
    for (size_t i = 0; i < results.calls.size(); ++i) {
      if (results.calls[i] == "MPI_Comm_rank" || results.calls[i] == "MPI_Test")
        left -= rank.calls[i].time;
    }
    CHECK(left == Approx(0).margin(1e-12));
  }
}

struct Recorded {
  Program program;
  std::vector<double> ends;
  std::string text;
};

Recorded record(unsigned seed, bool safe, const Machine& machine) {
  Recorded recorded;
  recorded.program = Generator(seed, safe).make();
  const Program program = recorded.program;
  recorded.ends = Reference(program, machine).run(&recorded.program);
  recorded.text = as_text(recorded.program, recorded.ends);
  return recorded;
}

/// A recording by clocks that jump ahead by up to 3000 ticks now and then, one for each `threads`
/// ranks.
Recorded record_badly(unsigned seed, size_t threads) {
  Recorded recorded;
  const Program program = threads == 1 ? Generator(seed, false).make() : threaded(seed);
  recorded.program = program;
  recorded.ends = Reference(program, recorder()).run(&recorded.program);
  std::mt19937 random(seed);
  std::map<double, double> jumps;  // by time
  for (size_t rank = 0; rank < recorded.ends.size(); ++rank) {
    if (rank % threads == 0) {
      jumps.clear();
      for (int i = 0; i < 4; ++i)
        jumps[static_cast<double>(random() % 20000)] = static_cast<double>(random() % 3000);
    }
    const auto show = [&](double& time) {
      double ahead = 0;
      for (const auto& [at, by] : jumps) ahead += at < time ? by : 0;
      time += ahead;
    };
    for (Op& op : recorded.program.ranks[rank]) {
      show(op.enter);
      show(op.leave);
    }
    show(recorded.ends[rank]);
  }
  recorded.text = as_text(recorded.program, recorded.ends, threads);
  return recorded;
}

constexpr unsigned kSeeds = seeds(500);

}  // namespace

TEST_CASE("random programs on eager machines") {
  Machine near;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record(seed, false, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             bandela(near), bandela(far)};
    const auto source = parse_text_trace(recorded.text);
    ReplayOptions options;
    options.verify = true;
    options.wait_states = true;
    const Results results = run_replay(*source, scenarios, options);
    for (const ScenarioResult& result : results.scenarios) check_waits(result);
    check_waits_alone(results, results.scenarios[1]);

    // Every message is matched once.
    CHECK(results.trace.messages == recorded.program.messages.size());
    CHECK(results.trace.unmatched_sends == 0);
    CHECK(results.trace.unmatched_receives == 0);
    CHECK(results.trace.clock_violations.total() == 0);

    // `measured` gives the recording back.
    CHECK(results.identity->differing == 0);
    const std::vector<double> measured = ends_of(results.scenarios[0]);
    check_near(measured, recorded.ends);

    // The engine agrees with the reference.
    const std::vector<double> perfect = ends_of(results.scenarios[1]);
    const std::vector<double> few = ends_of(results.scenarios[2]);
    const std::vector<double> many = ends_of(results.scenarios[3]);
    check_near(perfect, Reference(recorded.program, Machine()).run());
    check_near(few, Reference(recorded.program, near).run());
    check_near(many, Reference(recorded.program, far).run());

    // No scenario is faster than perfect, and more latency makes no rank faster.
    check_not_later(perfect, measured);
    check_not_later(perfect, few);
    check_not_later(few, many);
  }
}

TEST_CASE("random programs with overheads, ports and rendezvous") {
  Machine slow_recorder = recorder();
  slow_recorder.rendezvous = 1000;
  slow_recorder.gap = 1;
  Machine near;
  near.o_s = 17;
  near.o_r = 23;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  near.gap = 0.25;
  near.burst_gap = 0.625;
  near.second_burst_gap = 0.375;
  near.crossing = 130;
  near.synchronous = 70;
  near.rendezvous = 1000;
  near.collectives.preset = CollectivePreset::kOpenMpi;
  for (const CollectiveOp op : {CollectiveOp::kBcast, CollectiveOp::kGather, CollectiveOp::kReduce})
    near.collectives.of(op).sync_limit = 12000;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  // None; less than o_s, than o_r; more than both.
  constexpr double kFollowing[] = {0, 12, 20, 60};
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    near.following = far.following = kFollowing[seed % 4];
    const Recorded recorded = record(seed, true, slow_recorder);
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             platform(near), platform(far)};
    const auto source = parse_text_trace(recorded.text);
    ReplayOptions options;
    options.verify = true;
    options.eager_limit = 999;
    options.wait_states = true;
    const Results results = run_replay(*source, scenarios, options);
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
    CHECK(results.identity->differing == 0);
    for (const ScenarioResult& result : results.scenarios) check_waits(result);
    check_waits_alone(results, results.scenarios[1]);
    const std::vector<double> measured = ends_of(results.scenarios[0]);
    const std::vector<double> perfect = ends_of(results.scenarios[1]);
    const std::vector<double> few = ends_of(results.scenarios[2]);
    const std::vector<double> many = ends_of(results.scenarios[3]);
    check_near(measured, recorded.ends);
    check_near(few, Reference(recorded.program, near).run());
    check_near(many, Reference(recorded.program, far).run());
    check_not_later(perfect, measured);
    check_not_later(perfect, few);
    check_not_later(few, many);
  }
}

// The order in which messages progress may change which ranks are inside MPI for others, so
// scenarios run one by one, and more latency may help.
TEST_CASE("random programs whose messages need ranks inside MPI") {
  Machine near;
  near.o_s = 17;
  near.o_r = 23;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  near.gap = 0.25;
  near.burst_gap = 0.5;
  near.second_burst_gap = 0.75;
  near.following = 11;
  near.rendezvous = GENERATE(1000, 1);
  near.protocol = GENERATE(Protocol::kPull, Protocol::kPush);
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  Machine async = near;
  async.protocol = Protocol::kAsync;
  unsigned later = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record(seed, true, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const auto source = parse_text_trace(recorded.text);
    const std::vector<Scenario> scenarios = {platform(near), platform(far), platform(async)};
    ReplayOptions options;
    options.wait_states = true;
    const Results results = run_replay(*source, scenarios, options);
    for (const ScenarioResult& result : results.scenarios) check_waits(result);
    const std::vector<double> few = ends_of(results.scenarios[0]);
    check_near(few, Reference(recorded.program, near).run());
    check_near(ends_of(results.scenarios[1]), Reference(recorded.program, far).run());
    later += few != ends_of(results.scenarios[2]);
    const auto alone = parse_text_trace(recorded.text);
    check_same_bits(results.scenarios[1], run_replay(*alone, {scenarios[1]}, options).scenarios[0]);
  }
  CHECK(later > kSeeds / 5);  // it matters
}

// Threads do not delay each other: if each two ranks of a program become the threads of one, it
// takes as long as before. A thread's part of its rank's window ends with its last call.
TEST_CASE("random programs of ranks with two threads") {
  Machine near;
  near.o_s = 17;
  near.o_r = 23;
  near.node_latency = 300;
  near.network_latency = 1700;
  near.per_byte = 0.5;
  near.gap = 0.25;
  Machine far = near;
  far.node_latency = 650;
  far.network_latency = 90000;
  far.rendezvous = 1000;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Program program = threaded(seed);
    const auto windows = [&](std::vector<double> ends) {
      for (size_t rank = 1; rank < ends.size(); rank += 2)
        ends[rank / 2 * 2] = std::max(ends[rank - 1], ends[rank] - program.compute_at_end);
      std::vector<double> of_rank;
      for (size_t rank = 0; rank < ends.size(); rank += 2) of_rank.push_back(ends[rank]);
      return of_rank;
    };
    Program recording = program;
    const std::vector<double> ends = Reference(program, recorder()).run(&recording);
    const std::string text = as_text(recording, ends, 2);
    INFO("seed " << seed << "\n" << text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                             platform(near), platform(far)};
    const auto source = parse_text_trace(text);
    ReplayOptions options;
    options.verify = true;
    const Results results = run_replay(*source, scenarios, options);
    CHECK(results.trace.unmatched_sends + results.trace.unmatched_receives == 0);
    CHECK(results.identity->differing == 0);
    check_near(ends_of(results.scenarios[0]), windows(ends));
    check_near(ends_of(results.scenarios[1]), windows(Reference(program, Machine()).run()));
    check_near(ends_of(results.scenarios[2]), windows(Reference(program, near).run()));
    check_near(ends_of(results.scenarios[3]), windows(Reference(program, far).run()));
    check_not_later(ends_of(results.scenarios[1]), ends_of(results.scenarios[0]));
  }
}

// The recording has wrong orders of events, and wrong lengths of intervals that contain a jump of a
// clock. The repair restores the order of cause and effect and changes nothing else.
TEST_CASE("random programs on clocks that disagree") {
  const size_t threads = GENERATE(1, 2);
  unsigned violated = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Recorded recorded = record_badly(seed, threads);
    INFO("seed " << seed << "\n" << recorded.text);
    const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect")};
    ReplayOptions options;
    options.verify = true;
    const auto source = parse_text_trace(recorded.text);
    const Results repaired = run_replay(*source, scenarios, options);
    options.repair = false;
    const Results raw = run_replay(*source, scenarios, options);
    CHECK(repaired.identity->differing == 0);
    CHECK(raw.identity->differing == 0);
    CHECK(repaired.trace.clock_violations.total() == raw.trace.clock_violations.total());
    REQUIRE(repaired.trace.clock_repair.has_value() == (raw.trace.clock_violations.total() > 0));
    if (repaired.trace.clock_repair) {
      ++violated;
      CHECK(repaired.trace.clock_repair->after.total() == 0);
      CHECK(repaired.trace.clock_repair->largest_shift > 0);
    }
    // Later, but with the compute of the recording to the tick; which is all that a model looks at,
    // but for the own work of creations.
    check_not_later(ends_of(raw.scenarios[0]), ends_of(repaired.scenarios[0]));
    for (size_t rank = 0; rank < raw.scenarios[0].ranks.size(); ++rank) {
      INFO("rank " << rank);
      CHECK(repaired.scenarios[0].ranks[rank].compute == raw.scenarios[0].ranks[rank].compute);
    }
    if (recorded.text.find(" comm_create ") == std::string::npos)
      check_same_bits(repaired.scenarios[1], raw.scenarios[1]);
    check_not_later(ends_of(repaired.scenarios[1]), ends_of(repaired.scenarios[0]));
  }
  CHECK(violated > kSeeds / 5);  // the test has something to repair
}

/// A program whose synchronous sends are standard ones, as most programs have no others. The engine
/// then writes down less.
std::string without_synchronous_sends(std::string text) {
  for (const std::string call : {" ssend ", " issend "}) {
    const std::string standard = call[1] == 'i' ? " isend " : " send ";
    for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at))
      text.replace(at, call.size(), standard);
  }
  return text;
}

TEST_CASE("random programs: lanes, single runs and repeated runs agree to the last bit") {
  const Protocol protocol = GENERATE(Protocol::kAsync, Protocol::kPull, Protocol::kPush);
  for (unsigned seed = 0; seed < kSeeds / 5; ++seed) {
    Recorded recorded = record(seed, true, recorder());
    if (seed % 2) recorded.text = without_synchronous_sends(recorded.text);
    INFO("seed " << seed);
    std::vector<Scenario> scenarios;
    for (int i = 1; i <= 11; ++i) {
      Machine machine;
      machine.o_s = 7 + i;
      machine.o_r = 3 * i;
      machine.node_latency = 100.0 / 3 * i;
      machine.network_latency = 1e4 / 7 * i;
      machine.per_byte = 0.3 * i;
      machine.gap = 0.1 * i;
      if (i % 3 > 0) machine.burst_gap = 0.4;  // of some lanes less than the gap
      if (i % 4 > 1) machine.second_burst_gap = 0.7;
      if (i % 5 > 1) machine.following = 10;
      machine.rendezvous = i % 2 ? 1000 : 4000;  // two structures
      machine.protocol = protocol;
      scenarios.push_back(platform(machine));
    }
    for (const char* text : {"measured", "measured:cpu*3", "undisturbed"})
      scenarios.push_back(parse_scenario(text));
    ReplayOptions options;
    options.overhead = RecordingOverhead{5e-9, 3e-9, 2e-9, 1e-9, 1e-9, 1e-9, 1e-9};
    options.wait_states = true;
    const auto source = parse_text_trace(recorded.text);
    const Results together = run_replay(*source, scenarios, options);
    // Again, with any width that passes may have on this processor.
    const std::vector<Results> again =
        with_each_width([&] { return run_replay(*source, scenarios, options); });
    for (size_t i = 0; i < scenarios.size(); ++i) {
      for (const Results& run : again) check_same_bits(together.scenarios[i], run.scenarios[i]);
      const auto alone = parse_text_trace(recorded.text);
      check_same_bits(together.scenarios[i],
                      run_replay(*alone, {scenarios[i]}, options).scenarios[0]);
      check_waits(together.scenarios[i]);
      // Overheads are never taken out of time that is not there.
      for (const RankResult& rank : together.scenarios[i].ranks) CHECK(rank.compute >= 0);
    }
  }
}

// Replays with and without time order must agree if there is no contention: with unlimited buses,
// receives with explicit sources and tags, and no rendezvous that waits for a port.
TEST_CASE("random programs in the order of time: the same to the last bit") {
  Machine machine;
  machine.o_s = 17;
  machine.o_r = 23;
  machine.node_latency = 300;
  machine.network_latency = 1700;
  machine.per_byte = 0.5;
  const auto [protocol, rendezvous, gap] = GENERATE(table<Protocol, double, double>({
      {Protocol::kEager, kNever, 0.25},
      {Protocol::kAsync, 1000, 0},
      {Protocol::kPull, 1000, 0},
      {Protocol::kPull, 1, 0},
      {Protocol::kPush, 1000, 0},
      {Protocol::kPush, 1, 0},
  }));
  machine.protocol = protocol;
  machine.rendezvous = rendezvous;
  machine.gap = gap;
  machine.burst_gap = 2 * gap;
  machine.second_burst_gap = 3 * gap;
  machine.following = 19;
  const Scenario free = platform(machine);
  const Scenario buses = with_all_buses(free);
  ReplayOptions in_order;
  in_order.wait_states = true;
  ReplayOptions by_arrival = in_order;
  by_arrival.wildcards_by_arrival = true;
  for (unsigned seed = 0; seed < kSeeds / 5; ++seed) {
    const Recorded recorded = record(seed, true, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const auto source = parse_text_trace(recorded.text);
    const Results results = run_replay(*source, {free, buses}, in_order);
    check_same_bits(results.scenarios[0], results.scenarios[1]);
    check_waits(results.scenarios[0]);
    const Results arrived = run_replay(*source, {free}, by_arrival);
    CHECK(arrived.scenarios[0].rematched_receives == 0);
    check_same_bits(results.scenarios[0], arrived.scenarios[0]);
    const Program program = threaded(seed);
    Program recording = program;
    const std::vector<double> ends = Reference(program, recorder()).run(&recording);
    const auto threads = parse_text_trace(as_text(recording, ends, 2));
    const Results parted = run_replay(*threads, {free, buses}, in_order);
    check_same_bits(parted.scenarios[0], parted.scenarios[1]);
  }
}

// There the data of a rendezvous takes the port of its sender when it flows.
TEST_CASE("random programs in the order of time: ports") {
  Machine machine;
  machine.o_s = 17;
  machine.o_r = 23;
  machine.node_latency = 300;
  machine.network_latency = 1700;
  machine.per_byte = 0.5;
  machine.gap = 0.25;
  machine.burst_gap = 0.375;
  machine.second_burst_gap = 0.5;
  machine.following = 15;
  machine.protocol = GENERATE(Protocol::kAsync, Protocol::kPull, Protocol::kPush);
  machine.rendezvous = GENERATE(1000, 1);
  machine.ports_in_time = true;
  const Scenario free = platform(machine);
  unsigned others = 0, tied = 0;
  for (unsigned seed = 0; seed < kSeeds / 5; ++seed) {
    const Recorded recorded = record(seed, true, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const auto source = parse_text_trace(recorded.text);
    const Results results = run_replay(*source, {with_all_buses(free), free}, {});
    const std::vector<double> ends = ends_of(results.scenarios[0]);
    Reference reference(recorded.program, machine);
    const std::vector<double> expected = reference.run();
    if (reference.ties() == 0)
      check_near(ends, expected);
    else
      ++tied;
    others += ends != ends_of(results.scenarios[1]);
  }
  CHECK(others > kSeeds / 50);  // it matters
  CHECK(tied < kSeeds / 10);    // half of them
}

TEST_CASE("random programs under contention: two runs agree to the last bit") {
  Machine machine;
  machine.node_latency = 300;
  machine.network_latency = 1700;
  machine.per_byte = 0.5;
  machine.gap = 0.25;
  machine.rendezvous = 1000;
  Scenario degraded = platform(machine);
  degraded.platform.contention.model = network_model("degradation");
  degraded.platform.contention.numbers["degradation_ratio"] = 1.7;
  Scenario buses = platform(machine);
  buses.name = "buses";
  buses.platform.contention.model = network_model("buses");
  buses.platform.contention.numbers = {{"out", 1}, {"in", 1}};
  Scenario free = platform(machine);
  free.name = "free";
  unsigned later = 0;
  for (unsigned seed = 0; seed < kSeeds / 5; ++seed) {
    const Recorded recorded = record(seed, true, recorder());
    INFO("seed " << seed << "\n" << recorded.text);
    const auto source = parse_text_trace(recorded.text);
    const Results together = run_replay(*source, {degraded, buses, free}, {});
    const Results again = run_replay(*source, {buses, degraded}, {});
    check_same_bits(together.scenarios[0], again.scenarios[1]);
    check_same_bits(together.scenarios[1], again.scenarios[0]);
    later += ends_of(together.scenarios[0]) != ends_of(together.scenarios[2]);
  }
  CHECK(later > kSeeds / 50);  // it matters
}
