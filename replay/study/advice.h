#pragma once

// What makes a run shorter, and by how much end to end: each cure is a scenario of its own,
// replayed in common passes. Virtual speedups, as Coz measures them for threads (Curtsinger,
// Berger: Coz: finding code that counts with causal profiling, SOSP 2015), by replay instead of by
// delays: a function of 20 % of the compute may save 10 % in half the time, or nothing at all.
//
//   1 replay    the scenario: compute by function and rank, critical path, who talks to whom
//        │          candidates.h: what to try
//   2 replays   16 to 32 candidates a pass; more passes for other placements

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/study/candidates.h"
#include "replay/trace/trace.h"

namespace rubato {

/// A candidate, replayed.
struct TriedCandidate {
  Candidate candidate;
  double elapsed = 0;    ///< seconds; none where there is a deadlock
  std::string deadlock;  ///< ScenarioResult::deadlock
  /// Of functions and processors: their part of the compute of all ranks, 0 to 1.
  std::optional<double> compute_share;
};

struct Advice {
  Results run;                        ///< of the scenario itself, with the functions on record
  double elapsed = 0;                 ///< seconds, of the same
  double compute_share = 0;           ///< compute's part of the time of all ranks, 0 to 1
  std::vector<TriedCandidate> tried;  ///< the largest saving first, deadlocks last
  size_t functions_left_out = 0, ranks_left_out = 0;
  std::vector<std::string> hosts;  ///< by rank, of the placement "messages"; empty without one
};

/// Of functions, and of ranks, as many as two passes can have.
inline constexpr size_t kMostTried = 64;

struct AdviceSettings {
  size_t most = 10;  ///< functions, and ranks, to try; kMostTried at most
  ParseScenario parse;
  std::string hosts_file;  ///< where the texts of scenarios look for Advice::hosts
};

/// Replays `scenario` and its candidates. Errors: InputError, also where the program deadlocks in
/// the scenario or takes no time.
Advice find_advice(EventSource& source, const Scenario& scenario, const AdviceSettings& settings,
                   const ReplayOptions& options);

}  // namespace rubato
