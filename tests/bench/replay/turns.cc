#include "turns.h"

#include <utility>

namespace {

constexpr double kCheaper = 0.99;  // less than that is no news

int few_rounds = 5;
int most_rounds = 16;
double enough_seconds = 20;  ///< of one measurement, over all rounds

}  // namespace

void Turns::be_quick() {
  few_rounds = 2;
  most_rounds = 4;
  enough_seconds = 1.5;
}

void Turns::add(Cost& best, std::function<void()> work) {
  add_told(best, [work = std::move(work)] { return cost_of(work); });
}

void Turns::add_told(Cost& best, std::function<Cost()> measure) {
  turns_.push_back({&best, std::move(measure)});
}

void Turns::run() {
  int without_news = 0;
  for (int round = 0; round < most_rounds && without_news < few_rounds; ++round, ++without_news) {
    for (Turn& turn : turns_) {
      if (turn.seconds > enough_seconds) continue;
      const Cost cost = turn.measure();
      turn.seconds += cost.seconds;
      Cost& best = *turn.best;
      if (best.seconds == 0 || cost.seconds < kCheaper * best.seconds) without_news = -1;
      if (best.seconds == 0 || cost.seconds < best.seconds) best = cost;
    }
  }
}
