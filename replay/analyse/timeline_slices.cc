#include "replay/analyse/timeline_slices.h"

#include <utility>

namespace rubato {

TimelineSlices::TimelineSlices(const TraceDefinitions& trace, SliceSink& sink)
    : sink_(&sink), begun_(trace.timelines()), waited_(trace.timelines()) {
  sink.begin();
}

void TimelineSlices::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  waited_[timeline] = waited;
}

void TimelineSlices::call(int timeline, const Call& call, const Block& block,
                          const Lanes<1>& clock_before, double recorded_before,
                          const Lanes<1>& enter, const Lanes<1>& leave) {
  const Waited waited = std::exchange(waited_[timeline], {});
  if (call.role == CallRole::kBegin) {
    if (begun_[timeline]) {
      begun_.assign(begun_.size(), 0);
      waited_.assign(waited_.size(), {});
      received_.clear();
      sink_->begin();
    }
    begun_[timeline] = 1;
    return;
  }
  for (const Delivery& delivery : received_) sink_->message(delivery, leave[0]);
  received_.clear();
  Slice slice;
  slice.timeline = timeline;
  slice.call = &call;
  slice.recorded = call.enter - recorded_before;
  const auto emit = [&](SliceKind kind, double begin, double end) {
    slice.kind = kind;
    slice.begin = begin;
    slice.end = end;
    sink_->slice(slice);
  };
  // (A thread that waits for another one counts as compute.)
  const bool computes = call.role == CallRole::kEnd || call.role == CallRole::kThread;
  const double until = computes ? leave[0] : enter[0];
  if (until > clock_before[0]) emit(SliceKind::kCompute, clock_before[0], until);
  switch (call.role) {
    case CallRole::kMpi:
    case CallRole::kInit:
    case CallRole::kFinalize:
      slice.traffic = block.traffic_of(call);
      emit(SliceKind::kCall, enter[0], leave[0]);
      if (!(waited.wait > 0)) return;
      slice.waited = waited;
      return emit(SliceKind::kWait, enter[0], enter[0] + waited.kept * waited.wait);
    case CallRole::kOff:
      return emit(SliceKind::kNotRecorded, enter[0], leave[0]);
    case CallRole::kFlush:
    case CallRole::kStolen:
      if (leave[0] == enter[0]) return;  // the scenario removes it
      return emit(call.role == CallRole::kFlush ? SliceKind::kFlush : SliceKind::kStolen, enter[0],
                  leave[0]);
    default:
      return;
  }
}

}  // namespace rubato
