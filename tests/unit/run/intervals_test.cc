// Intervals of predictions, worked out by hand. One tick is one nanosecond.

#include "replay/study/intervals.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "models/platform/uncertainty.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tools/report/interval_report.h"

using namespace rubato;

namespace {

// Rank 0 computes 1000 and sends; rank 1 waits for it from 10 ticks into its window on.
const char* const kOneMessage = R"(
  nodes 0 1
  0: 0..10 init
  0: 1010..1020 send 1 8B
  0: 1020 end
  1: 0..10 init
  1: 20..2000 recv 0 8B
  1: 2000 end
)";

/// A network with a latency of 1000 ticks and nothing else.
Scenario network(double uncertainty) {
  Scenario scenario;
  scenario.name = "network";
  LevelModel level;
  level.transfer = TransferCurve({Segment{0, 1000e-9, 0, uncertainty}});
  scenario.platform.level(Level::kNetwork) = level;
  return scenario;
}

struct Predicted {
  Results results;
  Intervals intervals;
};

Predicted predict(const std::vector<Scenario>& scenarios, const RecordingOverhead& overhead = {},
                  const std::string& text = kOneMessage) {
  const auto source = parse_text_trace(text);
  const IntervalPlan plan(scenarios);
  Predicted predicted;
  predicted.results = run_replay(*source, plan.scenarios(), {});
  predicted.intervals = plan.settle(predicted.results, overhead);
  return predicted;
}

double half_width(const std::optional<ElapsedInterval>& interval) {
  REQUIRE(interval);
  return (interval->high - interval->low) / 2 * 1e9;
}

}  // namespace

// The message is sent 1000 into the window and takes 1000: 2000. With a latency 1.96 x 10 % longer:
// + 196. With 1.96 x 1 % more compute: + 19.6. MPI takes rank 0 nothing and rank 1 2000 - 10 =
// 1990, in the mean 995, and models may be off by 1.96 x 17 % of that: 331.534.
TEST_CASE("half-widths of network, recording and model are combined in quadrature") {
  const Predicted predicted = predict({network(0.1)});
  REQUIRE(predicted.results.scenarios.size() == 1);
  CHECK(predicted.results.scenarios[0].elapsed * 1e9 == Approx(2000));
  const double half = std::sqrt(196.0 * 196.0 + 19.6 * 19.6 + 331.534 * 331.534);
  CHECK(half_width(predicted.intervals[0]) == Approx(half));
  CHECK(predicted.intervals[0]->low * 1e9 == Approx(2000 - half));
}

// One rank computes 100,000 longer than the other, whose wait for it is most of MPI time: the
// message is sent 101,000 into the window, takes 1000, and may cost 1.96 x 17 % more: 333.2. MPI
// takes rank 1 101,990 and the mean rank 50,995, 17 % of which would be 16,991; at least 2 % of it
// count: 1.96 x 1019.9 = 1999.004. Beside it 196 for the latency, 1.96 x 1 % of 101,000, 1979.6.
TEST_CASE("waits for compute are no error of the model of the network") {
  const Predicted predicted = predict({network(0.1)}, {}, R"(
      nodes 0 1
      0: 0..10 init
      0: 101010..101020 send 1 8B
      0: 101020 end
      1: 0..10 init
      1: 20..102010 recv 0 8B
      1: 102010 end
    )");
  CHECK(predicted.results.scenarios[0].elapsed * 1e9 == Approx(102000));
  CHECK(half_width(predicted.intervals[0]) ==
        Approx(std::sqrt(196.0 * 196.0 + 1979.6 * 1979.6 + 1999.004 * 1999.004)));
}

