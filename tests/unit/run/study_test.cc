// Variants of a scenario, replayed in parts. One tick is one nanosecond.

#include "replay/study/study.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "replay/observe/observer.h"
#include "replay/run/driver.h"
#include "replay/sources/text_source.h"

using namespace rubato;

namespace {

/// Rank 1 waits for 8 bytes that rank 0 sends at 0: with latency L it ends at L + 8.
const std::string kEightBytes = R"(
  0: 0..0 send 1 8B
  1: 0..100 recv 0 8B
)";

/// Latencies from 1 us on; the bandwidth is 1 byte per ns.
std::vector<Scenario> latencies(int count) {
  std::vector<Scenario> variants;
  for (int us = 1; us <= count; ++us)
    variants.push_back(
        parse_scenario("bandela:bandwidth=1GB/s,latency=" + std::to_string(us) + "us"));
  return variants;
}

}  // namespace

TEST_CASE("a study replays its variants in parts, in their order") {
  const auto source = parse_text_trace(kEightBytes);
  constexpr int kVariants = 300;
  REQUIRE(kVariants > 2 * Study::kAtATime);
  std::vector<double> shares;
  ReplayOptions options;
  options.progress = [&](double share) { shares.push_back(share); };
  {
    Study study(*source, options);
    const std::vector<Scenario> variants = latencies(kVariants);
    const std::vector<double> elapsed = study.elapsed(variants);
    REQUIRE(elapsed.size() == kVariants);
    for (int i = 0; i < kVariants; ++i) CHECK(elapsed[i] * 1e9 == Approx(1000 * (i + 1) + 8));
    CHECK(study.replays() == kVariants);
    CHECK(study.first().name == variants[0].name);
    CHECK(study.first().ranks.empty());
    REQUIRE(!shares.empty());
    // One step, in three parts: half of all. (Of the next step: half of the rest, 0.75.)
    CHECK(shares.back() <= 0.5);
    CHECK(shares.back() > 0.4);
    study.replay({variants[0]});
    CHECK(shares.back() <= 0.75);
  }
  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.back() == 1);
}

namespace {

struct CountedCalls : Observer<1> {
  int calls = 0;
  void call(int, const Call&, const Block&, const Lanes<1>&, double, const Lanes<1>&,
            const Lanes<1>&) override {
    ++calls;
  }
};

}  // namespace

TEST_CASE("a study observes only what it is asked to") {
  const auto source = parse_text_trace(kEightBytes);
  CountedCalls unwanted, wanted;
  ReplayOptions options;
  options.wait_states = options.verify = true;
  options.observers = {&unwanted};
  Study study(*source, options);
  const Results results = study.replay(latencies(1));
  CHECK(!results.scenarios[0].has_waits);
  CHECK(!results.identity);
  study.observe(latencies(1)[0], {&wanted});
  CHECK(unwanted.calls == 0);
  CHECK(wanted.calls >= 2);  // the send and the receive
}

TEST_CASE("a replay in passes refuses what run_replay() resolves before") {
  const auto source = parse_text_trace(kEightBytes);
  Scenario fitted = latencies(1)[0];
  fitted.fits_degradation = true;
  CHECK_THROWS_WITH(replay_in_passes(*source, {fitted}, {}),
                    Catch::Contains("dr=fit is not possible here"));
  ReplayOptions beside;
  beside.jobs.emplace_back();
  CHECK_THROWS_WITH(replay_in_passes(*source, latencies(1), beside),
                    Catch::Contains("cannot have other jobs"));
}

TEST_CASE("a study refuses elapsed times of deadlocks, and returns their results") {
  const auto source = parse_text_trace(R"(
    0: 0..1 send 1 2000B
    0: 1..10 recv 1 2000B
    1: 0..1 send 0 2000B
    1: 1..10 recv 0 2000B
  )");
  // Both send 2000 bytes, more than S = 1024: each waits for the receive of the other.
  const Scenario scenario = parse_scenario("loggps:L=1us,G=1ns,S=1KiB");
  Study study(*source, {});
  CHECK(!study.replay({scenario}).scenarios[0].deadlock.empty());
  CHECK_THROWS_WITH(study.elapsed({scenario}),
                    Catch::StartsWith("the program deadlocks on this machine: "));
  CHECK_THROWS_WITH(study.observe(scenario, {}),
                    Catch::StartsWith("the program deadlocks on this machine: "));
  Study fit(*source, {}, "dr=fit");
  CHECK_THROWS_WITH(fit.elapsed({scenario}),
                    Catch::StartsWith("dr=fit: scenario '" + scenario.name + "' is a deadlock: "));
}
