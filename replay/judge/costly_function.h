#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The function of the program whose MPI calls take most time besides waiting for other ranks.
struct CostlyFunction {
  std::string function;              ///< its place: "exchange (app.c:12)"
  std::vector<std::string> callers;  ///< on its call path with most of this time, if recorded
  double share = 0;                  ///< of this time of all functions, 0 to 1
  std::string call;                  ///< with most of it
  uint64_t messages = 0, bytes = 0;  ///< that it sends, without collectives
};

/// Replays the scenario, a model or one with recorded times. None if the archive does not tell
/// which functions make calls, or note_places() was not called. Errors: as run_replay().
std::optional<CostlyFunction> costly_function(EventSource& source, const Scenario& scenario,
                                              ReplayOptions options);

/// True for calls that send or receive messages, or wait for them.
bool is_of_messages(const std::string& call);

}  // namespace rubato
