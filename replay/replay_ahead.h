#pragma once

// The part of the engine that asks for memory ahead of time.
//
// With hundreds of timelines what a replay looks at is more than the nearer caches hold, and one
// that runs next finds nothing of its own there: its state, its calls, the messages that it waits
// for or is about to send. One leads to the other, so they are asked for in steps, one step each
// time a timeline is chosen to run; run_queue.h knows who follows it.

#include <algorithm>

#include "replay/hot.h"
#include "replay/replay.h"

namespace rubato {

template <class Rules>
int Replay<Rules>::pop_ready() {
  const int timeline = ready_.pop();
  if (kTimeOrdered<Rules> || timelines_.size() <= kFewTimelines) return timeline;
  const std::span<const int> following = ready_.following();
  if (following.size() >= 3) {
    fetch_lines(&timelines_[following[2]], sizeof(TimelineState<K>));
    if (profile_) profile_->fetch(following[2]);
    if (waits_) waits_->fetch(following[2]);
  }
  if (following.size() >= 2) {
    fetch_calls(timelines_[following[1]]);
  }
  if (!following.empty()) {
    fetch_messages(following[0]);
  }
  for_next_channels(timelines_[timeline], [&](ChannelId id) {
    matcher_.fetch_first(id);
    if (waits_) waits_->fetch_send(matcher_.first(id));
  });
  return timeline;
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
  fetch_lines(state.awaited.data(), state.awaited.capacity() * sizeof(Awaited), 8 * kCacheLine);
}

template <class Rules>
void Replay<Rules>::fetch_messages(int timeline) const {
  const TimelineState<K>& state = timelines_[timeline];
  if (state.unpacker) state.unpacker->fetch_next();
  if (state.next_call == state.calls) return;
  const Block& block = state.block;
  const Call& call = block.calls[state.next_call];
  if (profile_) profile_->fetch(timeline, call);
  if (call.actions > 0) {
    // Those of the calls behind it mostly follow, or begin again at the first.
    constexpr size_t kMost = 24;
    const size_t here = std::min(kMost, block.actions.size() - call.first_action);
    const size_t again = std::min<size_t>(kMost - here, call.first_action);
    fetch_lines(&block.actions[call.first_action], here * sizeof(Action));
    fetch_lines(block.actions.data(), again * sizeof(Action));
    if (call.actions > 1 && !block.traffic.empty())
      fetch_lines(&block.traffic[call.first_action], sizeof(Traffic));
  }
  if (state.in_call) {
    for (size_t i = state.next_awaited; i < state.awaited.size(); ++i) {
      const Awaited& awaited = state.awaited[i];
      if (awaited.kind >= Awaited::Kind::kCollective || awaited.transfer == kNoTransfer) continue;
      matcher_.fetch(awaited.transfer);
      if (waits_) waits_->fetch_send(awaited.transfer);
    }
  }
  for_next_channels(state, [&](ChannelId id) { matcher_.fetch_channel(id); });
}

template <class Rules>
template <typename Visit>
void Replay<Rules>::for_next_channels(const TimelineState<K>& state, Visit visit) const {
  if (state.next_call == state.calls) return;
  // Only sends and posts have channels. The actions of the calls behind mostly follow, or begin
  // again at the first.
  const Call& call = state.block.calls[state.next_call];
  const size_t known = state.channels.size();
  size_t at = call.first_action + (state.in_call ? call.actions : 0);
  for (size_t ahead = std::min(kActionsAhead, known); ahead > 0; --ahead, ++at) {
    if (at >= known) at = 0;
    const KnownChannel& channel = state.channels[at];
    if (channel.generation == 0) return;
    visit(channel.id);
  }
}

}  // namespace rubato
