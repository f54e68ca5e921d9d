// What a network costs, in small programs on machines whose times are worked out by hand. One tick
// is one nanosecond.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "models/platform/platform_file.h"
#include "replay/judge/diagnosis.h"
#include "replay/judge/findings.h"
#include "replay/judge/network_costs.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/words/verdict_words.h"

using namespace rubato;

namespace {

Scenario machine(const std::string& levels) {
  Scenario scenario;
  scenario.name = scenario.base = "machine";
  scenario.platform = parse_platform("format = 1\n" + levels, "machine");
  return scenario;
}

Judgement judged(const std::string& text, const Scenario& scenario) {
  const auto source = parse_text_trace(text);
  source->note_places();
  const JudgedRun run = judged_run(*source, {}, {scenario});
  return judge(run.results, run.diagnosis);
}

double seconds(const Judgement& judgement, FindingKind kind) {
  for (const Finding& finding : judgement.on_platform) {
    if (finding.kind == kind) return finding.seconds;
  }
  return 0;
}

const char* const kMessageBetweenNodes = R"(
  nodes 0 1
  0: 0..0 local MPI_Comm_rank
  0: 1000..1000 send 1 300B
  0: 1000 end
  1: 0..0 local MPI_Comm_rank
  1: 0..1000 recv 0 300B
  1: 1600 end
)";
const char* const kSlowNetwork = R"(
  [level.network]
  transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
  send_overhead = "40ns"
  receive_overhead = "60ns"
)";

}  // namespace

// The message leaves at 1000 + 40, takes 100 + 300, is received in 60: rank 1 ends at 1500 + 600.
TEST_CASE("latency, overhead and bandwidth of a platform are findings") {
  const Judgement judgement = judged(kMessageBetweenNodes, machine(kSlowNetwork));
  CHECK(judgement.platform_elapsed == Approx(2100e-9));
  REQUIRE(judgement.on_platform.size() == 3);
  CHECK(judgement.on_platform[0].kind == FindingKind::kBandwidth);
  CHECK(seconds(judgement, FindingKind::kBandwidth) == Approx(300e-9));
  CHECK(seconds(judgement, FindingKind::kLatency) == Approx(100e-9));
  CHECK(seconds(judgement, FindingKind::kOverhead) == Approx(100e-9));
  CHECK_FALSE(judgement.on_platform[0].half);  // the platform states no uncertainty
  CHECK(finding_text(judgement.on_platform[0]) ==
        "1 message of 300 B on average, most of it in MPI_Recv (1 call)");
  CHECK(judgement.on_platform[0].scenarios == std::vector<std::string>{"machine:bandwidth*2"});
}

// The model errs by 10 % of costs, 1.96 times that for 95 %: of 300 of bandwidth 58.8. All compute
// is the same in both scenarios.
TEST_CASE("costs of a platform have the intervals of differences") {
  const Judgement judgement =
      judged(kMessageBetweenNodes, machine("model_error = 0.1\n" + std::string(kSlowNetwork)));
  REQUIRE(judgement.on_platform.size() == 3);
  REQUIRE(judgement.on_platform[0].half);
  CHECK(*judgement.on_platform[0].half == Approx(58.8e-9));
}

// Rank 1 posts at 0 and computes until 10000; the data flows meanwhile only with progress.
TEST_CASE("rendezvous without progress is a finding") {
  const auto with = [](const std::string& protocol) {
    return machine(R"([level.node]
      transfer = [ { from = "0B", latency = "0ns", bandwidth = "1GB/s" } ]
      protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = ")" +
                   protocol + "\" } ]");
  };
  const std::string text = R"(
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 send 1 4000B
    0: 10000 end
    1: 0..0 local MPI_Comm_rank
    1: 0..0 irecv 0 4000B req 1
    1: 10000..10000 wait 1
    1: 10000 end
  )";
  // Pull: the data leaves when rank 1 waits, at 10000, takes 4000, and rank 0 computes for 9000
  // more. Async: it leaves at 1000. The difference is 9000.
  const Judgement pull = judged(text, with("pull"));
  CHECK(pull.platform_elapsed == Approx(23000e-9));
  CHECK(seconds(pull, FindingKind::kProgress) == Approx(9000e-9));
  CHECK(seconds(judged(text, with("async")), FindingKind::kProgress) == 0);
}

