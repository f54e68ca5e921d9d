#pragma once

#include "models/lanes.h"
#include "replay/trace/operation.h"

namespace rubato {

template <int K>
class WaitStates;

/// Sees every replayed call, in program order per timeline. The interleaving of timelines is that
/// of the run queue and has no meaning.
template <int K>
class Observer {
 public:
  virtual ~Observer() = default;

  /// Before a pass: the sums of its waits, which hold those of a call when call() hears of it; null
  /// where nobody sums them up. They live as long as the pass.
  virtual void watch_waits(const WaitStates<K>* waits) { (void)waits; }

  /// `call` of `timeline` left. `clock_before` and `recorded_before` are the leave of the call
  /// before it, replayed and recorded; `block` holds its actions and records.
  virtual void call(int timeline, const Call& call, const Block& block,
                    const Lanes<K>& clock_before, double recorded_before, const Lanes<K>& enter,
                    const Lanes<K>& leave) = 0;
};

}  // namespace rubato
