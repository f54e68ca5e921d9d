#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>

namespace rubato {

struct StressOptions {
  double seconds = 30;
  size_t max_bytes = 4 << 20;
  unsigned seed = 1;
  std::function<bool()> stop;  ///< asked on rank 0
};

/// Sends messages of random patterns, modes, lengths and numbers among all ranks and compares every
/// bit that arrives, until the time is over or one is wrong. All ranks call it; rank 0 prints how
/// many bytes were checked and the first difference. Returns, on every rank, whether all were
/// right.
///
/// RUBATO_STRESS_FLIP=N in the environment turns a bit of the Nth message that rank 1 receives, to
/// show that it would be found.
bool run_stress(const StressOptions& options);

}  // namespace rubato
