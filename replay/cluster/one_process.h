#pragma once

#include <cstdint>

namespace rubato {

/// Why one process makes a replay that was to be divided.
enum class OneProcess : uint8_t {
  kEveryCall,    ///< an observer needs every call
  kTimeOrder,    ///< contention, or receives matched by arrival
  kWindows,      ///< one-sided communication
  kRepair,       ///< times that violate the order of cause and effect
  kLosses,       ///< losses (cores, flushes) that a scenario removes
  kOutcomes,     ///< recorded outcomes that a scenario contradicts
  kOtherJobs,    ///< other jobs run beside the archive's
  kHoles,        ///< some rank waits for an event that never happens
  kDiffers,      ///< a record differs from the recording
  kTwoArchives,  ///< processes see different archives under one name
  kFailed,       ///< an error in some process
};

/// Thrown in all processes together.
struct NeedsOneProcess {
  OneProcess why;
};

}  // namespace rubato
