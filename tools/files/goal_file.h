#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "models/scenario/scenario.h"
#include "replay/run/replay_options.h"
#include "replay/trace/trace.h"

namespace rubato {

/// How a GOAL schedule has collectives.
enum class GoalCollectives : uint8_t {
  kMessages,  ///< the messages of the algorithm that the scenario's platform chooses
  kOne,       ///< along a binomial tree to the first member and back: all members wait for all
};

/// Writes the run as a GOAL schedule in LogGOPSim's text format (Hoefler, Siebert and Lumsdaine,
/// "Group Operation Assembly Language", 2009), piece by piece: computation in nanoseconds as in a
/// replay of `scenario`, which must have a platform; messages as matched in the recording; from the
/// leave of MPI_Init to the enter of MPI_Finalize. Errors: as run_replay(); InputError if several
/// threads of a rank communicate, or the replay deadlocks. Returns what the schedule does not
/// express, for a warning; "" if there is nothing.
std::string write_goal(EventSource& source, const Scenario& scenario, ReplayOptions options,
                       GoalCollectives collectives,
                       const std::function<void(const std::string&)>& write);

}  // namespace rubato
