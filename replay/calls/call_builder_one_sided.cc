// The records of one-sided communication.

#include "replay/calls/call_builder.h"

namespace rubato {

void CallBuilder::one_sided(uint64_t event, double time, uint32_t window, int32_t target,
                            uint64_t sent, uint64_t received, bool fetches, uint64_t number) {
  ensure_call(event, time);
  note_inside(event, time, false);
  const uint32_t* open = book_->one_sided_slots.find(number);
  const uint32_t slot = open ? *open : book_->allocate_slot();
  if (!open) book_->one_sided_slots.put(number, slot);
  Action& action = add_action(ActionKind::kOneSided);
  action.flags = fetches ? kFetches : 0;
  action.comm = window;
  action.one_sided = {.target = target, .slot = slot, .bytes = sent};
  if (fetches) add_action(ActionKind::kFetch).one_sided = {.bytes = received};
  if (implicit_) close_call(time);
}

void CallBuilder::one_sided_done(uint64_t event, double time, uint32_t window, uint64_t number,
                                 bool remote) {
  ensure_call(event, time);
  note_inside(event, time, true);
  const uint32_t* open = book_->one_sided_slots.find(number);
  Action& action = add_action(open ? ActionKind::kOneSidedDone : ActionKind::kNone);
  if (open) {
    action.flags = remote ? kRemote : 0;
    action.comm = window;
    action.one_sided = {.slot = *open};
    if (remote) {
      book_->free_slot(*open);
      book_->one_sided_slots.take(number);
    }
  }
  if (implicit_) close_call(time);
}

void CallBuilder::epoch(uint64_t event, double time, uint32_t window, uint32_t group) {
  ensure_call(event, time);
  note_inside(event, time, true);
  if (trace_->groups[group].empty()) add_action(ActionKind::kNone);
  for (const int32_t peer : trace_->groups[group]) {
    Action& action = add_action(ActionKind::kEpoch);
    action.comm = window;
    action.epoch = {.peer = peer, .step = trace_->calls[pending_.calls.back().name].epoch};
  }
  if (implicit_) close_call(time);
}

void CallBuilder::lock(uint64_t event, double time, uint32_t window, int32_t target,
                       bool exclusive) {
  ensure_call(event, time);
  note_inside(event, time, false);
  Action& action = add_action(ActionKind::kLock);
  action.flags = exclusive ? kExclusive : 0;
  action.comm = window;
  action.one_sided = {.target = target};
  if (implicit_) close_call(time);
}

void CallBuilder::unlock(uint64_t event, double time, uint32_t window, int32_t target) {
  ensure_call(event, time);
  note_inside(event, time, true);
  Action& action = add_action(ActionKind::kUnlock);
  action.comm = window;
  action.one_sided = {.target = target};
  if (implicit_) close_call(time);
}

}  // namespace rubato
