#pragma once

// In which order timelines are run that can go on.
//
// Any order gives the same clocks. One that lets some run far ahead of others would keep all
// messages between them in memory, so those come first that are furthest behind in recorded time.
// But only roughly: the recorded time is cut into slices, and within one timelines take turns
// as they come. So a turn costs no comparison with others. A slice is as long as some turns of
// everybody take, whatever the pace of the program at that place.
//
// Where there are many, they take turns batch by batch: those that were woken meanwhile run behind
// the next batch, not behind all others. So what they and their messages need is mostly still in
// the nearer caches. And as most messages go to ranks of numbers not far off, those that a
// collective woke, all at once, run by number; so do those that begin a slice.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rubato {

class RunQueue {
 public:
  /// `timeline` can go on, from `recorded_clock` on (ticks).
  void push(int timeline, double recorded_clock) {
    if (recorded_clock <= horizon_) {
      woken_.push_back(timeline);
    } else {
      later_.emplace_back(recorded_clock, timeline);
    }
  }

  bool empty() const {
    return next_ == batch_.size() && woken_.empty() && first_ == now_.size() && later_.empty();
  }

  /// The next one to run; there must be one.
  int pop() {
    if (next_ == batch_.size()) go_on();
    if (++turns_ > kMostTurns * began_) end_slice();
    return batch_[next_++];
  }

 private:
  // Turns of each timeline in a slice, on average.
  static constexpr size_t kFewTurns = 4;
  static constexpr size_t kManyTurns = 16;
  static constexpr size_t kMostTurns = 64;

  static constexpr size_t kBatch = 128;  ///< with its messages it fits into a second cache
  static constexpr size_t kMostWoken = 3 * kBatch;  ///< behind it; there are more by a collective
  static constexpr size_t kFewWoken = 16;           ///< sorted as they are, without bits of all

  /// Puts together the next batch: those next in line, and those woken since the one before.
  [[gnu::noinline]] void go_on() {
    batch_.clear();
    next_ = 0;
    if (woken_.size() > kMostWoken || first_ == now_.size()) sort_in();
    if (woken_.empty() && first_ == now_.size()) start_slice();
    const size_t end = std::min(first_ + kBatch, now_.size());
    for (; first_ < end; ++first_) batch_.push_back(now_[first_]);
    batch_.insert(batch_.end(), woken_.begin(), woken_.end());
    woken_.clear();
  }

  /// Those that were woken get in line behind all others, by number.
  void sort_in() {
    if (woken_.size() < kFewWoken) {
      std::sort(woken_.begin(), woken_.end());
      now_.insert(now_.end(), woken_.begin(), woken_.end());
      woken_.clear();
      return;
    }
    for (const int timeline : woken_) {
      const auto word = static_cast<size_t>(timeline) / 64;
      if (word >= is_woken_.size()) is_woken_.resize(word + 1);
      is_woken_[word] |= uint64_t{1} << timeline % 64;
    }
    for (size_t word = 0; word < is_woken_.size(); ++word) {
      for (uint64_t& left = is_woken_[word]; left != 0; left &= left - 1)
        now_.push_back(static_cast<int>(64 * word) + std::countr_zero(left));
    }
    woken_.clear();
  }

  [[gnu::noinline]] void start_slice() {
    if (turns_ < kFewTurns * began_) length_ *= 2;
    if (turns_ > kManyTurns * began_) length_ = std::max(length_ / 2, 1.0);
    horizon_ = std::min_element(later_.begin(), later_.end())->first + length_;
    now_.clear();
    first_ = turns_ = 0;
    std::erase_if(later_, [&](const auto& ready) {
      if (ready.first > horizon_) return false;
      woken_.push_back(ready.second);
      return true;
    });
    sort_in();
    began_ = now_.size();
  }

  /// The pace is much higher than it was: nobody comes in any more.
  void end_slice() { horizon_ = -std::numeric_limits<double>::infinity(); }

  std::vector<int> batch_;  ///< those before next_ were run
  size_t next_ = 0;
  std::vector<int> woken_;  ///< in this slice, since the batch was put together
  std::vector<int> now_;    ///< of this slice; those before first_ were in a batch
  size_t first_ = 0;
  std::vector<uint64_t> is_woken_;  ///< by timeline, a bit each: 0 but while they are sorted
  std::vector<std::pair<double, int>> later_;  ///< beyond it, with their recorded clocks
  double horizon_ = -std::numeric_limits<double>::infinity();  ///< where the slice ends, ticks
  double length_ = 1;                                          ///< of a slice, ticks
  size_t began_ = 0;                                           ///< timelines at its begin
  size_t turns_ = 0;                                           ///< in it so far
};

}  // namespace rubato
