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
  /// A gap between two calls began then. It ends with the next call.
  void add_gap(int timeline, double begin, double end, const Lost& lost);
  void next_call(int timeline, double enter);

  bool empty() const { return of_.empty(); }

  /// What the timeline lost between two times. Of what a call lost, as much as there is time for:
  /// whoever waits for the thread leaves soon after it has its core again. What a gap lost may have
  /// been anywhere in it, and is spread evenly.
  Lost between(int timeline, double from, double to) const;

 private:
  struct Loss {
    double end;
    float length, flushing, stolen;
    bool is_gap;
  };
  void add(int timeline, const Loss& loss);

  std::vector<std::vector<Loss>> of_;  ///< by timeline
};

}  // namespace rubato
