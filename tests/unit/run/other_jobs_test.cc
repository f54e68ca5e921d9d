// Several jobs on one machine, worked out by hand. One tick is one nanosecond, links take one byte
// a tick, and between nodes T(n) = 100 + n: a message of n bytes flows from 100 on.

#include "replay/run/other_jobs.h"
#include "replay/study/run_replay.h"

#include <catch2/catch.hpp>
#include <memory>

#include "models/base/error.h"
#include "replay/sources/joined_source.h"
#include "tests/unit/forwarding_source.h"
#include "tests/unit/on_network.h"
#include "tests/unit/random_one_sided.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"
#include "tools/options/job_options.h"

using namespace rubato;

namespace {

/// Nodes 0 and 1 below one switch, 2 and 3 below another, and one cable up from each.
Scenario tree(const std::vector<int>& nodes) {
  Scenario scenario = on_network("model = \"fat-tree\"\ndown = [2, 2]");
  scenario.name = "tree";
  scenario.placement.nodes = nodes;
  return scenario;
}

OtherJob job(const std::string& text, const std::vector<int>& nodes = {}, double start = 0) {
  return {.path = "other.txt",
          .source = parse_text_trace(text, "other.txt"),
          .nodes = nodes,
          .start = start};
}

ScenarioResult beside(const std::string& text, const Scenario& scenario, std::vector<OtherJob> jobs,
                      ReplayOptions options = {}) {
  options.jobs = std::move(jobs);
  return replay(text, {scenario}, options).scenarios[0];
}

double ns(double seconds) {
  return seconds * 1e9;
}

const std::string kSend1000 = traffic(2, {{0, 1, 1000}});

/// Both, to a billionth of a tick. (Flows end within a millionth of a tick.)
void check_same(const ScenarioResult& a, const ScenarioResult& b) {
  REQUIRE(a.ranks.size() == b.ranks.size());
  CHECK(ns(a.elapsed) == Approx(ns(b.elapsed)).margin(1e-5));
  CHECK(ns(a.elapsed_with_init) == Approx(ns(b.elapsed_with_init)).margin(1e-5));
  for (size_t rank = 0; rank < a.ranks.size(); ++rank) {
    const RankResult &of_a = a.ranks[rank], &of_b = b.ranks[rank];
    CHECK(ns(of_a.end) == Approx(ns(of_b.end)).margin(1e-5));
    CHECK(ns(of_a.compute) == Approx(ns(of_b.compute)).margin(1e-5));
    CHECK(ns(of_a.mpi) == Approx(ns(of_b.mpi)).margin(1e-5));
    REQUIRE(of_a.calls.size() == of_b.calls.size());
    for (size_t call = 0; call < of_a.calls.size(); ++call) {
      CHECK(of_a.calls[call].calls == of_b.calls[call].calls);
      CHECK(of_a.calls[call].bytes_received == of_b.calls[call].bytes_received);
      CHECK(ns(of_a.calls[call].time) == Approx(ns(of_b.calls[call].time)).margin(1e-5));
    }
  }
}

/// A source in other ticks, or one whose tracer counts in another way.
class InTicks : public ForwardingSource {
 public:
  InTicks(const std::string& text, double ticks_per_second,
          SizeConvention sizes = SizeConvention::kLogical)
      : ForwardingSource(text), definitions_(ForwardingSource::definitions()) {
    definitions_.ticks_per_second = ticks_per_second;
    definitions_.sizes = sizes;
  }
  const TraceDefinitions& definitions() const override { return definitions_; }

 private:
  TraceDefinitions definitions_;
};

}  // namespace

// From node 0 to 2, and from 1 to 3: both go up from the first switch, each at half of the cable:
// 100 + 2 * 1000 = 2100. Alone 1100.
TEST_CASE("two jobs share a link") {
  const ScenarioResult result = beside(kSend1000, tree({0, 2}), {job(kSend1000, {1, 3})});
  check_ends(result, {0, 2100});
  CHECK(ns(result.elapsed) == Approx(2100));
  CHECK(ns(result.elapsed_without_jobs) == Approx(1100));
  REQUIRE(result.jobs.size() == 1);
  CHECK(ns(result.jobs[0].elapsed) == Approx(2100));
  CHECK(result.jobs[0].nodes == std::vector{1, 3});
  CHECK(result.jobs[0].ranks == 2);
  CHECK(result.traffic[static_cast<int>(Level::kNetwork)].messages == 1);
  // 2000 bytes in 2100 ns over the cable up from the first switch.
  REQUIRE(result.links);
  CHECK(result.links->flows == 2);
  CHECK(result.links->hottest[0].bytes == Approx(2000));
  CHECK(ns(result.links->span) == Approx(2100));
}

