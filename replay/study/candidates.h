#pragma once

// What `rubato advise` tries: changes of a scenario, one at a time, chosen by what a replay of the
// scenario itself showed.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/critical_path.h"
#include "replay/observe/results.h"

namespace rubato {

/// What a candidate changes.
enum class CandidateKind : uint8_t {
  kFunction,     ///< compute in a function and its callees takes half as long
  kRank,         ///< compute of a rank takes half as long
  kProcessors,   ///< compute of all ranks takes half as long
  kBalance,      ///< ranks that compute all compute equally long, in sum as long as before
  kLatency,      ///< half of it, of all levels or of one
  kBandwidth,    ///< twice as much, likewise
  kOverhead,     ///< half of it, likewise
  kCollectives,  ///< collectives, all or those of one operation, cost only their synchronisation
  kAlgorithm,    ///< another algorithm for a collective operation
  kPlacement,    ///< ranks on other nodes
  kPerfect,      ///< messages and collectives cost nothing: the bound of all cures of a network
};
inline constexpr std::array<const char*, 11> kCandidateNames = {
    "function", "rank",        "processors", "balance",   "latency", "bandwidth",
    "overhead", "collectives", "algorithm",  "placement", "perfect"};

struct Candidate {
  CandidateKind kind = CandidateKind::kFunction;
  /// What exactly: the function, the rank's number, a level, "allreduce", "allreduce=ring",
  /// "roundrobin:2", "messages" (a placement by who talks to whom); "" where there is but one.
  std::string name;
  std::string text;  ///< the scenario, as for `--on`
  Scenario scenario;
};

/// The scenario that is to become faster, replayed alone.
struct BaseRun {
  const Scenario* scenario = nullptr;
  const Results* results = nullptr;
  const PathSums* path = nullptr;
  double ticks_per_second = 0;
  Placement placement;  ///< of the scenario
};

struct CandidateLimits {
  size_t functions = 0;  ///< at most
  size_t ranks = 0;      ///< at most
  /// Only what differs in numbers shares a pass; without it, each candidate is one.
  bool shares_passes = true;
};

struct Candidates {
  std::vector<Candidate> list;
  size_t functions_left_out = 0, ranks_left_out = 0;
};

/// Parses `--on` texts: parse_scenario().
using ParseScenario = std::function<Scenario(const std::string& text)>;

/// Functions and ranks are those with most compute on the critical path and in all, in turn: of a
/// function the path is taken to have its share in each rank's compute. Placements have as many
/// nodes as there are, with no more ranks on one than now.
Candidates find_candidates(const BaseRun& base, const CandidateLimits& limits,
                           const ParseScenario& parse);

/// True where it changes processors of nodes: on other nodes other ranks would have them.
bool names_nodes(const Scenario& scenario);
/// True where both have the same ranks together, whatever their nodes are called.
bool same_nodes(const Placement& a, const Placement& b);
/// Sockets of a node with known ones; 0 where none is known.
int sockets_told(const Placement& placement);

}  // namespace rubato