// Two messages of 1000 B to rank 2 are sent 1000 into the window: alone each takes 1000 of latency
// and 1000 at 1 B a tick, t = 3000. They share its link, so both have half of that bandwidth until
// they arrive together, T = 4000. Curves that are 1.96 x 10 % longer add 392 to t, and costs that
// are 1.96 x 17 % longer 666.4; of T - t = 1000 the latter are 333.2, and the former 392 / 666.4 of
// that, 196. MPI takes rank 2 3990 and the mean rank 1330, 1.96 x 17 % of which, 443.156, are less
// than 666.4 + 333.2.
TEST_CASE("what sharing a link costs is as uncertain as the costs are") {
  Scenario shared = network(0.1);
  shared.platform.level(Level::kNetwork)->transfer =
      TransferCurve({Segment{0, 1000e-9, 1e-9, 0.1}});
  shared = changed(shared, "contention=crossbar");
  shared = changed(shared, "contention.link_bandwidth=1GB/s");
  const Predicted predicted = predict({shared}, {}, R"(
      nodes 0 1 2
      0: 0..10 init
      0: 1010..1020 send 2 1000B
      0: 1020 end
      1: 0..10 init
      1: 1010..1020 send 2 1000B
      1: 1020 end
      2: 0..10 init
      2: 20..2000 recv 0 1000B
      2: 2000..2010 recv 1 1000B
      2: 2010 end
    )");
  REQUIRE(predicted.results.scenarios.size() == 1);
  CHECK(predicted.results.scenarios[0].elapsed * 1e9 == Approx(4000));
  CHECK(half_width(predicted.intervals[0]) ==
        Approx(std::sqrt(588.0 * 588.0 + 19.6 * 19.6 + 443.156 * 443.156)));
}

// As above. Recorded are 10 in MPI_Send and `received` in MPI_Recv, 5 and received / 2 of the mean
// rank, and 10 + received elapsed; the file of this machine predicts 0, 995 and 2000.
//   received 2180: calls differ by 5 + 95, elapsed times by 190, which is more: 1.96 x 190 = 372.4.
//   received 1980: by 5 + 5, and by 10: below 2 % of 995, which count then, 1.96 x 19.9 = 39.004.
// With half the latency the network adds 98, and MPI takes 1490 of rank 1, 745 of the mean rank:
// 1.96 x 745 x 190 / 995 = 278.832, and no less than for costs of 500 that are 1.96 x 17 % longer,
// 166.6: less than 17 % of MPI time, 248.234, which contains rank 1's wait. The other file keeps
// 17 % of MPI time, 331.534: costs of 1000 would add 333.2.
TEST_CASE("the file of the recorded machine has the error of this run") {
  const auto halves = [](int received) {
    const std::string end = std::to_string(20 + received);
    const auto source = parse_text_trace(
        "nodes 0 1\n0: 0..10 init\n0: 1010..1020 send 1 8B\n0: 1020 end\n"
        "1: 0..10 init\n1: 20.." +
        end + " recv 0 8B\n1: " + end + " end\n");
    Scenario own = network(0.1), half = network(0.1), other = network(0.1);
    own.platform_file = half.platform_file = "here.toml";
    other.platform_file = "there.toml";
    half.platform.level(Level::kNetwork)->transfer = TransferCurve({Segment{0, 500e-9, 0, 0.1}});
    const IntervalPlan plan({parse_scenario("measured"), own, half, other});
    Results results = run_replay(*source, plan.scenarios(), {});
    results.scenarios[1].own_machine = true;
    const Intervals intervals = plan.settle(results, {});
    return std::array{half_width(intervals[1]), half_width(intervals[2]), half_width(intervals[3])};
  };
  const auto with = [](double network, double model) {
    return Approx(std::sqrt(network * network + 19.6 * 19.6 + model * model));
  };
  CHECK(halves(2180)[0] == with(196, 372.4));
  CHECK(halves(2180)[1] == with(98, 278.832));
  CHECK(halves(2180)[2] == with(196, 331.534));
  CHECK(halves(1980)[0] == with(196, 39.004));
  CHECK(halves(1980)[1] == with(98, 166.6));
}

