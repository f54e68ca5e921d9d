#pragma once

#include <random>
#include <utility>
#include <vector>

namespace rubato {

/// As RunQueue, but whose turn it is says the lot.
class Lottery {
 public:
  inline static std::mt19937 random;

  void push(int timeline, double) { ready_.push_back(timeline); }
  bool empty() const { return ready_.empty(); }
  int pop() {
    std::swap(ready_[random() % ready_.size()], ready_.back());
    const int timeline = ready_.back();
    ready_.pop_back();
    return timeline;
  }

 private:
  std::vector<int> ready_;
};

/// Rules whose replay runs timelines by lots.
template <class Rules>
struct Drawn : Rules {
  using Rules::Rules;
  using Queue = Lottery;
  static constexpr bool kMayBeDivided = false;
};

}  // namespace rubato
