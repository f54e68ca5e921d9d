#pragma once

// If clocks disagree, calls may end before their cause: a message is received before it was sent, a
// barrier left before the last rank came. These rules move such calls later. The method is the
// controlled logical clock of Rabenseifner, as Becker, Rabenseifner, Wolf and Linford (Scalable
// timestamp synchronization for event traces of message-passing applications, Parallel Computing
// 2009) extended it to collectives.
//
// Repair is a replay with rules of its own. Let ' mark repaired times, and W' be the time of the
// cause (the enter of the send, of the members of a collective, of the post of a synchronous send):
//
//   enter' = leave' of the call before + compute as recorded
//   leave' = enter' + (leave - enter)                              of a call that waits for nobody
//   leave' = max(leave, W', enter' + min(leave - enter, floor))    of a call that waits
//
// So compute keeps its length to the tick. A call that leaves too early is moved to its cause, and
// later calls of its timeline move along until one waits: a wait may shrink to the least time of
// such a call in the archive (`floor`, a difference of one clock, hence reliable) and absorbs the
// shift. So shifts do not add up.
//
// No transfer time is added to W'. Only the clocks that disagree could tell it, and an excess would
// grow with each message to and fro. As it is, no shift exceeds the disagreement of the clocks.
//
// Calls never move to earlier times. Without violations nothing moves.

#include "replay/rules/measured_rules.h"

namespace rubato {

/// Repaired leaves of calls. Needs the minima of the recorded times and the eager limits found with
/// them.
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