// A third rank, on a third node, computes for 2000. MPI takes the mean rank 1990 / 3 = 663.33: 1.96
// x 33 % of it are 429.04 where the file was measured on two nodes, and 1.96 x 17 % are 221.02
// where it was measured on four. Beside it 196, and 1.96 x 1 % more compute of the third
// rank: 39.2.
TEST_CASE("a platform file of two nodes is less certain of three") {
  std::string text = kOneMessage;
  text.replace(text.find("nodes 0 1"), 9, "nodes 0 1 2");
  text += "  2: 0..10 init\n  2: 2010 end\n";
  const auto predicted = [&](const char* hosts) {
    Scenario scenario = network(0.1);
    scenario.platform_file = "cluster.toml";
    scenario.platform.measured["hosts"] = hosts;
    return predict({scenario}, {}, text);
  };
  const Predicted two = predicted("a, b"), four = predicted("a, b, c, d");
  CHECK(two.results.scenarios[0].measured_nodes == 2);
  CHECK(half_width(two.intervals[0]) ==
        Approx(std::sqrt(196.0 * 196.0 + 39.2 * 39.2 + 429.04 * 429.04)).epsilon(1e-4));
  CHECK(four.results.scenarios[0].measured_nodes == 0);
  CHECK(half_width(four.intervals[0]) ==
        Approx(std::sqrt(196.0 * 196.0 + 39.2 * 39.2 + 221.02 * 221.02)).epsilon(1e-4));
}

// Both compute 1000, and 8 bytes take 1000 each way at once. The algorithm is unknown: 1.96 x 50 %
// of 1000. Beside it 196, 19.6 and 1.96 x 17 % of 1000, 333.2, as above. Where the platform names
// the algorithm, that is all.
TEST_CASE("an algorithm that is guessed may be another one") {
  const auto half = [](const Scenario& scenario) {
    const auto source = parse_text_trace(R"(
      nodes 0 1
      0: 0..10 init
      0: 1010..1020 allreduce 8B
      0: 1020 end
      1: 0..10 init
      1: 1010..1020 allreduce 8B
      1: 1020 end
    )");
    const IntervalPlan plan({scenario});
    Results results = run_replay(*source, plan.scenarios(), {});
    return half_width(plan.settle(results, {})[0]);
  };
  Scenario scenario = network(0.1);
  const double known = 196.0 * 196.0 + 19.6 * 19.6 + 333.2 * 333.2;
  CHECK(half(scenario) == Approx(std::sqrt(known + 980.0 * 980.0)));
  scenario.platform.collectives.of(CollectiveOp::kAllreduce).rules = {
      {2, 0, {Algorithm::kRecursiveDoubling}}};
  CHECK(half(scenario) == Approx(std::sqrt(known)));
}

// On `perfect` 1000 of compute is all there is: 19.6. Rank 0 makes two calls (MPI_Init and
// MPI_Send), and of 2 x 4 ticks of overhead 1.96 x 25 % may be wrong: 3.92.
TEST_CASE("what is exact by definition has the uncertainty of the recording") {
  Scenario perfect = parse_scenario("perfect");
  CHECK(half_width(predict({perfect}).intervals[0]) == Approx(19.6));
  RecordingOverhead overhead;
  overhead.outside = 4e-9;
  CHECK(half_width(predict({perfect}, overhead).intervals[0]) ==
        Approx(std::sqrt(19.6 * 19.6 + 3.92 * 3.92)));
}

// Rank 0 enters and leaves 20 functions of 10 each in its 1000: 600 are left. Had a record cost
// 1.96 x 25 % less, 196 more would be. 1.96 x 1 % more compute: 11.76.
TEST_CASE("what records of functions cost may be wrong as well") {
  std::string text = "nodes 0 1\n0: 0..10 init\n";
  for (int i = 0; i < 20; ++i)
    text += "0: " + std::to_string(20 + 40 * i) + " enter f\n0: " + std::to_string(30 + 40 * i) +
            " leave f\n";
  text += "0: 1010..1010 finalize\n1: 0..10 init\n1: 20..20 finalize\n";
  const auto source = parse_text_trace(text);
  const IntervalPlan plan(
      {parse_scenario("undisturbed"), parse_scenario("measured"), parse_scenario("perfect:cpu*2")});
  ReplayOptions options;
  options.overhead = RecordingOverhead{};
  options.overhead->function = 10e-9;
  Results results = run_replay(*source, plan.scenarios(), options);
  const Intervals intervals = plan.settle(results, *options.overhead);
  CHECK(results.scenarios[0].ranks[0].compute * 1e9 == Approx(600));
  CHECK(half_width(intervals[0]) == Approx(std::hypot(196.0, 11.76)));
  // On models likewise; at twice the speed half of each.
  CHECK(results.scenarios[2].ranks[0].compute * 1e9 == Approx(300));
  CHECK(half_width(intervals[2]) == Approx(std::hypot(98.0, 5.88)));
}

