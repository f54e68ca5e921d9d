#pragma once

#include "replay/engine/replay.h"
#include "replay/rules/recorded/recorded_minima.h"

namespace rubato {

/// The results of the first pass over a recording; `outcome`, if given, receives its outcome.
inline RecordedMinima minima_of(EventSource& source, const Placement& placement,
                                const EagerLimits& limits, const LockOrder* locks = nullptr,
                                ReplayOutcome* outcome = nullptr) {
  RecordedMinima minima;
  MinimaRules rules(minima, placement, limits, source.definitions());
  const ReplayOutcome said = replay_calls(source, rules, {.locks = locks});
  if (outcome) *outcome = said;
  minima.finish();
  return minima;
}

}  // namespace rubato