TEST_CASE("jobs on separate links do not affect each other") {
  const ScenarioResult result = beside(kSend1000, tree({0, 1}), {job(kSend1000)});
  check_ends(result, {0, 1100});
  CHECK(result.elapsed == result.elapsed_without_jobs);
  CHECK(ns(result.jobs[0].elapsed) == Approx(1100));
  CHECK(result.jobs[0].nodes == std::vector{2, 3});  // the next that are free
}

// The other begins at 500, flows from 600 on. By then 500 bytes of the first are there; the rest at
// half takes until 600 + 1000 = 1600. Then 500 of the other are there, and it has the cable for
// itself: 2100, which is 1600 after its begin.
TEST_CASE("a job that begins later") {
  const ScenarioResult result = beside(kSend1000, tree({0, 2}), {job(kSend1000, {1, 3}, 500e-9)});
  check_ends(result, {0, 1600});
  CHECK(ns(result.jobs[0].elapsed) == Approx(1600));
  CHECK(ns(result.links->span) == Approx(2100));
}

// The same if the other's first record is at 700 by its own clock.
TEST_CASE("a job begins with its first record") {
  const std::string late = R"(
    nodes 0 1
    0: 700..700 send 1 1000B
    1: 700..710 recv 0 1000B
    0: 700 end
    1: 710 end
  )";
  const ScenarioResult result = beside(kSend1000, tree({0, 2}), {job(late, {1, 3}, 500e-9)});
  check_ends(result, {0, 1600});
  CHECK(ns(result.jobs[0].elapsed) == Approx(1600));
}

// The other's clock ticks once in 1000 ns: it computes for one tick, sends at 1000, flows from 1100
// on. By then 1000 of the first one's 2000 bytes are there; both have the rest, and 1000 bytes,
// when 2000 more have passed: 3100.
TEST_CASE("jobs of different clocks") {
  const std::string micro = R"(
    nodes 0 1
    0: 0..0 local MPI_Comm_rank
    0: 1..1 send 1 1000B
    1: 0..1 recv 0 1000B
    0: 1 end
    1: 1 end
  )";
  OtherJob other = job(micro, {1, 3});
  other.source = std::make_shared<InTicks>(micro, 1e6);
  const std::string first = traffic(2, {{0, 1, 2000}});
  const ScenarioResult result = beside(first, tree({0, 2}), {other});
  check_ends(result, {0, 3100});
  CHECK(ns(result.jobs[0].elapsed) == Approx(3100));
  // And the other way around: 1000 ticks are one.
  const std::string nano = R"(
    nodes 0 1
    0: 0..0 local MPI_Comm_rank
    0: 1000..1000 send 1 1000B
    1: 0..1000 recv 0 1000B
    0: 1000 end
    1: 1000 end
  )";
  InTicks source(first, 1e6);
  ReplayOptions options;
  options.jobs = {job(nano, {1, 3})};
  const ScenarioResult coarse = run_replay(source, {tree({0, 2})}, options).scenarios[0];
  CHECK(ns(coarse.elapsed) == Approx(3100));
  CHECK(ns(coarse.jobs[0].elapsed) == Approx(3100));
}

TEST_CASE("without shared links other jobs have no effect") {
  Scenario free = contended("");
  const ReplayOptions plain;
  ReplayOptions options;
  options.jobs = {job(kSend1000)};
  const std::vector<Scenario> scenarios = {parse_scenario("measured"), parse_scenario("perfect"),
                                           free};
  const Results with = replay(kSend1000, scenarios, options);
  const Results without = replay(kSend1000, scenarios, plain);
  for (size_t i = 0; i < scenarios.size(); ++i) {
    CHECK(with.scenarios[i].elapsed == without.scenarios[i].elapsed);
    CHECK(with.scenarios[i].jobs.empty());
  }
}

