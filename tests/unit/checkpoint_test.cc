// What a run takes from a checkpoint, and what it replays anew. Ends of runs in the middle,
// processes and files of others are in e2e/replay_checkpoint.sh.

#include "replay/checkpoint.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "replay/archive/text_source.h"
#include "replay/driver.h"
#include "tests/unit/directory.h"

using namespace rubato;

namespace {

const char* const kText = R"(
  0: 0..5 send 1 8B
  0: 10 end
  1: 0..9 recv 0 8B
  1: 10 end
)";

/// A run on one platform, that begins with this checkpoint.
Results run(const std::string& checkpoint) {
  ReplayOptions options;
  options.checkpoint = checkpoint;
  options.checkpoint_key = "key";
  return run_replay(*parse_text_trace(kText), {parse_scenario("perfect")}, options);
}

}  // namespace

TEST_CASE("records that do not fit the archive are replayed anew") {
  const TemporaryDirectory directory;
  const std::string file = directory.path() / "checkpoint";
  const ScenarioResult right = run(file).scenarios[0];
  REQUIRE(right.ranks.size() == 2);
  CHECK(run(file).from_checkpoint == 1);  // of the run before

  const auto from_checkpoint = [&](uint64_t scenario, const ScenarioResult& result) {
    Checkpoint::remove(file);
    Checkpoint(file, "key", 0).add(scenario, result);
    const Results results = run(file);
    CHECK(results.scenarios[0].ranks.size() == 2);
    return results.from_checkpoint;
  };
  CHECK(from_checkpoint(0, right) == 1);
  CHECK(from_checkpoint(1, right) == 0);  // there is one scenario
  // Records behind one that does not fit count.
  Checkpoint::remove(file);
  Checkpoint(file, "key", 0).add(1, right);
  Checkpoint(file, "key", 0).add(0, right);
  CHECK(run(file).from_checkpoint == 1);
  const auto changed = [&](const std::function<void(ScenarioResult&)>& change) {
    ScenarioResult result = right;
    change(result);
    return from_checkpoint(0, result);
  };
  CHECK(changed([](ScenarioResult& result) { result.name = "other"; }) == 0);
  CHECK(changed([](ScenarioResult& result) { result.ranks.pop_back(); }) == 0);
  CHECK(changed([](ScenarioResult& result) { result.ranks.resize(1000); }) == 0);
  CHECK(changed([](ScenarioResult& result) { result.ranks[1].calls.pop_back(); }) == 0);
  CHECK(changed([](ScenarioResult& result) { result.contention.emplace(); }) == 0);
  CHECK(changed([](ScenarioResult& result) { result.deadlock = "0 waits for 1"; }) == 0);
  CHECK(changed([](ScenarioResult& result) {
          TopologyDrawing& shape = result.links.emplace().drawing.shape;
          shape.add(0, 0, "a");
          shape.cables.push_back({0, 1, {}, {}, false});  // there is no vertex 1
          result.links->drawing.busy.resize(1);
        }) == 0);
}
