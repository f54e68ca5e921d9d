#pragma once

// What threads lost to others and to the tracer, and when. A thread that waits for one without a
// core waits longer by that, also for a message that was sent before: its sender could not go on
// with it, or its receiver.

#include <vector>

#include "replay/trace/operation.h"

namespace rubato {

class RecordedLosses {
 public:
  /// A call of a timeline from `begin` to `end`, ticks as recorded, that lost so much. Calls come
  /// in their order, here and below.
  void add_call(int timeline, double begin, double end, const Lost& lost);
  /// A gap behind a call, of which that was lost. It ends with the next call.
  void add_gap(int timeline, double begin, double end, const Lost& lost);
  void next_call(int timeline, double enter);

  bool empty() const { return of_.empty(); }

  /// What the timeline lost between two times. The loss of a call is placed at its end: a call that
  /// waits ends soon after its thread has the core again. That of a gap may have been anywhere in
  /// it, and is spread evenly.
  Lost between(int timeline, double from, double to) const;

 private:
  struct Loss {
    double end;
    float length, flushing, stolen;
    bool is_gap;
    bool is_open;  ///< the call behind the gap has not come
  };
  void add(int timeline, const Loss& loss);

  std::vector<std::vector<Loss>> of_;  ///< by timeline
};

}  // namespace rubato
