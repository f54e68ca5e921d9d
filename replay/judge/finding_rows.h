#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/judge/costly_function.h"
#include "replay/judge/roles.h"

namespace rubato {

struct Diagnosis;
struct Judgement;

/// Why a run takes longer than its mean compute. Each kind has a row in finding_rows.cc and its
/// words in tools/words/verdict_words.cc.
enum class FindingKind : uint8_t {
  kLostCores,        ///< other programs had the cores of ranks
  kMessages,         ///< messages and collectives
  kSmallMessages,    ///< of at most kSmallMessage bytes on average
  kTracing,          ///< recording between calls
  kLateReceiver,     ///< sends wait for their receivers
  kLoadImbalance,    ///< ranks compute for different times
  kChains,           ///< ranks wait for each other in turn
  kWaits,            ///< ranks wait for each other, it is not known in which way
  kNoPartner,        ///< time in MPI on `perfect` that is no wait for another rank
  kLateRoot,         ///< members of a broadcast or scatter wait for the root
  kSynchronisation,  ///< ranks wait for each other in barriers and collectives of all with all
  kLateSender,       ///< receives and reductions wait for one rank in particular
  kOwnWork,          ///< MPI calls work by themselves (own_work.h)
  kKeptCalls,        ///< calls that keep their recorded time
  kApart,            ///< ranks begin or end at different times
  // On a platform (network_costs.h), in the order of its replays:
  kLatency,     ///< of all levels but self, and of links that a scenario can change
  kOverhead,    ///< processor time of senders and receivers
  kFormulas,    ///< measured times of collectives
  kPlacement,   ///< ranks are on other nodes than in blocks, or in turn
  kContention,  ///< flows share links
  kLinks,       ///< latency and bandwidth of links that a scenario cannot change
  kProgress,    ///< data of rendezvous messages flows only while ranks are inside MPI
  kBandwidth,   ///< time that grows with the size of messages
  kCount        ///< the number of kinds
};
inline constexpr auto kFindingKinds = static_cast<size_t>(FindingKind::kCount);

/// True if there is a row for each kind, in their order. (Missing rows of an array are those of the
/// first kind.)
template <typename Rows>
constexpr bool has_each_kind(const Rows& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<size_t>(rows[i].kind) != i) return false;
  }
  return true;
}

inline constexpr double kSmallMessage = 1024;  ///< bytes
inline constexpr double kLeastGain = 0.01;     ///< of the elapsed time, of a finding

/// Why a run takes longer than its mean compute, where, and what that costs.
struct Finding {
  FindingKind kind = FindingKind::kTracing;
  double seconds = 0;        ///< at most what the run would gain (LostTime), or what a replay saves
  bool is_replayed = false;  ///< the latter, with balanced work: the one of `scenarios`
  std::optional<double> half = {};  ///< half of the 95 % interval of `seconds`; none: not known
  double sampled = 0;               ///< the part of `half` from samples, of what a replay saves
  bool is_saved = false;  ///< a replay saves `seconds`, if not by removing all of the cause
  double of_elapsed = 0;  ///< `seconds` as a share; for lost cores of `measured`, which has them
  int rank = -1;          ///< that computes longest, or is the root cause; -1: no single one
  /// Load imbalance: compute of `rank` beyond the mean, relative to it. Waits: the part of them
  /// whose root cause is `rank`. Lost cores: of the ranks' time.
  double share = 0;
  std::string function = {};              ///< of `rank`; "": not recorded, or no single one
  std::vector<std::string> callers = {};  ///< of `function`, as Blame::callers
  std::string call = {};                  ///< with most of that time, or some; "": none
  std::vector<std::string> path = {};     ///< of the calls that wait, outermost first
  uint64_t calls = 0;                     ///< messages: the number of these calls, all ranks
  bool of_messages = false;  ///< some of these calls send, receive or wait for messages
  uint64_t messages = 0;     ///< of the run, or sent by `function`; 0: unknown, or none
  bool of_run = false;       ///< `messages` are of the run, though `function` is named
  uint64_t bytes = 0;        ///< mean of a message
  std::vector<std::string> scenarios = {};  ///< that investigate it (`--on`)

