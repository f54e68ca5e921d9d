#pragma once

// Other jobs on the same machine (--with). Each scenario is replayed with the archive's own job
// alone; where transfers share something, once more with the others beside it:
//
//   run.otf2   ─┬─▶ alone     ──▶ what is the same either way: traffic, algorithms, notes
//               └─▶ join_jobs ──▶ one replay of all ranks ──▶ times of the first job's ranks
//   other.otf2 ───▶ (on nodes of its own)                 └─▶ elapsed times of the others
//
// Neither engine nor models know of it: to them it is one run, of whose ranks some never talk to
// others. Where nothing is shared, jobs cannot feel each other, and only the first is replayed.

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/driver.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The nodes of a network that each job has.
struct JobNodes {
  std::string path;
  std::vector<int> asked;  ///< in this order; empty: the next free ones
  int count = 0;           ///< how many its ranks need
};
/// The first job has the nodes `taken`; the others get theirs: first those that ask for some, then
/// the rest, in their order, the lowest that are free. `nodes`: of the network, none: as many as
/// needed. Errors: InputError where jobs want the same node, one there is not, or too many.
std::vector<std::vector<int>> share_nodes(const std::vector<int>& taken, const std::string& owner,
                                          const std::vector<JobNodes>& others,
                                          std::optional<int> nodes);

/// run_replay() with options.jobs. Errors: likewise; InputError where archives do not go together,
/// where their nodes do not fit a scenario's network, and where calls lack their partners: ranks
/// that wait for what is not on record go on when all the others have ended, which here depends on
/// the other job.
Results replay_beside_others(EventSource& source, const std::vector<Scenario>& scenarios,
                             const ReplayOptions& options);

}  // namespace rubato
