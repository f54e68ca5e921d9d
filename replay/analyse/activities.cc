#include "replay/analyse/activities.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

Activity activity_of(WaitPattern pattern) {
  static_assert(static_cast<int>(Activity::kOneSided) - static_cast<int>(Activity::kLateSender) ==
                static_cast<int>(WaitKind::kOneSided) - static_cast<int>(WaitKind::kLateSender));
  return static_cast<Activity>(static_cast<int>(Activity::kLateSender) +
                               static_cast<int>(kind_of(pattern)));
}

/// The activity of an MPI call while it does not wait, from its first action.
Activity class_of(const Call& call, const Block& block) {
  for (const Action& action : block.actions_of(call)) {
    switch (action.kind) {
      case ActionKind::kNone:
        continue;
      case ActionKind::kSend:
      case ActionKind::kPost:
      case ActionKind::kWaitSend:
      case ActionKind::kWaitReceive:
      case ActionKind::kTested:
      case ActionKind::kProbe:
        return Activity::kMessages;
      case ActionKind::kCollective:
      case ActionKind::kStartCollective:
      case ActionKind::kWaitCollective:
      case ActionKind::kParts:
        return Activity::kCollectives;
      case ActionKind::kOneSided:
      case ActionKind::kFetch:
      case ActionKind::kOneSidedDone:
      case ActionKind::kEpoch:
      case ActionKind::kLock:
      case ActionKind::kUnlock:
        return Activity::kOneSidedCalls;
      case ActionKind::kThreadStep:
      case ActionKind::kAwaitThread:
      case ActionKind::kLost:
        return Activity::kMpi;
    }
  }
  return Activity::kMpi;
}

}  // namespace

Activities::Activities(const TraceDefinitions& trace, KeptLosses kept)
    : trace_(&trace), kept_(kept), timelines_(trace.timelines()) {}

void Activities::know_places(const EventSource& source, std::vector<int> number_of_function) {
  source_ = &source;
  number_of_function_ = std::move(number_of_function);
  stacks_.emplace(source);
}

void Activities::begin() {
  if (stacks_) stacks_->begin();
  const CallPlaces* places = source_ ? source_->call_places() : nullptr;
  for (int timeline = 0; timeline < trace_->timelines(); ++timeline) {
    timelines_[timeline] = {};
    if (places) timelines_[timeline].reader.emplace(*places, timeline);
  }
}

// Functions have the same shares of the gap as in the recording, and the same order.
void Activities::compute(int timeline, const Call& call, const CallPlace* place,
                         double recorded_before, double from, double to) {
  if (!(to > from)) return;
  if (!place) return span(timeline, {from, to, Activity::kCompute});
  place->divide(call.enter - recorded_before, from, to,
                [&](double begin, double end, const FunctionPart* part) {
                  ActivitySpan in{begin, end, Activity::kCompute};
                  if (part) {
                    const int number = part->function < number_of_function_.size()
                                           ? number_of_function_[part->function]
                                           : -1;
                    if (number >= 0) in.activity = static_cast<Activity>(kActivities + number);
                    in.function = part->function;
                    in.stack = stacks_->of_path(timeline, part->path);
                  }
                  span(timeline, in);
                });
}

void Activities::waited(int timeline, const Call& /*call*/, const Waited& waited) {
  timelines_[timeline].wait = waited.kept * waited.wait;
  timelines_[timeline].what = activity_of(waited.pattern);
}

void Activities::polled(int timeline, std::span<const PolledWait> polls, double begin,
                        const Waited& waited) {
  const double end = std::min(waited.cause, waited.enter);
  if (!timelines_[timeline].over && end > begin)
    polls_waited(timeline, polls, begin, end, activity_of(waited.pattern));
}

void Activities::call(int timeline, const Call& call, const Block& block,
                      const Lanes<1>& clock_before, double recorded_before, const Lanes<1>& enter,
                      const Lanes<1>& leave) {
  Timeline& state = timelines_[timeline];
  const double wait = std::exchange(state.wait, 0);
  if (call.role == CallRole::kBegin || state.over) return;
  if (call.role == CallRole::kInit) return window_begins(timeline, leave[0]);
  const CallPlace* place = state.reader ? &state.reader->at(call.event) : nullptr;
  compute(timeline, call, place, recorded_before, clock_before[0], enter[0]);
  ActivitySpan in{enter[0], leave[0]};
  if (call.role == CallRole::kFinalize) {
    state.over = true;
  } else if (call.role == CallRole::kMpi) {
    in.call = call.name;
    if (place) {
      std::tie(in.function, in.site) = std::tie(place->function, place->site);
      in.stack = stacks_->of_call(timeline, *place);
    }
    // The position of a loss in the call is unknown: it is put at its end.
    const double lost = std::min(kept_.in(call, block), leave[0] - enter[0]);
    const double own = leave[0] - lost, until = std::min(enter[0] + wait, own);
    if (until > enter[0]) {
      in.to = until;
      in.activity = state.what;
      in.calls = until == own ? 1 : 0;
      span(timeline, in);
    }
    if (until < own || until == enter[0]) {
      std::tie(in.from, in.to) = std::pair(until, own);
      in.activity = class_of(call, block);
      in.calls = 1;
      span(timeline, in);
    }
    if (lost > 0) {
      std::tie(in.from, in.to) = std::pair(own, leave[0]);
      in.activity = Activity::kOther;
      in.calls = 0;
      span(timeline, in);
    }
  } else if (leave[0] > enter[0]) {
    in.activity = call.role == CallRole::kThread ? Activity::kCompute : Activity::kOther;
    span(timeline, in);
  }
}

}  // namespace rubato
