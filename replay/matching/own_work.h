#pragma once

#include <algorithm>

#include "replay/matching/timeline_state.h"

namespace rubato {

/// True if own_work() of a call of `timeline` may be more than 0.
template <int K>
bool may_have_own_work(const TimelineState<K>& timeline, const Call& call,
                       const TraceDefinitions& trace) {
  if (call.spinning & kLoses || trace.timelines() == 1) return true;
  const auto awaited = timeline.awaited.entries();
  return !awaited.empty() && awaited[0].kind == Awaited::Kind::kCollective;
}

struct OwnWork {
  double ticks = 0;
  int32_t callback = 0;  ///< as LostAction::callback, if callbacks are most of it; else 0
};

/// Recorded ticks of an MPI call in which no other rank and no network took part: callbacks of the
/// program; all of a blocking collective of one member, and of any call of a run of one timeline;
/// what follows the enter of the last member that creates a communicator or window (which includes
/// a synchronisation).
template <int K>
OwnWork own_work(const TimelineState<K>& timeline, const Call& call,
                 const RuleContext<K>& context) {
  if (call.role != CallRole::kMpi) return {};
  Lost lost;
  if (call.spinning & kLoses) lost = lost_in(timeline.block.actions_of(call));
  const auto work = [&](double ticks) {
    return OwnWork{ticks, 2 * lost.own > ticks ? lost.callback : 0};
  };
  const double all = std::max(0.0, call.leave - call.enter - lost.flushing - lost.stolen);
  if (context.trace->timelines() == 1) return work(all);
  const OwnWork callbacks{std::min(lost.own, all) + lost.packing, lost.callback};
  const auto entries = timeline.awaited.entries();
  if (entries.empty() || entries[0].kind != Awaited::Kind::kCollective) return callbacks;
  const Awaited& awaited = timeline.awaited.other(entries[0]);
  const Action& action = *awaited.action;
  if (action.kind != ActionKind::kCollective) return callbacks;
  if (context.trace->comms[action.comm].size() <= 1) return work(all);
  const auto& instance = context.collectives->get(action.comm, awaited.instance);
  if (action.op != CollectiveOp::kCreateHandle || instance.abandoned) return callbacks;
  const double last = std::max(call.enter, instance.arrived.recorded_last);
  return work(std::clamp(call.leave - last - lost.flushing - lost.stolen, 0.0, all));
}

}  // namespace rubato
