#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measure/collective_timing.h"
#include "calibrate/plan/time_plan.h"
#include "models/collective/collectives.h"
#include "models/placement/placement.h"

namespace rubato {

/// The collectives to measure, and how.
struct CollectivesEffort {
  std::vector<CollectiveOp> operations;  ///< none: nothing is measured
  ProcessSync sync = ProcessSync::kBarrier;
  Pace pace;
  size_t max_bytes = 4 << 20;
  std::vector<size_t> lengths;  ///< payloads; empty: collective_lengths()
  int repetitions = 0;          ///< of an experiment, at most; 0: as many as the pace has time for
  unsigned seed = 1;
  ClockMethod clock = ClockMethod::kHca3;  ///< of windows
  double window = 0;                       ///< seconds; 0: by each experiment
  double tukey_factor = kTukeyFactor;
  size_t cold_bytes = 0;  ///< of each buffer that calls walk through; 0: data stay in the caches
  std::function<bool()> stop;  ///< asked on rank 0 between experiments
  std::function<void(const std::string&)> progress;
};

/// One collective at one number of processes and one payload.
struct CollectiveSample {
  CollectiveOp op = CollectiveOp::kBarrier;
  int processes = 2;
  Level level = Level::kNode;  ///< that of the most distant members
  size_t bytes = 0;
  CollectiveTiming timing;
};

/// The payload from which on members synchronise with each other; absent = none of the tried ones.
struct SyncLimit {
  CollectiveOp op = CollectiveOp::kBcast;
  int processes = 2;
  Level level = Level::kNode;
  std::optional<size_t> held_from;
};

/// The results, on rank 0.
struct CollectiveResults {
  ProcessSync sync = ProcessSync::kBarrier;
  double tukey_factor = kTukeyFactor;  ///< for the means and medians of samples
  std::vector<CollectiveSample> samples;
  std::vector<SyncLimit> limits;
  int limits_skipped = 0;  ///< operations whose limit was not measured, for lack of time
  int skipped = 0;         ///< experiments without observations, for lack of time or due to a stop
};

/// Planned time of all, seconds.
double collectives_seconds(const CollectivesEffort& effort);

/// The largest buffers of a rank at one time, at most 64 MiB.
size_t collectives_memory(const CollectivesEffort& effort, size_t max_bytes, int ranks);

/// Measures on communicators of process_counts() of the ranks, in random order. Collective over all
/// ranks of `world`; ranks that an experiment does not need sleep.
CollectiveResults measure_collectives(MPI_Comm world, const CollectivesEffort& effort);

}  // namespace rubato
