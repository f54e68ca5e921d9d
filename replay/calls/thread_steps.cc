// Threads of a rank outside of MPI: creations, begins, ends and joins become calls of role kThread,
// whose actions refer to each other by slots. The records of all timelines of a rank are read here
// in the order of time (rank_calls.h), so that both sides of a dependency can be found.
//
// A join waits for a thread that is a timeline. A join of another thread is computation, because
// that thread is known to end at its recorded time and no sooner. A join that was recorded to leave
// before the thread ended is held back until the end is seen: where the thread did nothing in
// between, the records are slightly out of order; otherwise the join did not wait for this end.

#include <utility>

#include "replay/calls/call_builder.h"

namespace rubato {

void CallBuilder::add_thread_call(uint64_t event, double time, ActionKind kind, uint8_t flags,
                                  uint32_t slot) {
  ensure_call(event, time);
  pending_.calls.back().role = CallRole::kThread;
  Action& action = add_action(kind);
  action.flags = flags;
  action.thread.step = slot;
}

void CallBuilder::thread_create(uint64_t event, double time, ThreadName thread) {
  if (!book_->has_threads() || open_) return note_inside(event, time, false);
  RequestBook::Thread& created = book_->threads[thread];
  const bool has_begun = created.builder != nullptr && !created.is_over;
  if (has_begun) return note_inside(event, time, false);  // the clocks disagree
  created = {};
  created.created = book_->allocate_slot();
  add_thread_call(event, time, ActionKind::kThreadStep, 0, created.created);
  note_inside(event, time, false);
  close_call(time);
}

void CallBuilder::thread_begin(uint64_t event, double time, ThreadName thread) {
  if (!book_->has_threads() || open_) return note_inside(event, time, false);
  if (thread_) end_thread(last_event_, last_time_, false);
  const bool is_first = !begun_;
  RequestBook::Thread& begun = book_->threads[thread];
  begun.builder = this;
  begun.ended = book_->allocate_slot();
  begun.is_over = false;
  thread_ = thread;
  const uint32_t created = std::exchange(begun.created, kNoSlot);
  const bool is_created = created != kNoSlot;
  if (!is_created || !is_first || timeline_ < trace_->ranks()) {
    if (is_created) add_thread_call(event, time, ActionKind::kAwaitThread, kBegins, created);
    note_inside(event, time, false);
    if (is_created) close_call(time);
    return;
  }
  note_inside(event, time, false);
  Call& begin = pending_.calls.back();
  begin.actions = 1;
  Action& action = add_action(ActionKind::kAwaitThread);
  action.flags = kBegins;
  action.thread.step = created;
}

void CallBuilder::thread_end(uint64_t event, double time, ThreadName thread) {
  if (open_ || thread_ != thread) return note_inside(event, time, false);
  end_thread(event, time, true);
}

void CallBuilder::end_thread(uint64_t event, double time, bool is_on_record) {
  RequestBook::Thread& ended = book_->threads[*thread_];
  const size_t calls = calls_so_far();
  add_thread_call(event, time, ActionKind::kThreadStep, 0, ended.ended);
  if (is_on_record) note_inside(event, time, false);
  close_call(time);
  ended.is_over = true;
  thread_.reset();
  const auto early_join = std::exchange(ended.early_join, {});
  if (!early_join) return;
  CallBuilder& joiner = *early_join->poster;
  if (calls == ended.calls_then) {
    joiner.resolve(early_join->number);
    is_joined_ = true;
  } else {
    joiner.make_void(early_join->number);
  }
}

void CallBuilder::thread_wait(uint64_t event, double time, ThreadName thread) {
  const bool in_join = open_ && pending_.calls.back().role == CallRole::kThread;
  const auto found = book_->threads.find(thread);
  const bool known = found != book_->threads.end() && found->second.builder != nullptr &&
                     found->second.builder != this;
  if (!known || (open_ && !in_join)) return note_inside(event, time, true);
  RequestBook::Thread& joined = found->second;
  if (!joined.is_over && (joined.builder->open_ || joined.builder->finished_))
    return note_inside(event, time, true);
  add_thread_call(event, time, ActionKind::kAwaitThread, 0, joined.ended);
  if (joined.is_over) {
    joined.builder->is_joined_ = true;
  } else {
    joined.early_join = RequestBook::OpenPost{this, note_posted()};
    joined.calls_then = joined.builder->calls_so_far();
  }
  joined.builder = nullptr;  // it is waited for only once
  note_inside(event, time, true);
  if (implicit_) close_call(time);
}

}  // namespace rubato
