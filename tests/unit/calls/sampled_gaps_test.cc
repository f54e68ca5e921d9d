// Functions between calls from samples: gaps between the same two calls share their samples.

#include "replay/calls/sampled_gaps.h"

#include <catch2/catch.hpp>

#include "replay/calls/function_clock.h"
#include "replay/store/call_places.h"

using namespace rubato;

namespace {

constexpr uint32_t kMainFunction = 0, kSolveFunction = 1, kPackFunction = 2;
constexpr uint32_t kSendCall = 7, kBarrierCall = 8;  // calls
constexpr uint64_t kSolveBit = 1, kMainBit = 2;

using SampledPath = std::vector<CalledFunction>;
const SampledPath kFoundInSolve = {{kMainBit, kMainFunction}, {kSolveBit, kSolveFunction}};
const SampledPath kFoundInPack = {{kMainBit, kMainFunction}, {0, kPackFunction}};

/// One timeline, whose calls take 1 tick each.
struct SampledProgram {
  FunctionTimes times{1};
  FunctionTotals totals{{0, {}}};
  CallPlaces places{1};
  SampleTotals samples{10, true, {{0, {}}}};
  FunctionClock clock{{&times, &totals, &places, &samples}, 0};
  double now = 0;
  uint64_t event = 0;

  /// Compute of `ticks`, with samples for 10 ticks each at its end, and then `call`.
  void gap(double ticks, std::vector<SampledPath> found, uint32_t call) {
    now += ticks;
    for (const SampledPath& path : found) clock.sample(path, 10, now);
    clock.stop(++event, now, kNoPlace, kNoPlace, call);
    clock.go(++now);
  }
  /// Ticks in functions before the call at `at`.
  double time_before(uint64_t at, uint64_t functions) const {
    double ticks = 0;
    for (const FunctionTime& part : times.before(0, at))
      if (part.functions == functions) ticks += part.ticks;
    return ticks;
  }
  bool is_called_by_main(const FunctionPart& part) const {
    const std::vector<CallTree::Node>& nodes = places.paths(0).nodes();
    const CallTree::Node& node = nodes[part.path];
    return node.function == part.function && nodes[node.parent].function == kMainFunction;
  }
};

}  // namespace

// Four gaps from MPI_Send to MPI_Barrier, 10 + 10 + 10 + 10, in which one sample is in solve and
// three are in pack. The gaps back to MPI_Send have no samples: nothing is known of them.
TEST_CASE("gaps between the same calls have the mean shares of their samples") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  for (const std::vector<SampledPath>& found : std::vector<std::vector<SampledPath>>{
           {kFoundInPack}, {}, {kFoundInSolve, kFoundInPack}, {kFoundInPack}}) {
    program.gap(10, found, kBarrierCall);
    program.gap(3, {}, kSendCall);
  }
  program.clock.finish();
  for (const uint64_t barrier : {2, 4, 6, 8}) {
    CHECK(program.time_before(barrier, kMainBit | kSolveBit) == Approx(2.5));
    CHECK(program.time_before(barrier, kMainBit) == Approx(7.5));
  }
  CHECK(program.times.before(0, 3).empty());
  const std::vector<CallTree::Node>& nodes = program.totals[0].nodes();
  REQUIRE(nodes.size() == 4);
  CHECK((nodes[1].function == kMainFunction && nodes[1].ticks == 0));
  CHECK((nodes[2].function == kPackFunction && nodes[2].ticks == Approx(30)));
  CHECK((nodes[3].function == kSolveFunction && nodes[3].ticks == Approx(10)));
  // Agresti and Coull, z² = 3.8416: 4 + z² = 7.8416 samples, of which 1 + z²/2 = 2.9208 are in
  // solve, a part of 0.37248; z² 0.37248 0.62752 / 7.8416 = 0.11451 is the square of its interval.
  CHECK(nodes[3].own_error2 == Approx(1600 * 0.11451).epsilon(1e-4));
  CHECK(nodes[3].error2 == Approx(1600 * 0.11451).epsilon(1e-4));
  // main: 4 + z²/2 = 5.9208 of 7.8416, a part of 0.75505.
  CHECK(nodes[1].error2 == Approx(1600 * 3.8416 * 0.75505 * 0.24495 / 7.8416).epsilon(1e-4));
  CHECK(nodes[1].own_error2 == 0);
  // Samples times period.
  CHECK(program.samples.sums[0][kMainFunction].inclusive == 40);
  CHECK(program.samples.sums[0][kSolveFunction].exclusive == 10);
}

TEST_CASE("the functions of a gap are in the order in which they were found in it") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  program.gap(10, {kFoundInSolve}, kBarrierCall);  // 10 after its begin
  program.gap(3, {}, kSendCall);
  program.clock.sample(kFoundInPack, 10, program.now + 4);
  program.gap(20, {}, kBarrierCall);
  program.clock.finish();
  CallPlaces::Reader reader(program.places, 0);
  CHECK(reader.at(1).before.empty());
  for (const auto& [barrier, ticks] : {std::pair(2, 5.0), std::pair(4, 10.0)}) {
    const std::vector<FunctionPart> before = reader.at(barrier).before;
    REQUIRE(before.size() == 2);
    CHECK((before[0].function == kPackFunction && before[0].ticks == Approx(ticks)));
    CHECK((before[1].function == kSolveFunction && before[1].ticks == Approx(ticks)));
    for (const FunctionPart& part : before) CHECK(program.is_called_by_main(part));
  }
}

