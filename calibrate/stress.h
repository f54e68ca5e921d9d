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
/// received bit, until the time is over or a bit is wrong. All ranks call it; rank 0 prints the
/// number of checked bytes and the first difference. Returns true on every rank if all bits were
/// right.
///
/// RUBATO_STRESS_FLIP=N in the environment flips a bit of the Nth message received by rank 1, to
/// show that it is found.
bool run_stress(const StressOptions& options);

}  // namespace rubato
