#pragma once

// Other jobs on the same machine (--with). Each scenario is replayed with the archive's own job
// alone; if transfers share links, also with the others beside it:
//
//   run.otf2   ─┬─▶ alone     ──▶ results independent of other jobs: traffic, algorithms, notes
//               └─▶ join_jobs ──▶ one replay of all ranks ──▶ times of the first job's ranks
//   other.otf2 ───▶ (on nodes of its own)                 └─▶ elapsed times of the others
//
// Engine and models are not aware of jobs: for them it is one run, in which some ranks never
// communicate with others. If nothing is shared, jobs have no effect on each other, and only the
// first is replayed.

#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The nodes of a network that each job has.
struct JobNodes {
  std::string path;
  std::vector<int> asked;  ///< in this order; empty: the next free ones
  int count = 0;           ///< number of nodes that its ranks need
};
/// The first job has the nodes `taken`; the others get theirs: first the jobs that name nodes, then
/// the rest, in their order, the lowest free ones. `nodes`: number of nodes of the network; none:
/// unlimited. Errors: InputError if two jobs name the same node, a node that does not exist, or too
/// many.
std::vector<std::vector<int>> share_nodes(const std::vector<int>& taken, const std::string& owner,
                                          const std::vector<JobNodes>& others,
                                          std::optional<int> nodes);

/// replay_in_passes(), beside options.jobs if there are any. Errors: likewise; InputError if the
/// archives cannot be joined, if their nodes do not fit a scenario's network, and if calls lack
/// their partners: ranks that wait for missing records continue when all the others have ended,
/// which here depends on the other job.
Results replay_with_jobs(EventSource& source, const std::vector<Scenario>& scenarios,
                         const ReplayOptions& options);

}  // namespace rubato