// 100 with 10 samples in pack, beside gaps of 10 in solve.
TEST_CASE("a gap with many samples has the shares of its own samples") {
  SampledProgram program;
  program.gap(5, {}, kBarrierCall);
  program.gap(10, {kFoundInSolve}, kBarrierCall);
  program.gap(100, std::vector<SampledPath>(10, kFoundInPack), kBarrierCall);
  program.gap(10, {}, kBarrierCall);
  program.clock.finish();
  CHECK(program.time_before(2, kMainBit | kSolveBit) == Approx(10));
  CHECK(program.time_before(3, kMainBit) == Approx(100));
  CHECK(program.time_before(4, kMainBit | kSolveBit) == Approx(10));
  CHECK(program.time_before(4, kMainBit) == 0);
}

// The tracer flushes 6 after the begin of a gap, and 3 before its end.
TEST_CASE("a flush does not divide a gap") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  program.gap(6, {}, kNoPlace);
  program.gap(3, {kFoundInSolve}, kBarrierCall);
  program.clock.finish();
  CHECK(program.time_before(2, kMainBit | kSolveBit) == Approx(6));
  CHECK(program.time_before(3, kMainBit | kSolveBit) == Approx(3));
  CHECK(program.totals[0].nodes()[2].ticks == Approx(9));
}

// The program sleeps for most of 1000: a sample of 10 may stand for 2 (10 + 10).
TEST_CASE("time beyond the processor time of samples belongs to no function") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  program.gap(1000, {kFoundInSolve}, kBarrierCall);
  program.clock.finish();
  CHECK(program.time_before(2, kMainBit | kSolveBit) == Approx(40));
}

// Ten samples of 10 in a gap of 200 show that the kernel sees half of the time: so a sample of 10
// may stand for 2 (10 + 10) / 0.5 of another gap.
TEST_CASE("where the kernel misses samples, each one counts for more time") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  program.gap(200, std::vector<SampledPath>(10, kFoundInPack), kBarrierCall);
  program.gap(3, {}, kSendCall);
  program.gap(100, {kFoundInSolve}, kSendCall);
  program.clock.finish();
  CHECK(program.time_before(2, kMainBit) == Approx(200));
  CHECK(program.time_before(4, kMainBit | kSolveBit) == Approx(80));
}

TEST_CASE("time without a core belongs to no function") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  program.clock.lose(8, program.now + 15);
  program.gap(20, {kFoundInSolve}, kBarrierCall);
  program.clock.finish();
  CHECK(program.time_before(2, kMainBit | kSolveBit) == Approx(12));
}

TEST_CASE("only time between MPI_Init and MPI_Finalize counts in total") {
  SampledProgram program;
  program.gap(5, {kFoundInSolve}, kBarrierCall);
  program.gap(10, {kFoundInSolve}, kBarrierCall);
  program.clock.begin_window();
  program.gap(10, {}, kBarrierCall);
  program.clock.end_window();
  program.gap(10, {}, kBarrierCall);
  program.clock.finish();
  CHECK(program.totals[0].nodes()[2].ticks == Approx(10));
}

// 120 with 12 samples: 4 in solve, 4 in pack, 4 in solve. Each run of samples is a third.
TEST_CASE("a gap with many samples has its functions in their order") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  std::vector<SampledPath> found(12, kFoundInSolve);
  std::fill(found.begin() + 4, found.begin() + 8, kFoundInPack);
  program.gap(120, found, kBarrierCall);
  program.clock.finish();
  CallPlaces::Reader reader(program.places, 0);
  const std::vector<FunctionPart> before = reader.at(2).before;
  REQUIRE(before.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(before[i].function == (i == 1 ? kPackFunction : kSolveFunction));
    CHECK(before[i].ticks == Approx(40));
    CHECK(program.is_called_by_main(before[i]));
  }
  CHECK(before[0].path == before[2].path);
  // Its sums do not depend on the order: 12 + z² = 15.8416 samples, 8 + z²/2 = 9.9208 in solve, a
  // part of 0.62625; z² 0.62625 0.37375 / 15.8416 = 0.056760.
  for (const CallTree::Node& node : program.totals[0].nodes()) {
    if (node.function != kSolveFunction) continue;
    CHECK(node.ticks == Approx(80));
    CHECK(node.own_error2 == Approx(120 * 120 * 0.056760).epsilon(1e-4));
  }
}

// 600 samples, by turns in solve and in pack: 600 runs of one sample each, more than are kept.
TEST_CASE("samples of a long gap are combined with their neighbours") {
  SampledProgram program;
  program.gap(5, {}, kSendCall);
  std::vector<SampledPath> found(600, kFoundInSolve);
  for (size_t i = 0; i < found.size(); i += 2) found[i] = kFoundInPack;
  program.gap(6000, found, kBarrierCall);
  program.clock.finish();
  CallPlaces::Reader reader(program.places, 0);
  const std::vector<FunctionPart> before = reader.at(2).before;
  CHECK(before.size() <= 255);
  CHECK(before.size() > 60);
  double solve = 0, all = 0;
  for (const FunctionPart& part : before) {
    if (part.function == kSolveFunction) solve += part.ticks;
    all += part.ticks;
  }
  CHECK(solve == Approx(3000));
  CHECK(all == Approx(6000));
}