// Rank 0 had no core for 160 of its 1000, rank 1 for none: 80 in the mean. Of these 1.96 x 8 %
// may be wrong in 840 of compute (1.96 x 1 %: 16.464), or 1.96 x 4 % on `perfect`. If it was 400,
// 200 in the mean are more than a tenth of the run: 1.96 x 25 % in 600 of compute.
TEST_CASE("what was lost to others may have cost more than that") {
  for (const auto& [lost, compute, undisturbed, perfect] :
       {std::tuple(160, 16.464, 12.544, 6.272), {400, 11.76, 98., 98.}}) {
    const auto source =
        parse_text_trace("nodes 0 1\n0: 0..10 init\n0: 1010..1010 finalize stolen " +
                         std::to_string(lost) + "\n1: 0..10 init\n1: 20..20 finalize\n");
    const IntervalPlan plan(
        {parse_scenario("measured"), parse_scenario("undisturbed"), parse_scenario("perfect")});
    Results results = run_replay(*source, plan.scenarios(), {});
    const Intervals intervals = plan.settle(results, {});
    CHECK(half_width(intervals[1]) == Approx(std::hypot(compute, undisturbed)));
    CHECK(half_width(intervals[2]) == Approx(std::hypot(compute, perfect)));
  }
}

TEST_CASE("there is no interval where the error is unknown") {
  const Predicted predicted = predict({parse_scenario("measured"), network(0),
                                       parse_scenario("bandela:latency=2us,bandwidth=10GB/s"),
                                       parse_scenario("measured:cpu*2,name=faster")});
  REQUIRE(predicted.intervals.size() == 4);
  CHECK_FALSE(predicted.intervals[0]);  // a recording is no prediction
  CHECK_FALSE(predicted.intervals[1]);  // its file states nothing
  CHECK_FALSE(predicted.intervals[2]);
  CHECK(predicted.intervals[3]);
}

TEST_CASE("a platform that is off has all its curves off, processor time no more than one way") {
  LevelModel level;
  level.transfer = TransferCurve({Segment{0, 1e-6, 1e-9, 0.1}, Segment{1024, 2e-6, 0, 0.2}});
  level.send_overhead = TransferCurve({Segment{0, 1e-7, 0, 0.05}, Segment{1024, 1e-7, 0, 0.5}});
  level.gap = TransferCurve({Segment{0, 4e-7, 0, 0.25}});
  level.following_overhead = TransferCurve({Segment{0, 5e-8, 0, 0.4}});
  level.second_burst_gap = TransferCurve({Segment{0, 6e-7, 0, 0.35}});
  level.crossing_delay = TransferCurve({Segment{0, 2e-7, 0, 0.15}});
  level.synchronous_overhead = TransferCurve({Segment{0, 3e-7, 0, 0.3}});
  Platform platform;
  platform.level(Level::kNetwork) = level;
  CHECK(states_uncertainty(platform));
  const LevelModel longer = *deviated(platform, 2).level(Level::kNetwork);
  CHECK(longer.transfer(100) == Approx(1.2 * (1e-6 + 100e-9)));
  CHECK(longer.transfer(2000) == Approx(1.4 * 2e-6));
  CHECK(longer.send_overhead(0) == Approx(1.1 * 1e-7));
  CHECK(longer.send_overhead(2000) == Approx(1.4 * 1e-7));  // 0.2 of T, not 0.5
  CHECK((*longer.gap)(0) == Approx(1.5 * 4e-7));
  CHECK((*longer.following_overhead)(0) == Approx(1.2 * 5e-8));  // 0.1 of T, not 0.4
  CHECK((*longer.second_burst_gap)(0) == Approx(1.7 * 6e-7));
  CHECK(longer.crossing_delay(0) == Approx(1.3 * 2e-7));
  CHECK(longer.synchronous_overhead(0) == Approx(1.6 * 3e-7));
  CHECK(longer.receive_overhead.empty());
  platform.level(Level::kNode) = LevelModel{};
  CHECK(states_uncertainty(platform));  // nothing is exact
  platform.level(Level::kNode)->transfer = TransferCurve({Segment{0, 1e-6, 0, 0}});
  CHECK_FALSE(states_uncertainty(platform));
}

