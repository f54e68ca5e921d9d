// Requests: partitioned messages, unsuccessful tests, sends that are held back, cancelled or
// followed by others, receives whose message was probed.

#include <algorithm>

#include "replay/calls/call_builder.h"

namespace rubato {

void CallBuilder::some_partition_ready() {
  if (book_->partitioned.empty()) return;
  for (auto& [request, message] : book_->partitioned) leave_here(message);
  Call& call = pending_.calls.back();
  call.actions = static_cast<uint32_t>(pending_.actions.size()) - call.first_action;
}

void CallBuilder::partition_ready(uint64_t event, double time, uint64_t request) {
  ensure_call(event, time);
  note_inside(event, time, false);
  const auto message = book_->partitioned.find(request);
  if (message != book_->partitioned.end()) {
    leave_here(message->second);
  } else {
    add_action(ActionKind::kNone);
  }
  if (implicit_) close_call(time);
}

void CallBuilder::start_partitioned(uint64_t request) {
  Action send = pending_.actions.back();
  pending_.actions.pop_back();
  send.flags &= static_cast<uint8_t>(~(kPartitioned | kInBurst | kSecondOfBurst));
  send.message.tag |= kPartitionedTag;
  RequestBook::PartitionedSend& message = book_->partitioned[request];
  message.send = send;
  leave_here(message);
}

void CallBuilder::leave_here(RequestBook::PartitionedSend& message) {
  const auto [before, number] = message.leaves;
  if (before != nullptr) before->resolve(number);
  add_action(ActionKind::kNone);
  message.leaves = {this, note_posted()};
}

void CallBuilder::settle_partitioned(uint64_t request) {
  const auto message = book_->partitioned.find(request);
  if (message == book_->partitioned.end()) return;
  const auto [builder, number] = message->second.leaves;
  builder->action_of(number) = message->second.send;
  builder->resolve(number);
  book_->partitioned.erase(message);
}

void CallBuilder::request_test(uint64_t event, double time, uint64_t request) {
  note_inside(event, time, false);
  const RequestBook::OpenPost* open = book_->receives.find(request);
  if (!open_ || !open) return;
  add_action(ActionKind::kTested).request.slot = open->poster->action_of(open->number).message.slot;
  pending_.calls.back().spinning |= kNamesTests;
}

void CallBuilder::settle_tests(Call& call) {
  const auto first = pending_.actions.begin() + call.first_action;
  const auto is_test = [](const Action& action) { return action.kind == ActionKind::kTested; };
  if (std::all_of(first, pending_.actions.end(), is_test)) return;
  // It completed something: the requests that it found incomplete do not count.
  call.spinning &= ~kNamesTests;
  for (auto action = first; action != pending_.actions.end(); ++action) {
    if (is_test(*action)) *action = {};
  }
}

void CallBuilder::settle_unseen(uint64_t request) {
  settle_partitioned(request);
  settle_send(request);
}

bool CallBuilder::cancel_partitioned(uint64_t request) {
  const auto message = book_->partitioned.find(request);
  if (message == book_->partitioned.end()) return false;
  const auto [builder, number] = message->second.leaves;
  builder->resolve(number);  // resolved, so that no unresolved post stays
  book_->partitioned.erase(message);
  return true;
}

bool CallBuilder::follows_open_send() const {
  // Another thread may have completed it, and reused its request.
  const uint32_t* slot = book_->send_slots.find(last_send_.request);
  return slot && *slot == last_send_.slot;
}

void CallBuilder::hold_send(uint64_t request) {
  book_->held_sends.put(request, {this, note_posted()});
}

void CallBuilder::settle_send(uint64_t request) {
  if (const auto held = book_->held_sends.take(request)) held->poster->resolve(held->number);
}

void CallBuilder::cancelled(uint64_t event, double time, uint64_t request) {
  note_inside(event, time, true);
  if (const auto receive = book_->receives.take(request)) {
    receive->poster->make_void(receive->number);
  } else if (const auto slot = book_->send_slots.take(request)) {
    const bool freed = open_ && trace_->calls[pending_.calls.back().name].frees_request;
    if (freed) settle_unseen(request);  // it is unknown whether the cancellation was in time
    if (const auto held = book_->held_sends.take(request)) {
      held->poster->make_void(held->number);
    } else {
      // A partitioned message is held back anyway.
      if (!freed && !cancel_partitioned(request)) has_cancelled_sends_ = true;
      book_->free_slot(*slot);
    }
  } else {
    return;
  }
  if (open_) add_action(ActionKind::kNone);  // this call completed it without waiting
}

namespace {

bool same_message(const Action& a, const Action& b) {
  return a.comm == b.comm && a.message.peer == b.message.peer && a.message.tag == b.message.tag;
}

}  // namespace

void CallBuilder::probed(uint64_t, double, uint32_t comm, int32_t peer, uint32_t tag,
                         uint8_t wildcards) {
  Action& found = add_action(ActionKind::kProbe);
  found.comm = comm;
  found.message = {.peer = peer, .tag = tag};
  // A repeated probe finds the same message again.
  std::erase_if(probed_, [&](const Action& each) { return same_message(each, found); });
  if (wildcards == 0) return;
  if (probed_.size() == kMostProbed) probed_.erase(probed_.begin());
  probed_.push_back(found);
  probed_.back().flags = wildcards;
  receives_after_probe_ = 0;
}

void CallBuilder::find_poll() {
  if (trace_->knows_probes || pending_.calls.back().first_action != pending_.actions.size()) return;
  const size_t last = pending_.calls.size() - 2 - local_calls_;
  const Call& poll = pending_.calls[last];
  if (is_a_poll(poll) && trace_->calls[poll.name].probes) found_something(last);
}

void CallBuilder::found_something(size_t call) {
  if (open_probe_ != kNone) return;  // the same message, found again
  Call& probe = pending_.calls[call];
  const size_t at = probe.first_action;
  Action found;
  found.kind = ActionKind::kProbe;
  found.flags = kInferred;
  found.message = {};
  pending_.actions.insert(pending_.actions.begin() + static_cast<std::ptrdiff_t>(at), found);
  for (size_t i = call + 1; i < pending_.calls.size(); ++i) ++pending_.calls[i].first_action;
  ++probe.actions;
  probe.spinning &= static_cast<uint8_t>(~kOnlyLoses);
  posted_.push_back({call_base_ + call, action_base_ + at});
  ++unresolved_;
  open_probe_ = posted_base_ + posted_.size() - 1;
}

size_t CallBuilder::take_probe() {
  const bool sends = pending_.actions[pending_.calls.back().first_action].kind == ActionKind::kSend;
  return sends ? kNone : std::exchange(open_probe_, kNone);
}

void CallBuilder::settle_probe(size_t number, const Action& receive) {
  if (number == kNone || number < posted_base_ || posted(number).resolved) return;
  Action& probe = action_of(number);
  if (receive.kind == ActionKind::kPost) {
    probe.comm = receive.comm;
    probe.message.peer = receive.message.peer;
    probe.message.tag = receive.message.tag;
  } else {
    probe = {};
    probe.kind = ActionKind::kTested;  // of nothing: the call keeps its time
    pending_.calls[posted(number).call - call_base_].spinning |= kNamesTests;
  }
  resolve(number);
}

void CallBuilder::ask_as_probed(Action& receive) {
  const auto probe = std::find_if(probed_.begin(), probed_.end(),
                                  [&](const Action& each) { return same_message(each, receive); });
  if (probe == probed_.end()) {
    if (++receives_after_probe_ == kReceivesAfterProbe) probed_.clear();
    return;
  }
  receive.flags |= probe->flags;
  probed_.erase(probe);
  receives_after_probe_ = 0;
}

void CallBuilder::make_void(size_t number) {
  Action& action = action_of(number);
  if (const uint32_t* slot = request_of(action)) book_->free_slot(*slot);
  action = {};
  resolve(number);
}

void CallBuilder::give_up(size_t number) {
  Oddity& open = action_of(number).kind == ActionKind::kPost ? open_receives_ : open_collectives_;
  if (open.count++ == 0) {
    const auto released = released_.find(number);
    const bool is_released = released != released_.end();
    const Call* call = is_released ? nullptr : &pending_.calls[posted(number).call - call_base_];
    const uint64_t event = is_released ? released->second.event : call->event;
    const uint16_t name = is_released ? released->second.name : call->name;
    open.first = trace_->name_of(timeline_) + ", event " + std::to_string(event) + " (" +
                 trace_->calls[name].name + ")";
  }
  make_void(number);
}

}  // namespace rubato
