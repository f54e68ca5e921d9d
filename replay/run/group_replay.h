#pragma once

#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/observe/results.h"
#include "replay/rules/compute_changes.h"
#include "replay/run/replay_options.h"
#include "replay/run/scenario_groups.h"

namespace rubato {

class Passes;
class Recording;

/// The scenarios of a run, how they are replayed, and where their results are kept.
struct ReplayedScenarios {
  const std::vector<Scenario>& list;
  const ReplayOptions& options;
  bool by_arrival = false;  ///< receives from any source are matched by arrival
  TimedFunctions functions;
  Results& results;
};

/// Makes a planned pass and keeps the results of its scenarios. It is repeated when it turns out to
/// need more facts of the recording, and divided when its scenarios turn out to differ in their
/// dependency structure. Errors: InputError; NeedsOneProcess if it is divided among processes.
void make_pass(const PlannedPass& pass, const ReplayedScenarios& scenarios, Passes& passes,
               Recording& recording);

}  // namespace rubato
