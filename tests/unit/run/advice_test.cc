// Savings by changes, worked out by hand and against single replays. One tick is one nanosecond.

#include "replay/study/advice.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "models/placement/rank_mapping.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tests/unit/toy.h"
#include "tools/studies/advice_report.h"

using namespace rubato;

namespace {

Advice advise(const std::string& trace, const std::string& machine, size_t most = 10) {
  const auto source = parse_text_trace(trace);
  AdviceSettings settings;
  settings.most = most;
  settings.parse = [](const std::string& text) { return parse_scenario(text); };
  settings.hosts_file = "hosts.txt";
  return find_advice(*source, parse_scenario(machine), settings, {});
}

const TriedCandidate& find(const Advice& advice, CandidateKind kind, const std::string& name) {
  for (const TriedCandidate& tried : advice.tried) {
    if (tried.candidate.kind == kind && tried.candidate.name == name) return tried;
  }
  FAIL("not tried: " << name);
  return advice.tried[0];
}

/// Nanoseconds.
double saved(const Advice& advice, CandidateKind kind, const std::string& name) {
  return (advice.elapsed - find(advice, kind, name).elapsed) * 1e9;
}

// Rank 0 is 4000 in f, then sends; rank 1 is 3000 in g, receives, computes 1000 more.
//
//   0  ffffffffffffffff┓
//   1  gggggggggggg▒▒▒▒┗━━━━
//
// On a machine whose messages take 100: T = max(4000 + 100, 3000) + 1000 = 5100.
const char* const kHidden = R"(
  0: 0..0 init
  0: 0..4000 function f
  0: 4000..4000 send 1 8B
  0: 4000 end
  1: 0..0 init
  1: 0..3000 function g
  1: 3000..4100 recv 0 8B
  1: 5100 end
)";
const std::string kMachine = "bandela:latency=100ns";

}  // namespace

// f in half the time: max(2000 + 100, 3000) + 1000 = 4000: 1100 saved, not 2000, as g then is what
// is waited for. g in half the time: max(4100, 1500) + 1000 = 5100: nothing. Equal compute:
// either has (4000 + 4000) / 2 already. Latency: 50. Free messages: 100.
TEST_CASE("halving a function saves at most its excess over compute that runs concurrently") {
  const Advice advice = advise(kHidden, kMachine);
  CHECK(advice.elapsed * 1e9 == Approx(5100));
  using Kind = CandidateKind;
  CHECK(saved(advice, Kind::kFunction, "f") == Approx(1100));
  CHECK(saved(advice, Kind::kFunction, "g") == Approx(0).margin(1e-6));
  CHECK(saved(advice, Kind::kLatency, "") == Approx(50));
  CHECK(saved(advice, Kind::kPerfect, "") == Approx(100));
  // f is 4000 and g 3000 of 8000.
  CHECK(find(advice, Kind::kFunction, "f").compute_share.value() == Approx(0.5));
  CHECK(find(advice, Kind::kFunction, "g").compute_share.value() == Approx(0.375));
  CHECK_FALSE(find(advice, Kind::kLatency, "").compute_share.has_value());
  for (const TriedCandidate& tried : advice.tried)
    CHECK(tried.candidate.kind != CandidateKind::kBalance);
  CHECK(advice.tried[0].candidate.kind == Kind::kFunction);
  CHECK_FALSE(advice.tried[0].saving.has_value());  // the machine's errors are not known
  // Compute is 8000 of 2 x 5100.
  CHECK(advice.compute_share == Approx(8000. / 10200));
}

// The recording says when rank 0 sent, not how long the message took: rank 1 leaves MPI_Recv 100
// after that, and no recorded receive takes less. f in half the time: rank 1 leaves at max(3000 +
// 100, 2000 + 100), T = 3100 + 1000: 1000 saved.
TEST_CASE("what was measured saves what its calls leave") {
  const Advice advice = advise(kHidden, "measured");
  CHECK(advice.elapsed * 1e9 == Approx(5100));
  CHECK(saved(advice, CandidateKind::kFunction, "f") == Approx(1000));
  CHECK(saved(advice, CandidateKind::kFunction, "g") == Approx(0).margin(1e-6));
}

