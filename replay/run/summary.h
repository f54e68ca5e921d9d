#pragma once

#include <vector>

#include "models/placement/placement.h"
#include "models/scenario/scenario.h"
#include "replay/engine/replay_outcome.h"
#include "replay/observe/results.h"
#include "replay/trace/recording_overhead.h"
#include "replay/trace/trace.h"

namespace rubato {

/// Sets the facts about an archive from its definitions, from the counts of its reader (`counted`),
/// and from the `outcome` of the first complete pass; without `clock_violations`.
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
  bool overhead_known;  ///< the cost of recording is known
  bool tells_sockets;   ///< some scenario of the run has a level for sockets
};

/// Sets the facts about a scenario beyond its times. `result.collectives` must be set.
void summarize_scenario(const PlayedScenario& played, ScenarioResult& result);

/// Losses of a rank while it waited have a row of their own, and are no part of `mpi`: waits that
/// exceed `mpi` are shortened.
void keep_waits_in_mpi(RankResult& rank);

/// If no MPI_Finalize ends a rank (its program was killed), a thread may compute beyond the end of
/// the run, which is that of the last main thread or call: that time is removed.
void end_with_the_run(RankResult& rank);

/// The same with bins relative to the start of the run instead of the clock of the replay, and with
/// its length.
LinkLoads from_the_start(LinkLoads links, const ScenarioResult& result);

/// True when the platform file was measured on the nodes of the archive with its MPI library, and
/// the scenario changes nothing of it.
bool is_own_machine(const Scenario& scenario, const TraceDefinitions& trace);

}  // namespace rubato
