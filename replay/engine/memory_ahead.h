#pragma once

// The part of the engine that asks for memory ahead of time.
//
// With hundreds of timelines what a replay looks at is more than the nearer caches hold, and one
// that runs next finds nothing of its own there: its state, its calls, the messages that it waits
// for or is about to send. One leads to the other, so they are asked for in steps, one step each
// time a timeline is chosen to run; run_queue.h knows who follows it. What it is about to send is
// not known before its next calls are read, so that is asked for where those that waited in such a
// call before it did send something next.

#include <algorithm>

#include "replay/engine/replay.h"
#include "replay/store/hot.h"

namespace rubato {

template <class Rules>
int Replay<Rules>::pop_ready() {
  const int timeline = ready_.pop();
  if (kTimeOrdered<Rules> || timelines_.size() <= kFewTimelines) return timeline;
  const std::span<const int> following = ready_.following();
  if (following.size() >= 3) {
    const TimelineState<K>& third = timelines_[following[2]];
    fetch_lines(&third, third.often_looked_at());
    if (waits_) waits_->fetch(following[2]);
  }
  if (following.size() >= 2) {
    fetch_calls(timelines_[following[1]]);
  }
  if (!following.empty()) {
    fetch_messages(following[0]);
  }
  note_starts(timelines_[timeline]);
  if (!may_start(timelines_[timeline])) return timeline;
  for_next_channels(timelines_[timeline], [&](ChannelId id) {
    matcher_.fetch_first(id);
    if (waits_) waits_->fetch_send(matcher_.first(id));
  });
  return timeline;
}

template <class Rules>
size_t Replay<Rules>::waits_in(const TimelineState<K>& state) const {
  if (!state.in_call || state.next_call == state.calls) return trace_->calls.size();
  return state.block.calls[state.next_call].name;
}

template <class Rules>
bool Replay<Rules>::may_start(const TimelineState<K>& state) const {
  return starts_after_[waits_in(state)];
}

template <class Rules>
void Replay<Rules>::note_starts(const TimelineState<K>& state) {
  starts_after_[last_waited_in_] = started_messages_ != started_before_;
  last_waited_in_ = waits_in(state);
  started_before_ = started_messages_;
}

template <class Rules>
void Replay<Rules>::fetch_calls(const TimelineState<K>& state) const {
  fetch_lines(state.unpacker, kCacheLine);
  if (state.next_call == state.calls) return;
  const Block& block = state.block;
  fetch_lines(&block.calls[state.next_call], (state.calls - state.next_call) * sizeof(Call),
              8 * kCacheLine);
  fetch_lines(state.channels.data(), state.channels.size() * sizeof(KnownChannel), 8 * kCacheLine);
  fetch_lines(state.slots.data(), state.slots.size() * sizeof(TransferId), 2 * kCacheLine);
  const auto awaited = state.awaited.room();
  fetch_lines(awaited.data(), awaited.size_bytes(), 8 * kCacheLine);
}

template <class Rules>
void Replay<Rules>::fetch_messages(int timeline) const {
  const TimelineState<K>& state = timelines_[timeline];
  if (state.unpacker) state.unpacker->fetch_next();
  if (state.next_call == state.calls) return;
  const Block& block = state.block;
  const Call& call = block.calls[state.next_call];
  if (profile_) profile_->fetch(timeline, call);
  const bool starts = may_start(state);
  if (call.actions > 0 && starts) {
    // Those of the calls behind it mostly follow, or begin again at the first.
    constexpr size_t kMost = 24;
    const size_t first = call.has_common_actions() ? block.actions.size() : call.action_index();
    const size_t here = std::min(kMost, block.actions.size() - first);
    const size_t again = std::min(kMost - here, first);
    fetch_lines(block.actions.data() + first, here * sizeof(Action));
    fetch_lines(block.actions.data(), again * sizeof(Action));
    if (call.actions > 1 && !call.has_common_actions() && !block.traffic.empty())
      fetch_lines(&block.traffic[first], sizeof(Traffic));
  }
  if (state.in_call) {
    for (const AwaitedList::Entry& entry : state.awaited.entries().subspan(state.next_awaited)) {
      if (!entry.is_plain) continue;
      matcher_.fetch(entry.number);
      if (waits_) waits_->fetch_send(entry.number);
    }
  }
  if (starts) for_next_channels(state, [&](ChannelId id) { matcher_.fetch_channel(id); });
}

template <class Rules>
template <typename Visit>
void Replay<Rules>::for_next_channels(const TimelineState<K>& state, Visit visit) const {
  if (state.next_call == state.calls) return;
  // Only sends and posts have channels. The actions of the calls behind mostly follow, or begin
  // again at the first: behind all others are those that calls have in common.
  const Call& call = state.block.calls[state.next_call];
  const size_t known = state.channels.size();
  size_t at =
      call.has_common_actions() ? known : call.action_index() + (state.in_call ? call.actions : 0);
  for (size_t ahead = std::min(kActionsAhead, known); ahead > 0; --ahead, ++at) {
    if (at >= known) at = 0;
    const KnownChannel& channel = state.channels[at];
    if (channel.generation == 0) return;
    visit(channel.id);
  }
}

}  // namespace rubato
