#pragma once

// Changes that make a run shorter, and by how much end to end: each change is a scenario of its
// own, replayed in common passes. Virtual speedups, as Coz measures them for threads (Curtsinger,
// Berger: Coz: finding code that counts with causal profiling, SOSP 2015), by replay instead of by
// delays: speeding up a function with 20 % of the compute by two may save 10 %, or nothing at all.
//
//   1 replay    the scenario: compute by function and rank, critical path, traffic between ranks
//        │          candidates.h: what to try
//   2 replays   16 candidates a pass; more passes for other placements
//        │
//   replays     of the scenario and the best candidates, with other compute, overhead and network:
//               how sure each saving is

#include <functional>
#include <optional>
#include <string>
#include <utility>
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
  double elapsed = 0;    ///< seconds; not set in a deadlock
  std::string deadlock;  ///< ScenarioResult::deadlock
  /// For functions and ranks: their share of the compute of all ranks, 0 to 1.
  std::optional<double> compute_share;
  /// Seconds saved with 95 % confidence: lowest and highest. None for savings below 1 %, beyond the
  /// largest ones, and where errors are not known (intervals.h).
  std::optional<std::pair<double, double>> saving;
};

struct Advice {
  Results run;                        ///< of the scenario itself, with the recorded functions
  double elapsed = 0;                 ///< seconds, of the same
  double compute_share = 0;           ///< share of compute in the time of all ranks, 0 to 1
  std::vector<TriedCandidate> tried;  ///< the largest saving first, deadlocks last
  size_t functions_left_out = 0;
  std::vector<std::string> hosts;  ///< by rank, of the placement "messages"; empty without one
};

inline constexpr double kLeastSaving = 0.01;  ///< of the elapsed time

/// Limit for functions: as many as two passes can have.
inline constexpr size_t kMostTried = 64;

struct AdviceSettings {
  size_t most = 10;  ///< number of functions to try; at most kMostTried
  ParseScenario parse;
  bool tries = true;       ///< false: no candidate is replayed, Advice::tried is empty
  std::string hosts_file;  ///< file name of Advice::hosts in the texts of scenarios
};

/// Half the 95 % interval of a saving of `saved` seconds that comes from the samples of the
/// function that the candidate changes; 0: it is on record by calls, or the candidate changes none.
/// Half the time: the saving is as uncertain as the time. Balanced: what the longest rank exceeds
/// the mean by has the error of one rank, that of the sum over the root of the number of ranks.
double half_from_samples(const std::vector<FunctionResult>& functions, const Candidate& candidate,
                         double saved);

/// Replays `scenario` and its candidates. Errors: InputError, also if the program deadlocks in the
/// scenario or takes no time.
Advice find_advice(EventSource& source, const Scenario& scenario, const AdviceSettings& settings,
                   const ReplayOptions& options);

}  // namespace rubato