TEST_CASE("without candidates only the scenario is replayed") {
  const auto source = parse_text_trace(kHidden);
  AdviceSettings settings;
  settings.tries = false;
  const Advice advice = find_advice(*source, parse_scenario("measured"), settings, {});
  CHECK(advice.elapsed * 1e9 == Approx(5100));
  CHECK(advice.tried.empty());
}

// g promises 3000 / 2 of the compute of two ranks, 750 a rank, and keeps nothing.
TEST_CASE("a report names large functions that save nothing") {
  const Scenario scenario = parse_scenario(kMachine);
  const Advice advice = advise(kHidden, kMachine);
  const AdviceSubject subject{&scenario, 10, "hosts.txt", false};
  const std::string text = advice_text(advice, subject, 1000);
  CHECK(text.starts_with("trace, " + kMachine +
                         ": 5.100 µs elapsed. Largest saving: f in half the time: 1.100 µs (21.6 "
                         "%).\n"));
  CHECK(text.find("g takes 37.5 % of all compute, but halving its time saves nothing of the "
                  "elapsed time") != std::string::npos);
  // 1100 of 5100.
  CHECK(text.find("f in half the time") != std::string::npos);
  CHECK(text.find("21.6 %") != std::string::npos);
  CHECK(text.find("rubato replay trace --on " + kMachine + " --on '" + kMachine +
                  ",region=f*0.5'\n") != std::string::npos);
  CHECK(text.find("g in half the time") == std::string::npos);
  const auto json = nlohmann::json::parse(advice_json(advice, subject));
  CHECK(json["cures"].size() == advice.tried.size());
  CHECK(json["cures"][0]["kind"] == "function");
  CHECK(json["cures"][0]["saved"].get<double>() == Approx(1100e-9));
  CHECK(json["not_tried"]["functions"] == 0);
  // As where `rubato replay` draws no conclusion.
  AdviceSubject unknown = subject;
  unknown.unknown = "Ranks lacked cores.";
  Advice untried = advice;
  untried.tried.clear();
  CHECK(advice_text(untried, unknown, 1000)
            .starts_with("trace, " + kMachine +
                         ": 5.100 µs elapsed. No saving is known. Ranks lacked cores.\n"));
  CHECK(json["no_savings"].is_null());
  const auto without = nlohmann::json::parse(advice_json(untried, unknown));
  CHECK(without["no_savings"] == "Ranks lacked cores.");
  CHECK(without["cures"].empty());
  // A row for the reason: of its 10 values the first and the last one.
  CHECK(advice_csv(untried, unknown)
            .ends_with(",no_savings\n" + kMachine + ",,,,,,,,,Ranks lacked cores.\n"));
  Advice left_out = advice;
  left_out.functions_left_out = 2;
  left_out.tried[0].deadlock = "rank 0 waits";
  const std::string left_text = advice_text(left_out, subject, 1000);
  CHECK(left_text.find("The program deadlocks with: f in half the time.") != std::string::npos);
  CHECK(left_text.find("Not evaluated: 2 functions with less compute; --all evaluates more.\n") !=
        std::string::npos);
  const std::string csv = advice_csv(advice, subject);
  CHECK(csv.find("\"bandela:latency=100ns,region=f*0.5\"") != std::string::npos);
}

// Barriers at 1000 and 2000 wait for rank 0 (1000 each) while ranks 1 and 2 compute 400. Equal: 600
// each, so 1200 in place of 2000. Ranks 1 and 2 alone save nothing.
TEST_CASE("equal compute saves what the busiest has more than the mean") {
  const Advice advice = advise(R"(
    0: 0..0 init
    0: 1000..1000 barrier
    0: 2000..2000 barrier
    0: 2000 end
    1: 0..0 init
    1: 400..1000 barrier
    1: 1400..2000 barrier
    1: 2000 end
    2: 0..0 init
    2: 400..1000 barrier
    2: 1400..2000 barrier
    2: 2000 end
  )",
                               "perfect", 2);
  CHECK(advice.elapsed * 1e9 == Approx(2000));
  const TriedCandidate& balanced = find(advice, CandidateKind::kBalance, "");
  CHECK(balanced.candidate.text == "perfect:rank0.cpu*1.667,rank1-2.cpu*0.6667");
  CHECK(balanced.elapsed * 1e9 == Approx(1200).epsilon(1e-3));
}

