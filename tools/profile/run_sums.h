#pragma once

// The file of sums that `rubato trace --no-archive --report` writes (tracer/report/sums_file.h,
// share/doc/schemas/sums.schema.json), as the profile of a recorded run.

#include <memory>
#include <string>
#include <vector>

#include "replay/analyse/scenario_profile.h"
#include "replay/sources/step_source.h"
#include "tools/profile/network_estimates.h"

namespace rubato {

struct RunSums {
  Results results;  ///< one scenario, `measured`, without what only a trace has
  ScenarioProfile profile;
  std::string summary;              ///< "4 ranks, elapsed 12.3 s, ..."
  std::vector<std::string> notes;   ///< what the sums lack, a sentence each
  std::unique_ptr<RunSteps> steps;  ///< null: there are none
  uint64_t steps_one_of = 0;        ///< the share of the steps that are in `steps`
  WholeRun whole;
};

/// True for a file that begins as these files do.
bool is_run_sums(const std::string& path);

/// Errors: InputError.
std::unique_ptr<RunSums> read_run_sums(const std::string& path);

}  // namespace rubato
