#pragma once

// The elapsed time of a run without an archive on other networks, as MPInside's models "in flight"
// (section 4 of its paper): a replay of the steps that the ranks kept
// (replay/sources/step_source.h).

#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/run/replay_options.h"
#include "replay/sources/step_source.h"
#include "tools/format/table.h"

namespace rubato {

/// The whole run, in seconds; means of the ranks.
struct WholeRun {
  double elapsed = 0;
  double mpi = 0;    ///< in MPI calls, with a core
  double lost = 0;   ///< without a core, and of the tracer
  double calls = 0;  ///< to MPI
};

struct NetworkEstimate {
  std::string scenario;
  double elapsed = 0;
  double half_width = 0;  ///< of a 95 % confidence interval, of the choice of steps alone
  std::string deadlock;   ///< then the above is not known
};

struct NetworkEstimates {
  bool is_exact = false;  ///< of nearly all calls of the run
  std::vector<NetworkEstimate> scenarios;
  /// Calls that cannot be replayed, and keep their time: their share of MPI time, and their names.
  double kept = 0;
  std::set<std::string> kept_calls;
};

/// `one_of`: the share of the steps that was kept. If they have nearly all calls of the run, a
/// scenario takes as long as their replay. Else, with D what a scenario takes less than the steps
/// did, without their losses, and M their calls or their MPI time, whichever has the smaller error,
/// both summed over groups of steps (ratio estimation: Cochran, Sampling Techniques, 1977,
/// section 6.3):
///
///   elapsed = measured - lost - R (M of the run, but for steps too long to be kept),
///   R = sum D / sum M
///
/// with an interval from the groups' D - R M. Errors: InputError where that are fewer than
/// kFewestSteps steps, or where they do not represent the run: a time is not above 0.
NetworkEstimates estimate_networks(const RunSteps& steps, uint64_t one_of, const WholeRun& whole,
                                   const std::vector<Scenario>& scenarios,
                                   const ReplayOptions& options);
inline constexpr size_t kFewestSteps = 8;

/// The estimates beside the measured time; without one, the reason in JSON.
Table network_table(const NetworkEstimates& estimates, double measured);

}  // namespace rubato
