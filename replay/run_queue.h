#pragma once

// In which order timelines are run that can go on.
//
// Any order gives the same clocks. One that lets some run far ahead of others would keep all
// messages between them in memory, so those come first that are furthest behind in recorded time.
// But only roughly: the recorded time is cut into stretches, and within one timelines take turns
// as they come. So a turn costs no comparison with others, and it is known some turns ahead who is
// next (replay_ahead.h). A stretch is as long as some turns of everybody take, whatever the pace of
// the program at that place.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace rubato {

class RunQueue {
 public:
  /// `timeline` can go on, from `recorded_clock` on (ticks).
  void push(int timeline, double recorded_clock) {
    if (recorded_clock <= horizon_) {
      now_.push_back(timeline);
    } else {
      later_.emplace_back(recorded_clock, timeline);
    }
  }

  bool empty() const { return next_ == now_.size() && later_.empty(); }

  /// The next one to run; there must be one.
  int pop() {
    if (next_ == now_.size()) start_stretch();
    if (++turns_ > kMostTurns * began_) end_stretch();
    return now_[next_++];
  }

  /// Those that will be popped next, as far as it is known.
  std::span<const int> following() const { return std::span(now_).subspan(next_); }

 private:
  // Turns of each timeline in a stretch, on average.
  static constexpr size_t kFewTurns = 4;
  static constexpr size_t kManyTurns = 16;
  static constexpr size_t kMostTurns = 64;

  [[gnu::noinline]] void start_stretch() {
    if (turns_ < kFewTurns * began_) length_ *= 2;
    if (turns_ > kManyTurns * began_) length_ = std::max(length_ / 2, 1.0);
    horizon_ = std::min_element(later_.begin(), later_.end())->first + length_;
    now_.clear();
    next_ = turns_ = 0;
    std::erase_if(later_, [&](const auto& ready) {
      if (ready.first > horizon_) return false;
      now_.push_back(ready.second);
      return true;
    });
    began_ = now_.size();
  }

  /// The pace is much higher than it was: nobody comes in any more.
  void end_stretch() { horizon_ = -std::numeric_limits<double>::infinity(); }

  std::vector<int> now_;  ///< of this stretch; those before next_ were run
  size_t next_ = 0;
  std::vector<std::pair<double, int>> later_;  ///< beyond it, with their recorded clocks
  double horizon_ = -std::numeric_limits<double>::infinity();  ///< where the stretch ends, ticks
  double length_ = 1;                                          ///< of a stretch, ticks
  size_t began_ = 0;                                           ///< timelines at its begin
  size_t turns_ = 0;                                           ///< in it so far
};

}  // namespace rubato
