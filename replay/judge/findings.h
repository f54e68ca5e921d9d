#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/judge/diagnosis.h"
#include "replay/judge/efficiency.h"
#include "replay/judge/roles.h"
#include "replay/study/intervals.h"

namespace rubato {

enum class FindingKind : uint8_t {
  kLostCores,        ///< other programs had the cores of ranks
  kTracing,          ///< recording between calls
  kSmallMessages,    ///< of at most kSmallMessage bytes on average
  kMessages,         ///< all others, and collectives
  kLateReceiver,     ///< sends wait for their receivers
  kLoadImbalance,    ///< ranks compute for different times
  kLateRoot,         ///< members of a broadcast or scatter wait for the root
  kSynchronisation,  ///< ranks wait for each other in barriers and collectives of all with all
  kLateSender,       ///< receives and reductions wait for one rank in particular
  kChains,           ///< ranks wait for each other in turn
  kOwnWork,          ///< MPI calls work by themselves (own_work.h)
  kKeptCalls,        ///< calls that keep their recorded time
  kApart,            ///< ranks begin or end at different times
  // On a platform (network_costs.h), in the order of NetworkProperty:
  kLatency,
  kOverhead,
  kBandwidth,
  kContention,
  kLinks,
  kProgress,
  kPlacement,
  kFormulas
};
inline constexpr int kFindingKinds = 21;
/// As in JSON.
inline constexpr std::array<const char*, kFindingKinds> kFindingNames = {
    "lost cores",        "tracing",         "small messages",
    "messages",          "late receiver",   "load imbalance",
    "late root",         "synchronisation", "late sender",
    "dependency chains", "own work",        "kept calls",
    "different windows", "latency",         "overhead",
    "bandwidth",         "contention",      "links",
    "no progress",       "placement",       "formulas of collectives"};

constexpr const char* name_of(FindingKind kind) {
  return kFindingNames[static_cast<size_t>(kind)];
}

inline constexpr double kSmallMessage = 1024;  ///< bytes

/// Why a run takes longer than its mean compute, where, and what that costs.
struct Finding {
  FindingKind kind = FindingKind::kTracing;
  double seconds = 0;  ///< of the elapsed time (lost_time.h): at most what the run would gain
  std::optional<double> half;  ///< half of the 95 % interval of `seconds`; none: not known
  int rank = -1;               ///< that computes longest, or is the root cause; -1: no single one
  /// Load imbalance: compute of `rank` beyond the mean, relative to it. Waits: the part of them
  /// whose root cause is `rank`. Lost cores: of the ranks' time.
  double share = 0;
  std::string function;                ///< of `rank`; "": not recorded, or no single one
  std::vector<std::string> callers;    ///< of `function`, as Blame::callers
  std::string call;                    ///< with most of that time; "": no single one
  std::vector<std::string> path;       ///< of the calls that wait, as Diagnosis::Waits::path
  uint64_t calls = 0;                  ///< messages: the number of these calls, all ranks
  uint64_t messages = 0;               ///< of the run, or sent by `function`; 0: unknown, or none
  bool of_run = false;                 ///< `messages` are of the run, though `function` is named
  uint64_t bytes = 0;                  ///< mean of a message
  std::vector<std::string> scenarios;  ///< that investigate it (`--on`)
};

/// What is said about the efficiency of a run.
struct Judgement {
  std::optional<JudgedEfficiency> efficiency;
  bool is_alone = false;  ///< is_alone() of the run
  double elapsed = 0;     ///< of Roles::judged; 0 without efficiency
  /// Of at least 1 % of the elapsed time, the costliest first.
  std::vector<Finding> findings;
  /// What the network of `platform` costs, likewise, of `platform_elapsed` seconds; a cost in this
  /// list may contain parts of another one.
  std::vector<Finding> on_platform;
  std::string platform;  ///< name of the scenario
  double platform_elapsed = 0;
};
/// `platforms`: the directory of platform files that scenarios name. `intervals`: of the elapsed
/// times of Roles::results, or empty. What is found on `perfect` has its relative error; the costs
/// of messages, tracing and lost cores have the errors of its overhead and losses.
Judgement judge(const Roles& roles, const Diagnosis& diagnosis = {},
                const std::string& platforms = "", const Intervals& intervals = {});

}  // namespace rubato
