#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/judge/efficiency.h"
#include "replay/judge/roles.h"

namespace rubato {

/// The factor that a finding lowers, and how.
enum class FindingKind : uint8_t {
  kTracing,             ///< transfer, without communication
  kMessages,            ///< transfer
  kMessagesAndTracing,  ///< transfer, of `measured`
  kUnequalWork,         ///< load balance
  kKeptCalls,           ///< serialisation, as the next two
  kApart,
  kChains
};

/// Why a run takes longer than it could, and where.
struct Finding {
  FindingKind kind = FindingKind::kTracing;
  double saves = 0;  ///< seconds of the elapsed time without it, at most, if nothing else changed
  /// Transfer: beyond `perfect`; kept calls, ranks apart: of the mean rank. Else 0.
  double seconds = 0;
  /// Unequal work: compute of `rank` beyond the mean, relative to it; dependency chains: share of
  /// all waits with `rank` as their root cause.
  double share = 0;
  int rank = -1;  ///< -1: no single one
  std::string
      function;  ///< of `rank`, with most of that compute or of those waits; "": no single one
  /// Transfer: with most of the time; dependency chains: with the longest waits. "": no single one.
  std::string call;
  uint64_t calls = 0;           ///< transfer: number of these calls, in all ranks
  bool mostly_tracing = false;  ///< transfer: most of it is tracing between calls
  /// Scenarios that investigate it (`--on`).
  std::vector<std::string> scenarios;
};

/// What is said about the efficiency of a run.
struct Judgement {
  std::optional<JudgedEfficiency> efficiency;
  /// Of the smallest factor; none without factors, or if little can be gained.
  std::optional<Finding> main_cause;
  /// The findings of at least 1 % of the elapsed time, largest first. Raising a factor f to 1 saves
  /// (1 - f) T if the others stay. Empty where Roles::judged has no factors.
  std::vector<Finding> cures;
};
/// `platforms`: the directory of platform files that scenarios name.
Judgement judge(const Roles& roles, const std::string& platforms = "");

/// True if ranks send messages or take part in collectives other than MPI_Finalize. REQUIRES
/// `perfect` or another scenario that prices collectives.
bool communicates(const Results& results);

}  // namespace rubato
