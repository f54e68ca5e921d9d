#include "replay/calls/loop_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace rubato {

LoopCache::LoopCache(CallBuilder& builder, CallStore& store, int timeline, uint64_t origin,
                     Give give)
    : builder_(&builder),
      store_(&store),
      packer_(&store.packer(timeline)),
      timeline_(timeline),
      origin_(origin),
      give_(std::move(give)) {}

void LoopCache::interrupt() {
  if (mode_ == Mode::kPolling) give_polls();
  if (mode_ == Mode::kFollowing) give_up_expectation();
  if (mode_ == Mode::kLearning) rest();
}

void LoopCache::record(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
                       uint64_t request) {
  if (mode_ == Mode::kFollowing && next_ == end_) return end_as_expected();
  if (mode_ == Mode::kFollowing) give_up_expectation();
  if (mode_ == Mode::kLearning) return learn(record, role, event, time, request);
  if (mode_ == Mode::kPolling) {
    const bool is_last = next_ == end_;
    give_polls();
    if (is_last && builder_->may_poll_again(event - 1, kPollsAtOnce))
      return expect_polls_behind(event, time);
    if (is_last) return;
  }
  give_(record, event, time, request);
  if (pause_ > 0) --pause_;
  if (builder_->polls() >= kFewPolls) return expect_polls(record, event, time);
  if (pause_ > 0 || !builder_->is_quiet()) return;
  // From here on the calls of the builder are taken here.
  if (builder_->take(block_)) store_->append(timeline_, block_, builder_->late());
  begin();
}

/// Expects the stretch that followed the last time, if it is known.
void LoopCache::begin() {
  if (credit_ < 0) return rest();
  if (packer_->empty()) {  // shapes are known within a piece
    stretches_.clear();
    by_hash_.clear();
    before_ = kNone;
  }
  current_ = before_ == kNone ? kNone : stretches_[before_].follower;
  if (current_ == kNone) return begin_to_learn();
  Stretch& stretch = stretches_[current_];
  mode_ = Mode::kFollowing;
  next_ = stretch.records.data();
  end_ = next_ + stretch.records.size();
  // The first call must have the same distance in records from the previous call as its shape.
  const KnownCall& first = stretch.calls.front();
  expected_event_ = packer_->event_of_next(first.shape) - first.enter;
  last_opened_ = -1;
  before_this_ = static_cast<int64_t>(builder_->last_time());
  backwards_ = false;
}

void LoopCache::begin_to_learn() {
  mode_ = Mode::kLearning;
  expected_event_ = kNoEvent;
  last_opened_ = -1;
  learned_ = {};
  open_.clear();
  can_be_known_ = true;
}

/// Expects nothing for a while.
void LoopCache::rest() {
  mode_ = Mode::kIdle;
  expected_event_ = kNoEvent;
  pause_ = kPause;
  credit_ = kMostCredit / 4;
  stretches_.clear();
  by_hash_.clear();
  before_ = kNone;
}

void LoopCache::end_as_expected() {
  const uint64_t last_event = expected_event_ - 1;
  if (backwards_) {
    // All but the last record go to the builder, and then the last one.
    const Known last = *--next_;
    --expected_event_;
    give_up_expectation();
    return learn(last.record, last.role, last_event, time(last.seen), last.seen.request);
  }
  const Stretch& stretch = stretches_[current_];
  const std::vector<Known>& records = stretch.records;
  packer_->add_known(stretch.calls, last_event + 1 - records.size(),
                     [&](uint32_t record) { return records[record].seen.ticks; });
  builder_->skip(last_event, static_cast<double>(records.back().seen.ticks));
  if (packer_->full()) store_->settle(timeline_);
  before_ = current_;
  credit_ = std::min(credit_ + 1, kMostCredit);
  begin();
}

void LoopCache::give_up_expectation() {
  // Copied, because learning may replace this stretch by others.
  const std::vector<Known> came(stretches_[current_].records.data(), next_);
  uint64_t event = expected_event_ - came.size();
  credit_ -= 4;
  begin_to_learn();
  for (const Known& known : came)
    learn(known.record, known.role, event++, time(known.seen), known.seen.request);
}

void LoopCache::expect_polls(const PlainRecord& leave, uint64_t event, uint64_t time) {
  if (event_before_ + 1 == event && builder_->may_poll_again(event_before_, kPollsAtOnce)) {
    if (polls_.empty() || polls_[0].record != record_before_ || polls_[1].record != leave) {
      polls_.resize(2 * kPollsAtOnce);
      for (size_t i = 0; i < polls_.size(); i += 2) {
        polls_[i].record = record_before_;
        polls_[i + 1].record = leave;
      }
    }
    return expect_polls_behind(event, time);
  }
  record_before_ = leave;
  event_before_ = event;
}

