#pragma once

// If clocks disagree, calls may end before their cause: a message is received before it was sent, a
// barrier left before the last rank entered. These rules move such calls later. The method is the
// controlled logical clock of Rabenseifner, as Becker, Rabenseifner, Wolf and Linford (Scalable
// timestamp synchronization for event traces of message-passing applications, Parallel Computing
// 2009) extended it to collectives.
//
// Repair is a replay with rules of its own. Let ' mark repaired times, and W' be the time of the
// cause (the enter of the send, of the members of a collective, of the post of a synchronous send):
//
//   enter' = leave' of the previous call + compute as recorded
//   leave' = enter' + (leave - enter)                              of a call that does not wait
//   leave' = max(leave, W', enter' + min(leave - enter, floor))    of a call that waits
//
// So compute keeps its length to the tick. A call that leaves too early is moved to its cause, and
// later calls of its timeline move along until one waits: a wait may shrink to the least time of
// such a call in the archive (`floor`, a difference of times of one clock, hence reliable) and
// absorbs the shift. So shifts do not add up.
//
// No transfer time is added to W'. It could only be estimated from the clocks that disagree, and an
// excess would grow with each round trip. Without it, no shift exceeds the disagreement of the
// clocks.
//
// Times of causes and ends are those of calls. An archive has the record of a send some time after
// the enter, and that of a receive some time before the leave. Where these records must be in
// order, too, W' is the time of the send record, and leave' is not before W' + (leave - time of the
// receive record). Otherwise records are not kept, and these differences, some 0.1 us, are ignored.
//
// Calls never move to earlier times. Without violations nothing moves.

#include "replay/rules/recorded/measured_rules.h"

namespace rubato {

/// Repaired leaves of calls. Needs the minima of the recorded times and the eager limits found with
/// them.
class LogicalClockRules : private MeasuredRules<1> {
 public:
  static constexpr bool kMayBeDivided = false;
  using MeasuredRules<1>::kLanes;
  using MeasuredRules<1>::kFollowsRecording;
  using MeasuredRules<1>::compute;
  using MeasuredRules<1>::begin_call;
  using MeasuredRules<1>::post;
  using MeasuredRules<1>::matched;
  using MeasuredRules<1>::notify;
  using MeasuredRules<1>::level;

  /// `records`: records of messages must be in order, and the source keeps them.
  LogicalClockRules(const RecordedMinima& minima, const Placement& placement,
                    const EagerLimits& limits, bool records)
      : MeasuredRules<1>({MeasuredLane{}}, minima, placement, limits), records_(records) {}

  void send(TimelineState<1>& timeline, const Call& call, const Action& action,
            Transfer<1>& transfer) {
    MeasuredRules<1>::send(timeline, call, action, transfer);
    if (!records_) return;
    for (const Record& record : timeline.block.records_of(call)) {
      if (record.phase == RecordPhase::kHead)
        transfer.sent = timeline.enter + (record.time - call.enter);
    }
  }

  Lanes<1> leave(TimelineState<1>& timeline, const Call& call, const RuleContext<1>& context) {
    const double recorded = call.leave - call.enter;
    collect_causes(timeline, context);
    if (causes_.empty()) return timeline.enter + recorded;
    double leave = call.leave;
    const double behind = records_ ? behind_first_tail(timeline.block, call) : 0;
    for (const CauseOf& cause : causes_) leave = std::max(leave, cause.replayed[0] + behind);
    const double floor = std::min(recorded, minima_->floor[call.name].at(own_.bytes));
    return Lanes<1>(std::max(leave, timeline.enter[0] + floor));
  }

 private:
  /// From the first record behind the blocking point to the leave.
  static double behind_first_tail(const Block& block, const Call& call) {
    for (const Record& record : block.records_of(call)) {
      if (record.phase == RecordPhase::kTail) return call.leave - record.time;
    }
    return 0;
  }

  bool records_;
};

}  // namespace rubato
