#pragma once

// The replay as a library, on one page: open an archive, describe machines, replay, read results.
// Rubato's own commands include it. With an installed Rubato:
//
//   find_package(Rubato REQUIRED)
//   target_link_libraries(app PRIVATE Rubato::replay)
//
//   #include "replay/rubato.h"
//
//   std::unique_ptr<rubato::EventSource> run = rubato::open_trace("run.otf2dir");
//   const std::vector<rubato::Scenario> machines = {
//       rubato::parse_scenario("measured"),
//       rubato::parse_scenario("cluster.toml:latency*0.5")};
//   const rubato::Results results = rubato::run_replay(*run, machines, {});
//   for (const rubato::ScenarioResult& machine : results.scenarios)
//     std::printf("%s: %g s\n", machine.name.c_str(), machine.elapsed);
//
// Errors are exceptions: InputError for a bad archive or file, with its name and the place;
// UsageError for a bad description of a machine. Times in results are seconds.
//
// Extensions: add_input_format() for archives of another kind (input_format.h;
// share/examples/goal-input), NetworkModel for another network (models/network/network_model.h;
// share/examples/network-model), Observer for what is kept of each call
// (replay/observe/observer.h).

#include "models/base/error.h"            // InputError, UsageError
#include "models/scenario/scenario.h"     // Scenario, parse_scenario()
#include "replay/observe/results.h"       // Results
#include "replay/run/replay_options.h"    // ReplayOptions
#include "replay/sources/input_format.h"  // open_trace(), add_input_format()
#include "replay/study/run_replay.h"      // run_replay(), summarize_archive()