void LoopCache::expect_polls_behind(uint64_t event, uint64_t time) {
  mode_ = Mode::kPolling;
  next_ = polls_.data();
  end_ = next_ + polls_.size();
  expected_event_ = event + 1;
  before_this_ = ticks(time);
  backwards_ = false;
}

void LoopCache::give_polls() {
  const auto records = static_cast<size_t>(next_ - polls_.data());
  const uint64_t first = expected_event_ - records;
  size_t given = 0;
  if (!backwards_) {
    given = records / 2 * 2;
    builder_->poll_again(given / 2, first,
                         [&](size_t record) { return polls_[record].seen.ticks; });
  }
  for (; given < records; ++given) {
    const Known& known = polls_[given];
    give_(known.record, first + given, time(known.seen), 0);
  }
  mode_ = Mode::kIdle;
  expected_event_ = kNoEvent;
  if (records == 0) return;
  record_before_ = polls_[records - 1].record;
  event_before_ = first + records - 1;
}

void LoopCache::learn(const PlainRecord& record, Request role, uint64_t event, uint64_t time,
                      uint64_t request) {
  const auto index = static_cast<uint32_t>(learned_.records.size());
  uint32_t opened_before = 0;
  if (role == Request::kOpens) {
    can_be_known_ = can_be_known_ && static_cast<int64_t>(request) > last_opened_;
    last_opened_ = static_cast<int64_t>(request);
    open_[request] = index;
  } else if (role == Request::kCompletes) {
    const auto opened = open_.find(request);
    can_be_known_ = can_be_known_ && opened != open_.end();
    if (opened != open_.end()) {
      opened_before = index - opened->second;
      open_.erase(opened);
    }
  }
  if (index == 0) first_event_ = event;
  can_be_known_ = can_be_known_ && event - first_event_ == index;
  learned_.records.push_back({.record = record, .opened_before = opened_before, .role = role});
  const size_t closed_before = builder_->closed_calls();
  give_(record, event, time, request);
  // Whether polls are a wait depends on their times.
  can_be_known_ = can_be_known_ && builder_->polls() == 0;
  if (builder_->closed_calls() > closed_before) {
    const uint64_t enter = builder_->pending().calls[closed_before].event;
    learned_.calls.push_back({static_cast<uint32_t>(index - (event - enter)), index, 0});
    if (builder_->is_quiet()) return end_of_learning();
  }
  if (learned_.records.size() == kMostRecords) rest();
}

void LoopCache::end_of_learning() {
  builder_->take(block_);
  assert(builder_->late().empty());  // the builder was quiet just before
  for (size_t i = 0; i < block_.calls.size(); ++i) {
    const uint16_t shape = packer_->add(block_, i);
    // A shape with its own slots is not identified by its number.
    can_be_known_ = can_be_known_ && !packer_->is_open(shape);
    if (i < learned_.calls.size()) learned_.calls[i].shape = shape;
  }
  can_be_known_ = can_be_known_ && learned_.calls.size() == block_.calls.size();
  const size_t known = can_be_known_ ? number_of_learned() : kNone;
  if (before_ != kNone && known != kNone) stretches_[before_].follower = known;
  before_ = known;
  --credit_;
  if (packer_->full()) store_->settle(timeline_);
  begin();
}

size_t LoopCache::number_of_learned() {
  const uint64_t key = hash(learned_);
  const auto [first, end] = by_hash_.equal_range(key);
  for (auto it = first; it != end; ++it) {
    const Stretch& other = stretches_[it->second];
    if (other.records == learned_.records && other.calls == learned_.calls) return it->second;
  }
  by_hash_.emplace(key, stretches_.size());
  stretches_.push_back(std::move(learned_));
  return stretches_.size() - 1;
}

uint64_t LoopCache::hash(const Stretch& stretch) {
  uint64_t h = stretch.records.size();
  for (const Known& known : stretch.records) {
    for (const uint64_t word : {known.record.what, known.record.where, known.record.sent,
                                uint64_t{known.opened_before}}) {
      h = (h ^ word) * 0x9E3779B97F4A7C15u;
      h ^= h >> 29;
    }
  }
  return h;
}

}  // namespace rubato
