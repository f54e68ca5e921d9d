#pragma once

// Time that threads lost to other processes and to the tracer. A thread that waits for one without
// a core waits longer by that time, also for a message that was sent before: its sender, or its
// receiver, could not process it meanwhile.

#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// Times are recorded ticks. Calls and gaps of a timeline are added in their order.
class RecordedLosses {
 public:
  /// A call that ended at `end` lost this much. The loss is placed at its end: a call that waits
  /// ends soon after its thread has the core again.
  void add_call(int timeline, double end, const Lost& lost);
  /// The thread had no core from `begin` to `end`, or for as long somewhere between `begin` and the
  /// next call: the loss is spread over this gap.
  void add_gap(int timeline, double begin, double end);
  /// To be called for each call, before its own loss.
  void next_call(int timeline, double enter);

  bool empty() const { return of_.empty(); }

  /// Loss of the timeline between two times.
  Lost between(int timeline, double from, double to) const;

 private:
  struct Loss {
    double end;
    float length;  ///< of the interval over which it is spread
    float flushing, stolen;
    bool is_open;  ///< the call after the gap has not been added
  };
  void add(int timeline, const Loss& loss);

  std::vector<std::vector<Loss>> of_;  ///< by timeline
};

}  // namespace rubato
