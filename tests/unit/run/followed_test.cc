// `measured` alone, where the eager limits are known: it follows the recording, without a survey
// before, as long as the recording does not contradict the limits or the clocks.

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/forwarding_source.h"

using namespace rubato;

namespace {

Results measured(const std::string& text, ReplayOptions options) {
  const auto source = parse_text_trace(text);
  options.wait_states = true;
  return run_replay(*source, {parse_scenario("measured")}, options);
}

double waits_of(const Results& results, int rank) {
  const auto& waits = results.scenarios[0].ranks[rank].waits;
  return std::accumulate(waits.begin(), waits.end(), 0.0);
}

// The send of 2000 B waits for its receiver until 5000.
const char* const kRendezvous = R"(
  0: 0..5200 send 1 2000B
  0: 5300 end
  1: 5000..5200 recv 0 2000B
  1: 5400 end
)";

}  // namespace

TEST_CASE("a recording that keeps to its eager limits is replayed once") {
  ReplayOptions options;
  options.eager_limit = 999;
  std::vector<double> shares;
  options.progress = [&](double share) { shares.push_back(share); };
  const Results results = measured(kRendezvous, options);
  CHECK(results.scenarios[0].elapsed == Approx(5400e-9));
  CHECK(waits_of(results, 0) == Approx(5000e-9));
  CHECK(results.trace.eager.node.bytes == 999);
  // Reading and one pass: half is done after the first. With a survey it would be a third.
  CHECK(std::count(shares.begin(), shares.end(), 0.5) > 0);
  CHECK(std::count_if(shares.begin(), shares.end(), [](double s) { return s > 0 && s < 0.5; }) ==
        0);
}

TEST_CASE("a send above the eager limit that did not wait raises the limit") {
  // It leaves at 10, and the receive is posted at 500.
  ReplayOptions options;
  options.eager_limit = 999;
  const Results results = measured(R"(
    0: 0..10 send 1 2000B
    0: 1000 end
    1: 500..600 recv 0 2000B
    1: 1000 end
  )",
                                   options);
  CHECK(results.trace.eager.node.bytes == 2000);
  CHECK(waits_of(results, 0) == 0);
  CHECK(results.scenarios[0].elapsed == Approx(1000e-9));
}

TEST_CASE("sends above the eager limit that would block each other raise the limit") {
  ReplayOptions options;
  options.eager_limit = 999;
  const Results results = measured(R"(
    0: 0..10 send 1 2000B
    0: 20..90 recv 1 2000B
    0: 100 end
    1: 0..10 send 0 2000B
    1: 20..90 recv 0 2000B
    1: 100 end
  )",
                                   options);
  CHECK(results.scenarios[0].deadlock == "");
  CHECK(results.trace.eager.node.bytes == 2000);
  CHECK(results.scenarios[0].elapsed == Approx(100e-9));
}

// A send that did not wait: the first replay follows it, makes a survey (which takes the limit
// from that send) and replays it again; the second begins with the survey.
TEST_CASE("a source that contradicts itself is followed only once") {
  struct Counted : ForwardingSource {
    using ForwardingSource::ForwardingSource;
    void rewind() override {
      ++passes;
      ForwardingSource::rewind();
    }
    int passes = 0;
  } source(R"(
    0: 0..10 send 1 2000B
    0: 1000 end
    1: 500..600 recv 0 2000B
    1: 1000 end
  )");
  ReplayOptions options;
  options.eager_limit = 999;
  const std::vector<Scenario> scenarios = {parse_scenario("measured")};
  run_replay(source, scenarios, options);
  CHECK(source.passes == 3);
  run_replay(source, scenarios, options);
  CHECK(source.passes == 3 + 2);
}

TEST_CASE("a message that was received before it was sent is moved, with known limits or not") {
  const char* const text = R"(
    0: 100..110 send 1 8B
    0: 300 end
    1: 0..50 recv 0 8B
    1: 200 end
  )";
  ReplayOptions options;
  const Results unknown = measured(text, options);
  options.eager_limit = 999;
  const Results known = measured(text, options);
  for (const Results* results : {&unknown, &known}) {
    CHECK(results->trace.clock_violations.total() == 1);
    REQUIRE(results->trace.clock_repair);
    CHECK(results->trace.clock_repair->after.total() == 0);
  }
  CHECK(known.trace.clock_repair->largest_shift == unknown.trace.clock_repair->largest_shift);
  CHECK(known.scenarios[0].elapsed == unknown.scenarios[0].elapsed);
  CHECK(known.scenarios[0].elapsed > 300e-9 - 1e-12);
}
