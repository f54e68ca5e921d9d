#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <vector>

#include "calibrate/clock/global_clock.h"
#include "models/statistics/statistics.h"

namespace rubato {

/// How the members start together.
enum class ProcessSync { kBarrier, kWindow };
inline constexpr std::array<const char*, 2> kProcessSyncNames = {"barrier", "window"};

struct TimingOptions {
  ProcessSync sync = ProcessSync::kBarrier;
  StopRule rule;
  double budget = 0.1;                 ///< seconds; exceeded if four repetitions take longer
  int warm_up = 2;                     ///< calls that are not counted
  double window = 0;                   ///< seconds; 0: by the longest call
  double tukey_factor = kTukeyFactor;  ///< of the filter before `rule`; 0: none
};

/// Repeated observations of one call, in seconds, on the root; other members have none.
struct CollectiveTiming {
  std::vector<double> local;   ///< the longest time of a member in the call, by its own clock
  std::vector<double> global;  ///< latest end less earliest start, by the global clock
  std::vector<double> ended;   ///< when the latest member left, by the global clock
  int late = 0;                ///< dropped observations: a member missed the begin of the window
};

/// ReproMPI's Algorithm 1: `call` is timed until its run-times (global ones with windows, else
/// local ones) are certain enough after Tukey's filter, or at a limit. Collective over `comm`,
/// whose ranks all take part.
CollectiveTiming time_collective(MPI_Comm comm, const std::function<void()>& call,
                                 const TimingOptions& options, const GlobalClock& clock);

}  // namespace rubato