  /// True if the run gains at most `seconds`; else they are what a replay saves.
  bool is_bound() const { return !is_saved && kind < FindingKind::kLatency; }
};

/// The terms of the elapsed time (LostTime), in seconds.
struct TimeTerms {
  double beside = 0;     ///< that only `measured` has
  double imbalance = 0;  ///< of compute
  double waits = 0;      ///< of `perfect`, beyond compute
  double transfer = 0;   ///< beyond `perfect`
};

/// What a finding is derived from.
struct FindingContext {
  const Roles& roles;
  const Diagnosis& diagnosis;
  const std::string& platforms;  ///< directory of platform files
  const Judgement& judgement;    ///< so far: without findings of the run
};

/// How findings of a kind are found: as a part of the run's time, as a property of a platform, or,
/// with neither, by the row of another kind.
struct FindingRow {
  struct Part {
    double TimeTerms::*term = nullptr;  ///< that the cost is part of
    /// The cost, as far as earlier rows left that much of the term; null: all that others leave.
    double (*seconds)(const Roles&) = nullptr;
    /// Adds place, rank, and scenarios to try. Null: the diagnosis does, or there are none.
    void (*details)(const FindingContext&, Finding&) = nullptr;
    /// The cost has the errors of overhead and losses of `perfect`, else its relative error.
    bool has_errors_of_losses = false;
  };
  struct Property {
    /// Puts it at its best; false if it takes no time on this platform.
    bool (*improve)(Scenario& platform) = nullptr;
    const char* change = nullptr;  ///< of the scenario, to be tried if it has an effect
    /// Later rows improve the improved platform, so that costs add up.
    bool stays = false;
  };

  FindingKind kind;
  const char* name;  ///< in reports and JSON
  Part part = {};
  Property property = {};
};
extern const std::array<FindingRow, kFindingKinds> kFindingRows;

inline const FindingRow& row_of(FindingKind kind) {
  return kFindingRows[static_cast<size_t>(kind)];
}

/// Why a run takes longer than the mean compute of its ranks: seconds of elapsed time that add up.
/// With c the compute of each rank, T the elapsed time of Roles::judged and T_p that on a perfect
/// interconnect,
///
///     T = mean c + (max c - mean c) + (T_p - max c) + (T - T_p)
///
/// The second term is load imbalance. The third consists of the own work of MPI calls, as far as it
/// makes a rank with compute longer than max c, of kept calls, of ranks that begin or end
/// at different times (both of the mean rank, as far as the term reaches), and of dependency
/// chains. The fourth consists of tracing between calls, of waits of the mean rank for late
/// receivers beyond those of `perfect`, and of messages; it is not known, and left at 0, if ranks
/// lacked cores (lost_cores.h). Each is at most what the run would gain without it; changes
/// interact, so a replay of the change tells more. `measured` also has the time of lost cores.
struct LostTime {
  double elapsed = 0;                           ///< of Roles::judged
  std::array<double, kFindingKinds> seconds{};  ///< by FindingKind, of those with a term

  double& operator[](FindingKind kind) { return seconds[static_cast<size_t>(kind)]; }
};

/// None without judged_efficiency().
std::optional<LostTime> lost_time(const Roles& roles);

/// Names the call with more than half of `all`, else those, three at most, that have a fifth each
/// and together more than half ("MPI_Alltoall and MPI_Bcast"), and how often all ranks make them.
/// `seconds`: of each of Results::calls.
void name_main_call(const std::vector<std::string>& calls, const ScenarioResult& scenario,
                    const std::vector<double>& seconds, double all, Finding& finding);

/// Sets the function, and the number and size of its messages; else, or if it sends none, of all
/// messages of the scenario. After the call, if there is one.
void name_messages(const ScenarioResult& scenario, const std::optional<CostlyFunction>& function,
                   Finding& finding);

/// The text of a scenario with further changes.
std::string with_changes(const ScenarioResult& scenario, const std::vector<std::string>& more);

/// The costliest first.
void sort_by_cost(std::vector<Finding>& findings);

}  // namespace rubato
