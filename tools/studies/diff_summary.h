#pragma once

// Where two runs of a program differ, in the few facts that a developer acts on.

#include <cstdint>
#include <map>
#include <string>

#include "replay/analyse/place_summary.h"
#include "replay/compare/run_difference.h"
#include "replay/observe/results.h"

namespace rubato {

/// One run, replayed in one scenario.
struct ObservedRun {
  Results results;  ///< of one scenario
  PlaceSummary places;

  const ScenarioResult& scenario() const { return results.scenarios.front(); }
};

/// Messages and one-sided operations.
struct MessageSum {
  uint64_t count = 0;
  uint64_t bytes = 0;
  bool operator==(const MessageSum&) const = default;
};

/// Times are seconds after less before, of the mean rank if not said otherwise.
struct DiffSummary {
  double compute = 0;
  int compute_rank = -1;      ///< whose compute differs most; -1: all differ alike
  double on_rank = 0;         ///< its difference, or that of the mean rank
  std::string function;       ///< with at least half of `on_rank`: "solve (app.c:12)"; "": none
  double in_function = 0;     ///< that of the same rank, without the functions that it calls ...
  bool with_callees = false;  ///< ... or with them: `function` is the deepest with half of it
  /// Of that function, with at least half of its difference: "assemble (app.c:4)"; "...": several;
  /// "": none, or not recorded, or not known for a prediction.
  std::string caller;

  double mpi = 0;
  std::string call;  ///< whose time differs most; "": none
  std::string site;  ///< "app.c:41", where most of that waiting is; "": not recorded
  double in_call = 0;
  double waiting = 0;     ///< the part of `in_call` that is waiting
  int waited_rank = -1;   ///< that most of the additional waiting in the call is for; -1: none
  double lost_cores = 0;  ///< kept by both scenarios
  MessageSum messages_before, messages_after;
};
/// By name: the compute of all functions with their callees, over all ranks. Functions with equal
/// names are added up.
std::map<std::string, TimePair> compared_functions(const PlaceSummary& before,
                                                   const PlaceSummary& after);

/// REQUIRES equal numbers of ranks.
DiffSummary summary_of(const ObservedRun& before, const ObservedRun& after);

}  // namespace rubato
