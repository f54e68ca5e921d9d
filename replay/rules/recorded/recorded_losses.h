#pragma once

// What threads lost to others and to the tracer, and when. A thread that waits for one without a
// core waits longer by that, also for a message that was sent before: its sender could not go on
// with it, or its receiver.

#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

/// Times are ticks as recorded. Calls and gaps of a timeline are added in their order.
class RecordedLosses {
 public:
  /// A call that ended then lost so much. That is placed at its end: a call that waits ends soon
  /// after its thread has the core again.
  void add_call(int timeline, double end, const Lost& lost);
  /// The thread had no core from `begin` to `end`, or as long somewhere from `begin` to the next
  /// call: it is spread over this gap.
  void add_gap(int timeline, double begin, double end);
  /// To be told of each call, before its own loss.
  void next_call(int timeline, double enter);

  bool empty() const { return of_.empty(); }

  /// What the timeline lost between two times.
  Lost between(int timeline, double from, double to) const;

 private:
  struct Loss {
    double end;
    float length;  ///< of the time over which it is spread
    float flushing, stolen;
    bool is_open;  ///< the call behind the gap has not come
  };
  void add(int timeline, const Loss& loss);

  std::vector<std::vector<Loss>> of_;  ///< by timeline
};

}  // namespace rubato