// assemble, which only calls burn, takes 1000 and 3000, solve 2000 and 1000, each before a barrier:
// 3000 + 2000. burn equally long: 2000 + 2000, 1000 saved. Equal compute, 3500 for 3000 and
// 4000: assemble takes 1167 and 2625, solve 2333 and 875: 4958, 42 saved. main has all compute.
// Compute 1.96 % longer: 5098 and 4078.4, so the saving is 19.6 more.
TEST_CASE("a function is balanced over ranks, with its callees") {
  const std::string text = R"(
    0: 0..0 init
    0: 0 enter main
    0: 0 enter assemble
    0: 0..1000 function burn
    0: 1000 leave assemble
    0: 1000..3000 barrier
    0: 3000..5000 function solve
    0: 5000..5000 barrier
    0: 5000 leave main
    0: 5000 end
    1: 0..0 init
    1: 0 enter main
    1: 0 enter assemble
    1: 0..3000 function burn
    1: 3000 leave assemble
    1: 3000..3000 barrier
    1: 3000..4000 function solve
    1: 4000..5000 barrier
    1: 5000 leave main
    1: 5000 end
  )";
  using Kind = CandidateKind;
  for (const char* const base : {"perfect", "measured"}) {
    const Advice advice = advise(text, base);
    CHECK(advice.elapsed * 1e9 == Approx(5000));
    CHECK(saved(advice, Kind::kFunctionBalance, "burn") == Approx(1000));
    // 1500 each: 3000 + 1500.
    CHECK(saved(advice, Kind::kFunctionBalance, "solve") == Approx(500));
    CHECK(saved(advice, Kind::kBalance, "") == Approx(125. / 3).epsilon(0.01));
    const TriedCandidate& best = advice.tried[0];
    CHECK(saved(advice, best.candidate.kind, best.candidate.name) == Approx(1500));
    for (const TriedCandidate& tried : advice.tried) {
      CHECK(tried.candidate.name != "main");
      CHECK(tried.candidate.name != "assemble");  // the same as burn
    }
    const auto& saving = find(advice, Kind::kFunctionBalance, "burn").saving;
    REQUIRE(saving.has_value());
    CHECK(saving->first * 1e9 == Approx(1000 - 19.6));
    CHECK(saving->second * 1e9 == Approx(1000 + 19.6));
  }
}

// main has all compute. run only calls step, and kernel calls inner for 4805 of its 4900, 98.06 %:
// the callees stand for them. setup calls parse for 97 % of its time, and burn belongs to two
// callers. inner in half the time saves 4805 / 2.
TEST_CASE("of a caller and its only callee, the callee is evaluated") {
  const Advice advice = advise(R"(
    0: 0..0 init
    0: 0 enter main
    0: 0 enter setup
    0: 0..970 function parse
    0: 1000 leave setup
    0: 1000 enter run
    0: 1000 enter step
    0: 1100 enter kernel
    0: 1100..5905 function inner
    0: 6000 leave kernel
    0: 6000 enter assemble
    0: 6000..7000 function burn
    0: 7000 leave assemble
    0: 7000 enter solve
    0: 7000..8000 function burn
    0: 9000 leave solve
    0: 9000 leave step
    0: 9000 leave run
    0: 9000 leave main
    0: 9000 end
  )",
                               "measured");
  std::set<std::string> names;
  for (const TriedCandidate& tried : advice.tried) {
    if (tried.candidate.kind == CandidateKind::kFunction) names.insert(tried.candidate.name);
  }
  CHECK(names ==
        std::set<std::string>{"setup", "parse", "step", "inner", "assemble", "solve", "burn"});
  CHECK(saved(advice, CandidateKind::kFunction, "inner") == Approx(4805. / 2));
  CHECK(advice.functions_left_out == 0);
}

// Ranks 0 and 2, and 1 and 3, send each other 8 bytes: 1 µs between nodes, 0.1 µs within one.
// Recorded, both pairs are apart: 1000. By messages both are together: 100.
TEST_CASE("ranks that talk move to one node") {
  const Advice advice = advise(R"(
    nodes 0 0 1 1
    0: 0..0 send 2 8B
    0: 0 end
    1: 0..0 send 3 8B
    1: 0 end
    2: 0..1000 recv 0 8B
    2: 1000 end
    3: 0..1000 recv 1 8B
    3: 1000 end
  )",
                               "bandela:latency=1us,node.latency=100ns");
  CHECK(advice.elapsed * 1e9 == Approx(1000));
  REQUIRE(advice.hosts.size() == 4);
  CHECK(advice.hosts[0] == advice.hosts[2]);
  CHECK(advice.hosts[1] == advice.hosts[3]);
  CHECK(advice.hosts[0] != advice.hosts[1]);
  CHECK(saved(advice, CandidateKind::kPlacement, "messages") == Approx(900));
  // Round robin on two nodes puts 0 and 2 together, too.
  CHECK(saved(advice, CandidateKind::kPlacement, "roundrobin:2") == Approx(900));
}

