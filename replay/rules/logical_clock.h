#pragma once

// Clocks that disagree show calls that end before what they waited for: a message received before
// it was sent, a barrier left before the last rank came. This file puts such calls right, forward
// in time, and nothing else: the idea is the controlled logical clock of Rabenseifner, as Becker,
// Rabenseifner, Wolf and Linford (Scalable timestamp synchronization for event traces of
// message-passing applications, Parallel Computing 2009) extended it to collectives.
//
// It is a replay with rules of its own. With ' for repaired times and W' for when what a call waits
// for happened (the enter of the send, of the members of a collective, of the post that a
// synchronous send waits for):
//
//   enter' = leave' of the call before + compute as recorded
//   leave' = enter' + (leave - enter)                              of a call that waits for nobody
//   leave' = max(leave, W', enter' + min(leave - enter, floor))    of a call that waits
//
// So compute keeps its length to the tick. Whoever leaves too early is moved to what he waited for,
// and all that he does later moves with him, until he waits again: a wait may shrink to the least
// that such a call takes anywhere in the archive (`floor`, a difference of one clock, so that it
// can be trusted), and takes up the shift. That is what keeps shifts from adding up.
//
// Nothing is added for the way of a message from W' on. The archive could only say how long that is
// by the very clocks that disagree, and too large a figure would grow with each message that goes
// to and fro. As it is, no shift is larger than what the clocks disagree by.
//
// Calls are only ever moved to later times. Where nothing is violated, nothing moves.

#include "replay/rules/measured_rules.h"

namespace rubato {

/// When calls should have left. Needs the minima of the recorded times, and the eager limits it
/// found.
class LogicalClockRules : private MeasuredRules<1> {
 public:
  using MeasuredRules<1>::kLanes;
  using MeasuredRules<1>::kFollowsRecording;
  using MeasuredRules<1>::compute;
  using MeasuredRules<1>::begin_call;
  using MeasuredRules<1>::send;
  using MeasuredRules<1>::post;
  using MeasuredRules<1>::matched;
  using MeasuredRules<1>::tell;
  using MeasuredRules<1>::level;

  LogicalClockRules(const RecordedMinima& minima, const Placement& placement,
                    const EagerLimits& limits)
      : MeasuredRules<1>({MeasuredLane{}}, minima, placement, limits) {}

  Lanes<1> leave(TimelineState<1>& timeline, const Call& call, const RuleContext<1>& context) {
    const double recorded = call.leave - call.enter;
    collect_causes(timeline, context);
    if (causes_.empty()) return timeline.enter + recorded;
    double leave = call.leave;
    for (const CauseOf& cause : causes_) leave = std::max(leave, cause.replayed[0]);
    const double floor = std::min(recorded, minima_->floor[call.name].at(own_.bytes));
    return Lanes<1>(std::max(leave, timeline.enter[0] + floor));
  }
};

}  // namespace rubato
