// Timelines may be run in any order: random programs give the same clocks, to the last bit, by lots
// as in the order that the replay takes.

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "models/platform/platform_file.h"
#include "replay/engine/replay.h"
#include "replay/rules/model_rules.h"
#include "replay/rules/recorded/measured_rules.h"
#include "replay/sources/text_source.h"
#include "tests/unit/lottery.h"
#include "tests/unit/random_programs.h"
#include "tests/unit/recorded_minima.h"
#include "tests/unit/reference_simulation.h"
#include "tests/unit/seeds.h"

using namespace rubato;
using namespace rubato::property;

namespace {

/// The results of a replay.
struct Outcome {
  std::vector<std::vector<double>> clocks;  ///< enters and leaves of all calls, by timeline
  ReplayOutcome said;
};

struct Clocks : Observer<1> {
  std::vector<std::vector<double>>* of;
  explicit Clocks(std::vector<std::vector<double>>& clocks) : of(&clocks) {}
  void call(int timeline, const Call&, const Block&, const Lanes<1>&, double, const Lanes<1>& enter,
            const Lanes<1>& leave) override {
    (*of)[timeline].push_back(enter[0]);
    (*of)[timeline].push_back(leave[0]);
  }
};

template <class Rules>
Outcome replay(EventSource& source, Rules rules) {
  Outcome outcome;
  outcome.clocks.resize(source.definitions().timelines());
  Clocks observer(outcome.clocks);
  outcome.said = replay_calls(source, rules, {.observers = {&observer}});
  return outcome;
}

void check_same(const Outcome& drawn, const Outcome& usual) {
  CHECK(drawn.clocks == usual.clocks);
  CHECK(drawn.said.deadlock == usual.said.deadlock);
  CHECK(drawn.said.asks_for_receivers == usual.said.asks_for_receivers);
  CHECK(drawn.said.unmatched_sends.count == usual.said.unmatched_sends.count);
  CHECK(drawn.said.unmatched_receives.count == usual.said.unmatched_receives.count);
  CHECK(drawn.said.abandoned_collectives == usual.said.abandoned_collectives);
}

/// The records of some calls are missing: of one line in `one_in`.
std::string with_holes(const std::string& text, unsigned seed, unsigned one_in) {
  std::mt19937 random(seed);
  std::istringstream in(text);
  std::string holed;
  for (std::string line; std::getline(in, line);) {
    const bool may_go =
        line.find(" send ") != std::string::npos || line.find(" recv ") != std::string::npos;
    if (!may_go || random() % one_in != 0) holed += line + "\n";
  }
  return holed;
}

/// Messages of 1000 bytes on wait for their receiver by `protocol`.
std::string machine_text(const std::string& protocol) {
  std::string text = R"(
  format = 1
  [level.self]
  transfer = [{ from = "0B", latency = "0.3us", bandwidth = "2GB/s" }]
  [level.node]
  transfer = [{ from = "0B", latency = "0.3us", bandwidth = "2GB/s" }]
  gap = [{ from = "0B", latency = "0s", bandwidth = "4GB/s" }]
  send_overhead = "17ns"
  receive_overhead = "23ns"
  protocol = [{ from = "0B", kind = "eager" }, { from = "1000B", kind = "PROTOCOL" }]
  [level.network]
  transfer = [{ from = "0B", latency = "1.7us", bandwidth = "2GB/s" }]
  gap = [{ from = "0B", latency = "0s", bandwidth = "4GB/s" }]
  send_overhead = "17ns"
  receive_overhead = "23ns"
  protocol = [{ from = "0B", kind = "eager" }, { from = "1000B", kind = "PROTOCOL" }]
)";
  for (size_t at = 0; (at = text.find("PROTOCOL")) != std::string::npos;)
    text.replace(at, 8, protocol);
  return text;
}

}  // namespace

TEST_CASE("random programs: timelines may be run in any order") {
  // Complete schedules, and schedules with holes that can be resolved in more than one way.
  const bool holes = GENERATE(false, true);
  unsigned stopped = 0, unmatched = 0;
  for (unsigned seed = 0; seed < seeds(100); ++seed) {
    Program program = Generator(seed, true).make();
    const std::vector<double> ends = Reference(Program(program), recorder()).run(&program);
    std::string text = as_text(program, ends);
    if (holes) text = with_holes(text, seed, 8);
    INFO("seed " << seed << "\n" << text);
    const auto source = parse_text_trace(text);
    const TraceDefinitions& trace = source->definitions();
    const auto machine_with = [&](const char* protocol) {
      LaneMachines machine;
      machine.pairs = Pairs(Placement(trace.node_of_rank));
      machine.interconnects.emplace_back(parse_platform(machine_text(protocol), "machine"));
      machine.names = {"machine"};
      machine.cpu = {1};
      return machine;
    };
    const LaneMachines machine = machine_with("async");
    const LaneMachines pushes = machine_with("push");
    const EagerLimits limits;
    const RecordedMinima minima = minima_of(*source, machine.pairs.placement(), limits);
    const std::vector<MeasuredLane> lane = {MeasuredLane{}};
    const Outcome model = replay(*source, ModelRules<1>(machine, trace));
    const Outcome pushed = replay(*source, ModelRules<1>(pushes, trace));
    const Outcome measured =
        replay(*source, MeasuredRules<1>(lane, minima, machine.pairs.placement(), limits));
    for (unsigned draw = 0; draw < 4; ++draw) {
      Lottery::random.seed(7 * seed + draw);
      check_same(replay(*source, Drawn<ModelRules<1>>(machine, trace)), model);
      check_same(replay(*source, Drawn<ModelRules<1>>(pushes, trace)), pushed);
      check_same(
          replay(*source, Drawn<MeasuredRules<1>>(lane, minima, machine.pairs.placement(), limits)),
          measured);
    }
    stopped += !model.said.deadlock.empty() || model.said.asks_for_receivers;
    unmatched += measured.said.unmatched_sends.count + measured.said.unmatched_receives.count > 0;
  }
  // Programs have holes as intended, and yet most of them complete.
  CHECK((unmatched > 0) == holes);
  CHECK(stopped < seeds(100) / 2);
}