// In blocks of two the messages of neighbours do not cross the network, where they take 1000.
TEST_CASE("a placement that keeps messages within nodes is a finding") {
  const Judgement judgement = judged(R"(
    nodes 0 1 0 1
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 send 1 1000B
    0: 1000 end
    1: 0..0 local MPI_Comm_rank
    1: 1000..1000 recv 0 1000B
    1: 1000 end
    2: 0..0 local MPI_Comm_rank
    2: 1000..1000 send 3 1000B
    2: 1000 end
    3: 0..0 local MPI_Comm_rank
    3: 1000..1000 recv 2 1000B
    3: 1000 end
  )",
                                     machine(R"(
    [level.node]
    transfer = [ { from = "0B", latency = "0ns", bandwidth = "1000GB/s" } ]
    [level.network]
    transfer = [ { from = "0B", latency = "0ns", bandwidth = "1GB/s" } ]
  )"));
  CHECK(judgement.platform_elapsed == Approx(2000e-9));
  CHECK(seconds(judgement, FindingKind::kPlacement) == Approx(999e-9));
  REQUIRE(judgement.on_platform.size() == 2);
  CHECK(judgement.on_platform[0].kind == FindingKind::kBandwidth);
  CHECK(finding_text(judgement.on_platform[1]) ==
        "messages between nodes that placement=block:2 keeps within nodes");
}

TEST_CASE("a platform whose degradation ratio is fitted has no findings") {
  const auto source = parse_text_trace(kMessageBetweenNodes);
  const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                           parse_scenario("bandela:latency=1us,dr=fit")};
  const Results results = run_replay(*source, scenarios, {});
  CHECK_FALSE(costly_network(results));
  CHECK_FALSE(diagnose(*source, results, scenarios, {}).network);
}

