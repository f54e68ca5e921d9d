#pragma once

#include <vector>

#include "models/placement/placement.h"
#include "models/scenario/scenario.h"
#include "replay/engine/replay_outcome.h"
#include "replay/observe/results.h"
#include "replay/trace/function_times.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Fills the facts about an archive that stand in its definitions, in what reading it `counted`,
/// and in the `outcome` of the first pass that came to its end; not `clock_violations`.
void summarize_trace(const TraceDefinitions& trace, const Placement& placement,
                     const EventSource::Counts& counted, const ReplayOutcome& outcome,
                     TraceSummary& summary);

/// One scenario after its pass.
struct PlayedScenario {
  const Scenario& scenario;
  const Placement& placement;  ///< of the scenario
  const TraceDefinitions& trace;
  const ReplayOutcome& outcome;
  const ClippedOverhead& clipped;
  bool overhead_known;  ///< what recording cost
  bool tells_sockets;   ///< some scenario of the run has a level for sockets
};

/// Fills the facts about a scenario beyond its times. `result.collectives` are there already.
void summarize_scenario(const PlayedScenario& played, ScenarioResult& result);

/// Time that a rank lost while it waited has a row of its own, and is no part of `mpi`: waits that
/// are longer than that are shortened.
void keep_waits_in_mpi(RankResult& rank);

/// Where no MPI_Finalize ends a rank (its program was killed), a thread may compute beyond the end
/// of the run, which is that of the last main thread or call: what it does there is no part of it.
void end_with_the_run(RankResult& rank);

/// The same with bins counted from the start of the run, not in the clock of the replay, and with
/// its span.
LinkLoads from_the_start(LinkLoads links, const ScenarioResult& result);

/// The functions that compute, in the order of `names`.
std::vector<FunctionResult> compute_of_functions(const std::vector<FunctionName>& names,
                                                 const FunctionTotals& totals,
                                                 const TraceDefinitions& trace);

/// True when the platform file was measured on the nodes of the archive with its MPI library, and
/// the scenario changes nothing of it.
bool is_own_machine(const Scenario& scenario, const TraceDefinitions& trace);

}  // namespace rubato