namespace {

/// A prediction whose whole error is that of its platform.
ElapsedInterval around(double elapsed, double half, const std::string& file) {
  ElapsedInterval interval{elapsed - half, elapsed + half, file, half};
  interval.elapsed = elapsed;
  return interval;
}

}  // namespace

TEST_CASE("the ratio of two predictions has the errors that they do not share") {
  // 10 % of 2 s and 12 % of 1 s: of two files the root of the sum of squares, of one file half of
  // that and the difference.
  CHECK(half_of_ratio(around(2, 0.2, "a"), around(1, 0.12, "a")) ==
        Approx(std::hypot(0.02, 0.05, 0.06)));
  CHECK(half_of_ratio(around(2, 0.2, "a"), around(1, 0.12, "b")) == Approx(std::hypot(0.1, 0.12)));
  // Compute is the same of all: 3 % and 1 %.
  ElapsedInterval a = around(2, 0, "a"), b = around(1, 0, "b");
  a.compute = 0.06, b.compute = 0.01;
  CHECK(half_of_ratio(a, b) == Approx(0.02));
}

TEST_CASE("scenarios whose ratio may be 1 are reported as indistinguishable") {
  Results results;
  std::vector<ScenarioResult>& scenarios = results.scenarios;
  scenarios.resize(4);
  const char* const names[] = {"measured", "a", "b", "c"};
  for (size_t i = 0; i < 4; ++i) scenarios[i].name = names[i];
  scenarios[0].elapsed = 2.5;
  scenarios[1].elapsed = 2.438;
  const Intervals intervals = {std::nullopt, around(2.438, 0.03, "a.toml"),
                               around(2.475, 0.015, "b.toml"), around(2.5, 0.1, "a.toml")};
  // Relative errors: a 1.2 %, b 0.6 %, c 4 %. Against measured: a -2.5 %, b -1 %, c 0. a to b: -1.5
  // % of 1.4 %; a to c, of one file: -2.5 % of hypot(2.8, 0.6, 2) = 3.5 %; b to c: -1 % of 4 %.
  const std::vector<std::string> lines = not_told_apart(results, intervals);
  // (The logarithms: 2.5 %, 1 %, 0, 1.5 %, 2.5 %, 1 %.)
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "measured and c cannot be distinguished: their ratio may be 1.");
  CHECK(lines[1] == "a and c cannot be distinguished: their ratio may be 1.");
  CHECK(lines[2] == "b and c cannot be distinguished: their ratio may be 1.");
  CHECK(show_interval(intervals, 1, TimeUnit{1, "s", 4}) == " (2.41–2.47)");
  CHECK(show_interval(intervals, 0, TimeUnit{1, "s", 4}).empty());
  CHECK(not_told_apart(results, {}).empty());
  // d is like b and c, which are alike: one line for the three.
  scenarios.emplace_back().name = "d";
  Intervals more = intervals;
  more.emplace_back(around(2.48, 0.002, "d.toml"));
  REQUIRE(not_told_apart(results, more).size() == 3);
  CHECK(not_told_apart(results, more)[2] ==
        "b, c and d cannot be distinguished: their ratio may be 1.");
  // Five pairs that are like no others: the fifth is only counted.
  Results pairs;
  Intervals apart;
  for (int i = 0; i < 10; ++i) {
    pairs.scenarios.emplace_back().name = std::to_string(i);
    apart.emplace_back(around(std::pow(2, i / 2), 0.1, std::to_string(i)));
  }
  REQUIRE(not_told_apart(pairs, apart).size() == 5);
  CHECK(not_told_apart(pairs, apart)[4] == "The same holds for 1 more group.");
}
