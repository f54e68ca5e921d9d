#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "replay/observe/critical_path.h"
#include "replay/observe/wait_causes.h"

namespace rubato {

/// The ranks that make others wait, and the critical path, of one scenario: WaitCauses and
/// CriticalPath in seconds and names.
struct CauseSummary {
  struct Wait {
    int rank = 0;
    std::string call;
    WaitPattern pattern = WaitPattern::kLateSender;
    uint64_t count = 0;
    double seconds = 0;
  };
  struct Pair {
    int waiting = 0;
    int causing = 0;
    double seconds = 0;
  };
  using Parts = std::vector<std::pair<std::string, double>>;  ///< by call, the largest first

  std::vector<Wait> waits;
  std::vector<Pair> direct;
  std::vector<double> roots;  ///< by rank

  // The path; its components add up to `elapsed`.
  double elapsed = 0;
  double late_start = 0;
  std::vector<double> compute;  ///< by rank
  Parts calls;                  ///< in calls that do not wait
  Parts crossings;              ///< by the call at the receiving end
  uint64_t hops = 0;
};

/// To be called after the replay.
CauseSummary cause_summary(const WaitCauses& causes, const CriticalPath& path,
                           const TraceDefinitions& trace);

}  // namespace rubato