TEST_CASE("a network that costs nothing has no findings") {
  CHECK(judged(kMessageBetweenNodes, machine(R"([level.network]
    transfer = [ { from = "0B", latency = "1ns", bandwidth = "1000GB/s" } ])"))
            .on_platform.empty());
}

TEST_CASE("a run of no time has no findings on a platform") {
  CHECK(
      judged("nodes 0 1\n0: 0..0 local MPI_Comm_rank\n0: 0 end\n1: 0 end\n", machine(kSlowNetwork))
          .on_platform.empty());
}

// Two messages of 8us each, one after the other, and two collectives of 20us: 56us, of which
// latency is 16 and the formula 40. Latency does not change the formula.
TEST_CASE("each cost has the call in which it is, and formulas are a cost of their own") {
  const Judgement judgement = judged(R"(
    nodes 0 1
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 allreduce 8B 8B
    0: 1000..1000 send 1 8B
    0: 1000..1000 allreduce 8B 8B
    0: 1000..1000 send 1 8B
    0: 1000 end
    1: 0..0 local MPI_Comm_rank
    1: 1000..1000 allreduce 8B 8B
    1: 1000..1000 recv 0 8B
    1: 1000..1000 allreduce 8B 8B
    1: 1000..1000 recv 0 8B
    1: 1000 end
  )",
                                     machine(R"(
    [level.network]
    transfer = [ { from = "0B", latency = "8us", bandwidth = "1000GB/s" } ]
    [collectives.allreduce]
    formula = [ { from = "0B", constant = "20us" } ]
  )"));
  CHECK(seconds(judgement, FindingKind::kFormulas) == Approx(40e-6));
  CHECK(seconds(judgement, FindingKind::kLatency) == Approx(16e-6));
  for (const Finding& finding : judgement.on_platform) {
    const bool is_latency = finding.kind == FindingKind::kLatency;
    CHECK(finding.call == (is_latency ? "MPI_Recv" : "MPI_Allreduce"));
    CHECK(finding.messages == (is_latency ? 2 : 0));
  }
}

// Rank 1 receives at 1000 / 10 + 40 + 400 + 60: less than the 1000 on `perfect`.
TEST_CASE("a network has its costs beside faster processors, too") {
  Scenario fast = machine(kSlowNetwork);
  fast.cpu = 10;
  const Judgement judgement = judged(kMessageBetweenNodes, fast);
  CHECK(judgement.platform_elapsed == Approx(660e-9));
  CHECK(seconds(judgement, FindingKind::kBandwidth) == Approx(300e-9));
}

// Two cables of 500 MB/s and 50ns, one after the other, by hand: 300 B are through after 100 + 600.
TEST_CASE("links that a scenario cannot change are a cost of their own") {
  const Judgement judgement = judged(kMessageBetweenNodes, machine(R"(
    [level.network]
    transfer = [ { from = "0B", latency = "0ns", bandwidth = "1000GB/s" } ]
    [contention]
    model = "graph"
    nodes = [ "n[0-1]" ]
    cables = [ "n[0-1] s0 500MB/s 50ns" ]
  )"));
  CHECK(judgement.platform_elapsed == Approx(2300e-9).epsilon(0.01));
  REQUIRE(judgement.on_platform.size() == 1);
  CHECK(judgement.on_platform[0].kind == FindingKind::kLinks);
  CHECK(judgement.on_platform[0].seconds == Approx(700e-9).epsilon(0.01));
  CHECK(judgement.on_platform[0].scenarios.empty());
}

// One function sends, another one receives, for 290 longer than on `perfect`: both ranks are alike.
TEST_CASE("the messages of a function that only waits are those of the run") {
  std::string text = "nodes 0 1\n";
  for (const std::string rank : {"0: ", "1: "}) {
    const std::string other = rank == "0: " ? "1" : "0";
    text += rank + "0..0 local MPI_Comm_rank\n" + rank + "0..1 enter post\n" + rank +
            "1000..1000 send " + other + " 8B\n" + rank + "1000..1001 leave post\n" + rank +
            "1001..1002 enter waiter\n" + rank + "1010..1300 recv " + other + " 8B\n" + rank +
            "1300..1301 leave waiter\n" + rank + "2300 end\n";
  }
  const auto source = parse_text_trace(text);
  source->note_places();
  const JudgedRun run = judged_run(*source, {});
  const std::vector<Finding> findings = judge(run.results, run.diagnosis).findings;
  const auto finding = std::find_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.kind == FindingKind::kSmallMessages;
  });
  REQUIRE(finding != findings.end());
  CHECK(finding->call == "MPI_Recv");
  CHECK(finding->function == "waiter");
  CHECK(finding->messages == 2);
  CHECK(finding_text(*finding) ==
        "2 messages of 8 B on average in the run, in waiter, most of it in MPI_Recv (2 calls)");
}

// Formulas that `collectives=algorithm` ignores are no cost.
TEST_CASE("formulas that are not used cost nothing") {
  const auto source = parse_text_trace(R"(
    nodes 0 1
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 barrier
    0: 2000 end
    1: 0..0 local MPI_Comm_rank
    1: 1000..1000 barrier
    1: 2000 end
  )");
  for (const bool used : {true, false}) {
    Scenario scenario = machine(R"([level.network]
      transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
      [collectives.barrier]
      formula = [ { from = "0B", constant = "20us" } ])");
    if (!used) scenario.platform.collectives.pricing = CollectivePricing::kAlgorithm;
    const JudgedRun run = judged_run(*source, {}, {scenario});
    REQUIRE(run.diagnosis.network);
    const std::vector<Finding>& costs = run.diagnosis.network->findings;
    CHECK(std::any_of(costs.begin(), costs.end(), [](const Finding& cost) {
            return cost.kind == FindingKind::kFormulas;
          }) == used);
  }
}

TEST_CASE("of several platforms the first one with a costly network has findings") {
  const auto source = parse_text_trace(kMessageBetweenNodes);
  Scenario free = machine(R"([level.network]
    transfer = [ { from = "0B", latency = "0ns", bandwidth = "1000GB/s" } ])");
  free.name = free.base = "free";
  const JudgedRun run = judged_run(*source, {}, {free, machine(kSlowNetwork)});
  const Judgement judgement = judge(run.results, run.diagnosis);
  CHECK(judgement.platform == "machine");
  CHECK(judgement.platform_elapsed == Approx(2100e-9));
}
