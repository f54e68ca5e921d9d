#pragma once

// The candidates of `rubato advise`: changes of a scenario, one at a time, chosen by a replay of
// the scenario itself.

#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/critical_path.h"
#include "replay/observe/results.h"

namespace rubato {

/// The change of a candidate.
enum class CandidateKind : uint8_t {
  kFunction,         ///< compute in a function and its callees takes half as long
  kFunctionBalance,  ///< the same takes equally long on all ranks that run it, with the same sum
  kBalance,          ///< all ranks that compute get equal compute, with the same sum
  kLatency,          ///< half of it, of all levels or of one
  kBandwidth,        ///< twice as much, likewise
  kOverhead,         ///< half of it, likewise
  kCollectives,  ///< collectives, all or those of one operation, cost only their synchronisation
  kAlgorithm,    ///< another algorithm for a collective operation
  kPlacement,    ///< ranks on other nodes
  kPerfect,      ///< messages and collectives cost nothing: the bound of all changes of the network
};
inline constexpr std::array<const char*, 10> kCandidateNames = {
    "function", "function_balance", "balance",   "latency",   "bandwidth",
    "overhead", "collectives",      "algorithm", "placement", "perfect"};

struct Candidate {
  CandidateKind kind = CandidateKind::kFunction;
  /// The changed object: the function, the rank's number, a level, "allreduce", "allreduce=ring",
  /// "roundrobin:2", "messages" (a placement by traffic between ranks); "" if there is only one.
  std::string name;
  std::string text;  ///< the scenario, as for `--on`
  Scenario scenario;
};

/// The scenario to be made faster, replayed alone.
struct BaseRun {
  const Scenario* scenario = nullptr;
  const Results* results = nullptr;
  const PathSums* path = nullptr;
  double ticks_per_second = 0;
  Placement placement;                  ///< of the scenario
  const ScenarioResult* run = nullptr;  ///< of the scenario; null: the first of `results`
};

struct CandidateLimits {
  size_t functions = 0;  ///< maximum number, and of functions to be balanced
  /// Candidates that differ only in numbers share a pass; if false, each candidate is a pass.
  bool shares_passes = true;
};

struct Candidates {
  std::vector<Candidate> list;
  size_t functions_left_out = 0;
};

/// The changes of a scenario that give ranks that compute equal compute, with the same sum. Ranks
/// with the same factor, in four digits, are one change. Empty if the longest compute of a rank is
/// less than 1 % above the mean.
std::vector<std::string> balancing_changes(const std::vector<RankResult>& ranks);

/// Parses `--on` texts: parse_scenario().
using ParseScenario = std::function<Scenario(const std::string& text)>;

/// Functions are those with most compute on the critical path and in total, in turn: the critical
/// path is assumed to contain a function with its share in each rank's compute. Functions
/// that are to be balanced are those with the largest inclusive time beyond the mean. A function
/// with all compute is no candidate: that all compute takes half as long is known. Nor is a caller
/// of a function that is called only in it and has 98 % of its amount: the callee is. Placements
/// have the same number of nodes, with no more ranks on one than now.
class CandidateFinder {
 public:
  /// All must outlive it.
  CandidateFinder(const BaseRun& base, const CandidateLimits& limits, const ParseScenario& parse);
  /// Called once.
  Candidates find();
  /// Instead: balanced functions, those of them in half the time of which one rank has nine tenths,
  /// and equal compute.
  Candidates find_balances();

 private:
  void add(CandidateKind kind, const std::string& name, const std::string& text);
  void add_change(CandidateKind kind, const std::string& name, const std::string& change);
  // candidates.cc:
  void add_balanced_functions();
  void add_functions();
  bool add_function(CandidateKind kind, const std::string& name, const std::string& change);
  bool has_all_compute(const FunctionResult& function) const;
  bool has_same_callee(size_t function, const std::vector<double>& amounts) const;
  double path_share(size_t rank) const;
  void add_balance();
  // network_candidates.cc:
  void add_perfect();
  void add_levels();
  void add_collectives();
  void add_algorithms(const std::string& operation);
  void add_placements();

  const BaseRun* base_;
  const Scenario* scenario_;
  const ScenarioResult* run_;
  const CandidateLimits* limits_;
  const ParseScenario* parse_;
  std::vector<std::vector<size_t>> callees_;  ///< by function, those called only in it
  Candidates found_;
  std::set<std::string> changed_functions_;  ///< by candidates
};

}  // namespace rubato
