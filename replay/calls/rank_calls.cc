#include "replay/calls/rank_calls.h"

#include <algorithm>

namespace rubato {

RankCalls::RankCalls(const TraceDefinitions& trace, const std::vector<int>& timelines)
    : numbers_(!trace.threads.empty()) {
  const auto book = std::make_shared<RequestBook>(timelines.size() == 1);
  for (const int timeline : timelines) {
    threads_.push_back(std::make_unique<Timeline>(trace, timeline, book));
  }
  if (threads_.size() > 1) return;
  only_ = &threads_[0]->builder;
  merged_until_ = std::numeric_limits<double>::infinity();  // no records to merge
}

void RankCalls::keep_records(bool keep) {
  for (auto& thread : threads_) thread->builder.keep_records(keep);
}

void RankCalls::hold_sends() {
  for (auto& thread : threads_) thread->builder.hold_sends();
}

void RankCalls::release_open_actions() {
  if (!numbers_) only_->release_open_actions();
}

bool RankCalls::has_cancelled_sends() {
  if (!only_) merge();
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const auto& thread) { return thread->builder.has_cancelled_sends(); });
}

void RankCalls::end(int thread) {
  threads_[thread]->ended = true;
  if (only_) {
    only_->finish();
  } else if (threads_[thread]->queue.empty()) {
    threads_[thread]->builder.end();
  }
}

int RankCalls::missing() const {
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (!threads_[i]->ended && threads_[i]->queue.empty()) return static_cast<int>(i);
  }
  return -1;
}

bool RankCalls::take(int thread, Block& block) {
  Timeline& timeline = *threads_[thread];
  if (!numbers_) return timeline.builder.take(block);
  if (!only_) merge();
  number();
  const Block& pending = timeline.builder.pending();
  size_t settled = 0;
  while (settled < timeline.numbered && pending.calls[settled].leave <= settled_until_) ++settled;
  timeline.numbered -= settled;
  return timeline.builder.take(block, settled);
}

void RankCalls::merge() {
  while (missing() < 0) {
    if (give_first()) continue;
    for (auto& thread : threads_) thread->builder.finish();
    return;
  }
}

bool RankCalls::give_first() {
  Timeline* first = nullptr;
  // At equal times the thread with the lower number is first.
  double before = std::numeric_limits<double>::infinity();  // of threads with lower numbers
  double behind = std::numeric_limits<double>::infinity();  // of threads with higher numbers
  for (auto& thread : threads_) {
    if (thread->queue.empty()) continue;
    const double time = thread->queue.time();
    if (!first || time < first->queue.time()) {
      if (first) before = std::min(before, first->queue.time());
      behind = std::numeric_limits<double>::infinity();
      first = thread.get();
    } else {
      behind = std::min(behind, time);
    }
  }
  if (!first) return false;
  RecordQueue& queue = first->queue;
  do {
    merged_until_ = queue.time();
    queue.give_next(first->builder);
  } while (!queue.empty() && queue.time() < before && queue.time() <= behind);
  if (first->ended && queue.empty()) first->builder.end();
  return true;
}

void RankCalls::number() {
  for (;;) {
    // The thread whose next call was entered first. The actions of a call that is not ready are
    // unknown.
    double earliest = std::numeric_limits<double>::infinity();
    Timeline* next = nullptr;
    for (auto& thread : threads_) {
      const auto& calls = thread->builder.pending().calls;
      const bool is_there = thread->numbered < calls.size();
      if (!is_there && thread->builder.finished()) continue;
      const double enter = is_there ? calls[thread->numbered].enter : merged_until_;
      if (enter >= earliest) continue;
      earliest = enter;
      next = thread->numbered < thread->builder.ready() ? thread.get() : nullptr;
    }
    settled_until_ = earliest;
    if (!next) return;
    number(*next);
  }
}

void RankCalls::number(Timeline& timeline) {
  Block& pending = timeline.builder.pending();
  const Call& call = pending.calls[timeline.numbered++];
  for (size_t i = call.first_action; i < call.first_action + call.actions; ++i) {
    Action& action = pending.actions[i];
    if (action.kind == ActionKind::kCollective) {
      action.collective.order = ++counts_[{ActionKind::kCollective, 0, action.comm, 0}].last;
    } else if (action.kind == ActionKind::kStartCollective) {
      const uint32_t persistent = action.start.persistent;
      action.start.order = ++counts_[{ActionKind::kCollective, 0, action.comm, persistent}].last;
    } else if (action.kind == ActionKind::kEpoch) {
      EpochAction& epoch = action.epoch;
      const auto step = static_cast<uint32_t>(epoch.step);
      epoch.order = ++counts_[{action.kind, epoch.peer, action.comm, step}].last;
    } else if (action.kind == ActionKind::kProbe) {
      MessageAction& found = action.message;
      found.order = counts_[{ActionKind::kPost, found.peer, action.comm, found.tag}].last + 1;
    } else if (is_message(action)) {
      MessageAction& message = action.message;
      Count& count = counts_[{action.kind, message.peer, action.comm, message.tag}];
      message.order = ++count.last;
      const bool blocks = action.kind == ActionKind::kPost && action.flags & kBlocking;
      if (blocks && !only_) {
        order_by_end(count, {call.leave, &timeline, timeline.builder.actions_taken() + i},
                     call.enter);
      }
    }
  }
}

void RankCalls::order_by_end(Count& count, const OpenReceive& receive, double enter) {
  std::erase_if(count.open, [&](const OpenReceive& other) {
    const bool taken = other.action < other.timeline->builder.actions_taken();
    return other.leave <= enter || taken;  // `taken` where a clock ran backwards
  });
  count.open.push_back(receive);
  if (count.open.size() == 1) return;
  const auto order_of = [](const OpenReceive& open) -> uint32_t& {
    return open.timeline->builder.pending()
        .actions[open.action - open.timeline->builder.actions_taken()]
        .message.order;
  };
  std::vector<uint32_t> orders;
  for (const OpenReceive& open : count.open) orders.push_back(order_of(open));
  std::sort(orders.begin(), orders.end());
  std::stable_sort(count.open.begin(), count.open.end(),
                   [](const OpenReceive& a, const OpenReceive& b) { return a.leave < b.leave; });
  for (size_t i = 0; i < orders.size(); ++i) order_of(count.open[i]) = orders[i];
}

size_t RankCalls::ChannelHash::operator()(const Channel& channel) const {
  uint64_t h = (static_cast<uint64_t>(channel.comm) << 32 | channel.tag) * 0x9E3779B97F4A7C15u;
  h ^= (static_cast<uint64_t>(channel.peer) << 8 | static_cast<uint64_t>(channel.kind)) *
       0xC2B2AE3D27D4EB4Fu;
  return h ^ (h >> 32);
}

}  // namespace rubato
