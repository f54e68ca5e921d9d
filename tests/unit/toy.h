// Hand-made traces on a small machine whose times are worked out by hand. One tick is one
// nanosecond.
#pragma once

#include "models/platform/platform_file.h"
#include "replay/sources/text_source.h"
#include "replay/study/run_replay.h"
#include "tests/unit/ends.h"

namespace rubato {

inline Results replay(const std::string& text, const std::vector<Scenario>& scenarios,
                      const ReplayOptions& options = {}) {
  const auto source = parse_text_trace(text);
  return run_replay(*source, scenarios, options);
}

/// When each rank ends, in ns.
inline Ends ends(const std::string& text, const Scenario& scenario,
                 const ReplayOptions& options = {}) {
  return ends_of(replay(text, {scenario}, options).scenarios[0]);
}

inline Scenario on(const std::string& text) {
  return parse_scenario(text);
}

/// A machine where a message of n bytes costs o_s = 10, T = 100 + n, o_r = 20, g = n (all ns),
/// eager below 1000 bytes.
inline Scenario toy() {
  Scenario scenario;
  scenario.name = "toy";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "100ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "async" } ]
    send_overhead = "10ns"
    receive_overhead = "20ns"
  )",
                                     "toy");
  return scenario;
}

/// A machine on which messages mainly cost processor time: o_s = 200, T = n, o_r = 300, g as given
/// (all ns), push from 1000 bytes on. L is 0; a sender has seen an answer 500 after it left.
inline Scenario slow_processors(const std::string& gap) {
  Scenario scenario;
  scenario.name = "slow processors";
  scenario.platform = parse_platform(R"(
    format = 1
    [level.node]
    transfer = [ { from = "0B", latency = "0ns", bandwidth = "1GB/s" } ]
    protocol = [ { from = "0B", kind = "eager" }, { from = "1000B", kind = "push" } ]
    send_overhead = "200ns"
    receive_overhead = "300ns"
    gap = )" + gap,
                                     "slow");
  return scenario;
}

// Rank 1 computes 20, waits; rank 0 computes 50, sends 8 bytes. Then both compute to their end.
inline const char* const kLateSenderTrace = R"(
  0: 0..0 init
  0: 50..60 send 1 8B
  0: 100 end
  1: 0..0 init
  1: 20..90 recv 0 8B
  1: 100 end
)";

}  // namespace rubato