// Three jobs, each of which sends 1000 bytes over the single backbone: a third each, 100 + 3000.
TEST_CASE("two copies of a job, in any order") {
  Scenario scenario = on_network("model = \"crossbar\"\nbackbone_bandwidth = \"1GB/s\"");
  const ScenarioResult result = beside(kSend1000, scenario, {job(kSend1000), job(kSend1000)});
  check_ends(result, {0, 3100});
  REQUIRE(result.jobs.size() == 2);
  CHECK(result.jobs[0].nodes == std::vector{2, 3});
  CHECK(result.jobs[1].nodes == std::vector{4, 5});
  const std::string longer = traffic(3, {{0, 1, 1500}, {1, 2, 700}, {2, 0, 40}});
  const auto first = [&] { return job(kSend1000, {2, 3}, 30e-9); };
  const auto second = [&] { return job(longer, {4, 5, 6}); };
  const ScenarioResult one = beside(kSend1000, scenario, {first(), second()});
  const ScenarioResult two = beside(kSend1000, scenario, {second(), first()});
  check_same(one, two);
  CHECK(one.jobs[0].elapsed == Approx(two.jobs[1].elapsed));
}

TEST_CASE("nodes of jobs") {
  using Lists = std::vector<std::vector<int>>;
  CHECK(share_nodes({0, 2}, "run", {{"a", {}, 2}, {"b", {1}, 1}}, {}) == Lists{{3, 4}, {1}});
  CHECK(share_nodes({0}, "run", {{"a", {9, 7, 8}, 2}}, 10) == Lists{{9, 7}});
  CHECK_THROWS_WITH(share_nodes({0, 2}, "run", {{"a", {2}, 1}}, {}),
                    "a: node 2 is that of run; each job needs nodes of its own");
  CHECK_THROWS_WITH(share_nodes({0}, "run", {{"a", {1}, 1}, {"b", {1}, 1}}, {}),
                    "b: node 1 is that of a; each job needs nodes of its own");
  CHECK_THROWS_WITH(share_nodes({0}, "run", {{"a", {1}, 2}}, {}),
                    "a: nodes= names 1 nodes, its ranks are on 2");
  CHECK_THROWS_WITH(share_nodes({0}, "run", {{"a", {8}, 1}}, 8),
                    "a: there is no node 8; the network has nodes 0 to 7");
  CHECK_THROWS_WITH(share_nodes({0}, "run", {{"a", {}, 4}}, 4),
                    "a: needs 4 nodes, of the network's 4 only 3 are free");
}

TEST_CASE("jobs that cannot be combined are refused") {
  CHECK_THROWS_WITH(beside(kSend1000, tree({0, 2}), {job(kSend1000, {2, 3})}),
                    Catch::Contains("scenario 'tree': other.txt: node 2 is that of trace"));
  OtherJob foreign = job(kSend1000, {1, 3});
  foreign.source = std::make_shared<InTicks>(kSend1000, 1e9, SizeConvention::kPerRank);
  CHECK_THROWS_WITH(beside(kSend1000, tree({0, 2}), {foreign}),
                    Catch::Contains("counts the bytes of collectives in another way"));
  const std::string lost = R"(
    nodes 0 1
    0: 0..0 send 1 1000B
    1: 0..10 recv 0 1000B
    1: 20..30 recv 0 1000B tag 4
    0: 40 end
    1: 40 end
  )";
  CHECK_THROWS_WITH(beside(kSend1000, tree({0, 2}), {job(lost, {1, 3})}),
                    Catch::Contains("other.txt: calls lack their partners"));
  // Both send first, by rendezvous.
  const std::string stuck = R"(
    nodes 0 1
    0: 0..1 send 1 9000B
    0: 2..3 recv 1 9000B
    1: 0..1 send 0 9000B
    1: 2..3 recv 0 9000B
    0: 4 end
    1: 4 end
  )";
  CHECK_THROWS_WITH(beside(kSend1000, tree({0, 2}), {job(stuck, {1, 3})}),
                    Catch::Contains("other.txt: on tree its ranks wait for each other: rank 0"));
}

TEST_CASE("how --with names a job") {
  OtherJob parsed = parse_other_job("a/run.otf2dir");
  CHECK(parsed.path == "a/run.otf2dir");
  CHECK(parsed.nodes.empty());
  CHECK(parsed.start == 0);
  parsed = parse_other_job("a@b/run@nodes=3-4+8,start=2ms,ppn=4");
  CHECK(parsed.path == "a@b/run");
  CHECK(parsed.nodes == std::vector{3, 4, 8});
  CHECK(parsed.start == Approx(0.002));
  CHECK(parsed.ranks_per_node == 4);
  CHECK(parse_other_job("me@home").path == "me@home");
  for (const char* bad : {"@nodes=1", "a@nodes=1-", "a@nodes=", "a@start=-1s", "a@start=2",
                          "a@ppn=0", "a@ppn=1x", "a@nodes=1,", "a@cpu=2", "a@nodes=1,1"})
    CHECK_THROWS_AS(parse_other_job(bad), UsageError);
}

