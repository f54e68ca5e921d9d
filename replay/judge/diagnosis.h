#pragma once

#include <string>
#include <vector>

#include "replay/judge/roles.h"
#include "replay/observe/waited.h"
#include "replay/study/run_replay.h"
#include "replay/trace/trace.h"

namespace rubato {

/// What ranks wait for on a perfect interconnect besides unequal compute: the facts behind findings
/// on dependency chains, late roots and synchronisation.
struct Diagnosis {
  /// Waits in the calls of one name.
  struct Waits {
    std::string call;
    WaitPattern pattern = WaitPattern::kLateSender;  ///< of most of them
    double share = 0;                                ///< of all these waits, 0 to 1
    int rank = -1;          ///< root cause of most of them (wait_causes.h); -1: none
    double rank_share = 0;  ///< of the waits in these calls
    /// "solve (app.c:12)": the function in which the rank spends most of that time; "": not
    /// recorded, or no single one.
    std::string function;
  };
  std::vector<Waits> waits;  ///< the longest first; shares add up to 1 if there are any
};

/// True if a diagnosis costs one more replay, because dependency chains take at least 2 % of the
/// elapsed time.
bool needs_diagnosis(const Roles& roles);

/// Replays `perfect` once more if needs_diagnosis(); else the diagnosis is empty. Names functions
/// if note_places() was called on the source. Errors: as run_replay().
Diagnosis diagnose(EventSource& source, const Roles& roles, ReplayOptions options);

}  // namespace rubato
