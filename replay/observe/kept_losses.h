#pragma once

#include "models/scenario/scenario.h"
#include "replay/trace/operation.h"

namespace rubato {

/// Losses of calls (kLoses) that a scenario keeps. They are no part of the time of calls, nor of
/// waits.
struct KeptLosses {
  bool flushes = false;  ///< Lost::flushing
  bool stolen = false;   ///< Lost::stolen

  /// Ticks of `call`.
  double in(const Call& call, const Block& block) const {
    if (!(call.spinning & kLoses) || !(flushes || stolen)) return 0;
    const Lost lost = lost_in(block.actions_of(call));
    return (flushes ? lost.flushing : 0) + (stolen ? lost.stolen : 0);
  }
};

/// Models keep none. `keep_stolen`: as ReplayOptions.
inline KeptLosses kept_losses(const Scenario& scenario, bool keep_stolen) {
  const bool measured = scenario.basis == Basis::kMeasured;
  return {measured, measured || (keep_stolen && scenario.basis == Basis::kUndisturbed)};
}

}  // namespace rubato
