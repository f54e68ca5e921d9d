#pragma once

#include "replay/analyse/run_windows.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

struct Scenario;

/// True if the first scenario of `results` has efficiencies over time. False where the whole run
/// has none: after a deadlock, if several threads of a rank call MPI, if part of the run was not
/// recorded, or if the scenario changes compute.
bool has_efficiencies_over_time(const Results& results);

/// The places of its windows, to be observed in one more replay of it. REQUIRES as above.
WindowMarks window_marks(const TraceDefinitions& trace, const ScenarioResult& run);

/// The efficiencies over time of `run`, from observed marks and a replay on a perfect interconnect.
/// Empty without compute. Errors: as run_replay().
EfficienciesOverTime efficiencies_over_time(EventSource& source, const WindowMarks& marks,
                                            const ScenarioResult& run, ReplayOptions options);
/// The same with both replays; empty without has_efficiencies_over_time().
EfficienciesOverTime efficiencies_over_time(EventSource& source, const Scenario& scenario,
                                            const Results& results, ReplayOptions options);

}  // namespace rubato
