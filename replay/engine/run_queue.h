#pragma once

// The order in which runnable timelines are run.
//
// Any order gives the same clocks. If some timelines ran far ahead of others, all messages between
// them would stay in memory, so timelines that are behind in recorded time run first. The order is
// approximate: recorded time is cut into slices, and within a slice timelines take turns in the
// order of becoming ready. So a turn costs no comparison with other timelines. The length of a
// slice adapts to the pace of the program: a few turns of each timeline.
//
// Where there are many timelines, they take turns in batches: those woken meanwhile run behind the
// next batch, not behind all others, so that their data and messages are mostly still in the nearer
// caches. Most messages go to ranks with nearby numbers, so timelines that a collective wakes all
// at once run in the order of their numbers; so do the first timelines of a slice.

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
  /// `timeline` is runnable, from `recorded_clock` on (ticks).
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

  /// The next timeline to run. REQUIRES: not empty().
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

  static constexpr size_t kBatch = 128;  ///< fits into a second-level cache with its messages
  static constexpr size_t kMostWoken = 3 * kBatch;  ///< only collectives wake more
  static constexpr size_t kFewWoken = 16;  ///< fewer than this are sorted without the bit set

  /// Forms the next batch: the next timelines in line, and those woken since the previous batch.
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

  /// Queues the woken timelines behind all others, by number.
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

  /// The pace has increased: no timeline joins this slice any more.
  void end_slice() { horizon_ = -std::numeric_limits<double>::infinity(); }

  std::vector<int> batch_;  ///< those before next_ have run
  size_t next_ = 0;
  std::vector<int> woken_;  ///< in this slice, since the batch was formed
  std::vector<int> now_;    ///< in this slice; those before first_ have been in a batch
  size_t first_ = 0;
  std::vector<uint64_t> is_woken_;             ///< a bit per timeline; 0 except during sorting
  std::vector<std::pair<double, int>> later_;  ///< beyond the horizon, with their recorded clocks
  double horizon_ = -std::numeric_limits<double>::infinity();  ///< end of the slice, ticks
  double length_ = 1;                                          ///< of a slice, ticks
  size_t began_ = 0;  ///< timelines at the begin of the slice
  size_t turns_ = 0;  ///< in the slice so far
};

}  // namespace rubato