// Ranks that share a node in the recording, and ppn of the scenario, or of the job.
TEST_CASE("ranks per node of other jobs") {
  const std::string together = "0: 0..0 send 1 1000B\n1: 0..10 recv 0 1000B\n0: 0 end\n1: 10 end\n";
  ScenarioResult result = beside(kSend1000, tree({0, 2}), {job(together)});
  CHECK(result.jobs[0].nodes == std::vector{1});
  CHECK(ns(result.jobs[0].elapsed) == Approx(1010));  // 10 + n within a node
  OtherJob apart = job(together);
  apart.ranks_per_node = 1;
  result = beside(kSend1000, tree({0, 2}), {apart});
  CHECK(result.jobs[0].nodes == std::vector{1, 3});
  CHECK(ns(result.jobs[0].elapsed) == Approx(2100));
}

namespace {

/// Random programs: without and with threads, and with one-sided communication. (A few of these
/// have calls that lack their partners when sends wait for their receivers.)
std::vector<std::string> random_jobs(unsigned seed, const Scenario& scenario,
                                     const ReplayOptions& options) {
  using namespace rubato::property;
  std::vector<std::string> texts = {OneSidedGenerator(seed).make()};
  for (Program program : {Generator(seed, true).make(), Generator(seed + 100, true).make()}) {
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    texts.push_back(as_text(program, recorded));
  }
  Program program = threaded(seed + 200);
  if (program.ranks.size() % 2 == 0) {
    const std::vector<double> recorded = Reference(program, recorder()).run(&program);
    texts.push_back(as_text(program, recorded, 2));
  }
  std::erase_if(texts, [&](const std::string& text) {
    const TraceSummary trace = replay(text, {scenario}, options).trace;
    return trace.abandoned_epochs + trace.abandoned_collectives + trace.unmatched_receives > 0;
  });
  return texts;
}

}  // namespace

// On a crossbar each node has links of its own, so jobs never meet.
TEST_CASE("random jobs on separate links do not affect each other") {
  const Scenario scenario = on_network("model = \"crossbar\"");
  const ReplayOptions options;
  for (unsigned seed = 1; seed <= seeds(20); ++seed) {
    INFO("seed " << seed);
    const std::vector<std::string> texts = random_jobs(seed, scenario, options);
    std::vector<ScenarioResult> alone;
    for (const std::string& text : texts)
      alone.push_back(replay(text, {scenario}, options).scenarios[0]);
    for (size_t first = 0; first < texts.size(); ++first) {
      std::vector<OtherJob> others;
      for (size_t i = 0; i < texts.size(); ++i) {
        if (i != first) others.push_back(job(texts[i], {}, 1e-7 * static_cast<double>(i)));
      }
      const ScenarioResult result = beside(texts[first], scenario, others, options);
      REQUIRE(result.jobs.size() == others.size());
      check_same(result, alone[first]);
      for (size_t i = 0, other = 0; i < texts.size(); ++i) {
        if (i != first)
          CHECK(ns(result.jobs[other++].elapsed) == Approx(ns(alone[i].elapsed)).margin(1e-5));
      }
    }
  }
}

TEST_CASE("the order of random jobs on one backbone does not matter") {
  const Scenario scenario = on_network("model = \"crossbar\"\nbackbone_bandwidth = \"1GB/s\"");
  const ReplayOptions options;
  for (unsigned seed = 1; seed <= seeds(20); ++seed) {
    INFO("seed " << seed);
    const std::vector<std::string> texts = random_jobs(seed, scenario, options);
    const auto jobs = [&] {
      std::vector<OtherJob> others;
      for (size_t i = 1; i < texts.size(); ++i) {
        std::vector<int> nodes;
        for (int node = 0; node < 10; ++node) nodes.push_back(10 * static_cast<int>(i) + node);
        others.push_back(job(texts[i], nodes, 3e-8 * static_cast<double>(i)));
      }
      return others;
    };
    std::vector<OtherJob> reversed = jobs();
    std::reverse(reversed.begin(), reversed.end());
    const ScenarioResult one = beside(texts[0], scenario, jobs(), options);
    const ScenarioResult two = beside(texts[0], scenario, reversed, options);
    check_same(one, two);
    CHECK(one.elapsed >= one.elapsed_without_jobs * (1 - 1e-9));
    for (size_t i = 0; i < one.jobs.size(); ++i) {
      CHECK(ns(one.jobs[i].elapsed) ==
            Approx(ns(two.jobs[one.jobs.size() - 1 - i].elapsed)).margin(1e-5));
    }
  }
}