// 0-1-2-3-4-5 in a ring of weight 1 with 0-3 of weight 10, two nodes of three: 0 and 3 together,
// one neighbour with them. {0, 3, 1}: 0-5, 1-2, 3-2, 3-4 are across: 4. No less: only one of the
// four neighbours of 0 and 3 fits, and it has another neighbour outside.
TEST_CASE("mapping keeps heavy pairs together") {
  const std::vector<PairWeight> pairs = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1},
                                         {4, 5, 1}, {0, 5, 1}, {0, 3, 10}};
  const std::vector<int> recorded = {0, 0, 0, 1, 1, 1};
  CHECK(weight_across(recorded, pairs) == 12);  // 2-3, 0-5, 0-3
  const std::vector<int> mapped = map_ranks(recorded, pairs);
  CHECK(weight_across(mapped, pairs) == 4);
  CHECK(std::count(mapped.begin(), mapped.end(), 0) == 3);
}

// o = 40: the receiver leaves at 40 + 100 + 40 = 180; half the overheads: 20 + 100 + 20. Then an
// allreduce that only synchronises takes nothing, by itself or with all collectives, and also in
// the order of time.
TEST_CASE("overheads and single operations can be changed") {
  const char* const text = R"(
    nodes 0 1
    0: 0..0 send 1 0B
    0: 0..900 allreduce 8B 8B
    0: 900 end
    1: 0..180 recv 0 0B
    1: 180..900 allreduce 8B 8B
    1: 900 end
  )";
  const std::string machine = "loggps:L=100ns,o=40ns,allreduce=perfect";
  check(ends(text, on(machine)), {180, 180});
  check(ends(text, on(machine + ",overhead*0.5")), {140, 140});
  check(ends(text, on(machine + ",network.overhead/2")), {140, 140});
  check(ends(text, on("loggps:L=100ns,o=40ns,collectives=perfect")), {180, 180});
  check(ends(text, on(machine + ",contention.out=1")), {180, 180});
}

TEST_CASE("names of functions may contain commas") {
  const Scenario scenario = on("measured:region=f<int, 2>(A*, B)*0.5,cpu*2,region=g/2");
  REQUIRE(scenario.functions.size() == 2);
  CHECK(scenario.functions[0].name == "f<int, 2>(A*, B)");
  CHECK(scenario.functions[0].factor == 0.5);
  CHECK(scenario.functions[1].name == "g");
  CHECK(scenario.cpu == 2);
  CHECK(scenario_text(scenario.base, scenario.changes) == scenario.name);
  const Scenario balanced = on("measured:region=f<int, 2>(A*, B)=mean,cpu*2");
  REQUIRE(balanced.functions.size() == 1);
  CHECK(balanced.functions[0].name == "f<int, 2>(A*, B)");
  CHECK(balanced.functions[0].balance);
}

TEST_CASE("savings are differences of two replays, whatever the program") {
  using namespace rubato::property;
  const std::string machine = "loggps:L=700ns,o=30ns,g=50ns,G=0.5ns";
  for (unsigned seed = 1; seed <= seeds(20); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    const std::string trace = as_text(program, recorded);
    for (const std::string& base : {machine, std::string("measured")}) {
      const Advice advice = advise(trace, base);
      CHECK(replay(trace, {on(base)}).scenarios[0].elapsed == advice.elapsed);
      for (const TriedCandidate& tried : advice.tried) {
        if (tried.candidate.name == "messages") continue;  // its file is not there
        INFO("seed " << seed << ", " << tried.candidate.text);
        const ScenarioResult alone = replay(trace, {on(tried.candidate.text)}).scenarios[0];
        CHECK(alone.deadlock == tried.deadlock);
        if (tried.deadlock.empty()) CHECK(alone.elapsed == tried.elapsed);
      }
    }
  }
}
