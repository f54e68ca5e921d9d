#pragma once

#include <cstdint>

namespace rubato {

/// How far a clock is from the clock of rank 0's node at one moment.
struct ClockOffset {
  uint64_t time = 0;   ///< ticks of the local clock
  int64_t offset = 0;  ///< to add to it
  double deviation = 0;
};

}  // namespace rubato
