#pragma once

#include <cstdint>

namespace rubato {

/// Why one process makes a replay that was to be divided.
enum class OneProcess : uint8_t {
  kEveryCall,    ///< somebody looks at every call
  kTimeOrder,    ///< contention, or receives matched by arrival
  kWindows,      ///< one-sided communication
  kRepair,       ///< times that violate the order of cause and effect
  kLosses,       ///< time without a core, or for the tracer's buffer, that a scenario takes out
  kOutcomes,     ///< recorded outcomes that a scenario contradicts
  kOtherJobs,    ///< other jobs run beside the archive's
  kHoles,        ///< some rank waits for what never comes
  kDiffers,      ///< a record differs from the recording
  kTwoArchives,  ///< processes see different archives under one name
  kFailed,       ///< something went wrong in some process
};

/// Thrown in all processes at once.
struct NeedsOneProcess {
  OneProcess why;
};

}  // namespace rubato
