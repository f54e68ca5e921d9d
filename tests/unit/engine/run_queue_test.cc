// In which order timelines are run: replay/engine/run_queue.h.

#include "replay/engine/run_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using rubato::RunQueue;

TEST_CASE("ranks that are ahead wait for those behind, however many turns they take",
          "[run_queue]") {
  RunQueue queue;
  queue.push(0, 0);
  queue.push(1, 1000);
  // Timeline 0 comes 10 ticks further with each turn. LoopCache begin at 1 tick and double while
  // they have fewer than 4 turns, so they end at
  //   0 + 1, 10 + 2, 20 + 4, 30 + 8, 40 + 16 (turns at 40, 50), 60 + 32 (60, 70, 80, 90)
  // and stay at 32 ticks, four turns each: one begins at 60 + 40 n. That which begins at 940 ends
  // at 972, so the next, at 980, is the first that timeline 1 is in: behind timeline 0, which has
  // the lower number. Up to there timeline 0 has the 99 turns at 0, 10, ... 980.
  int turns = 0;
  while (queue.pop() == 0) queue.push(0, 10.0 * ++turns);
  CHECK(turns == 99);
}

TEST_CASE("Within a stretch timelines take turns by number", "[run_queue]") {
  RunQueue queue;
  for (const int timeline : {3, 1, 2}) queue.push(timeline, 0);
  std::vector<int> order;
  for (int turn = 0; turn < 6; ++turn) {
    order.push_back(queue.pop());
    queue.push(order.back(), 0);
  }
  CHECK(order == std::vector{1, 2, 3, 1, 2, 3});
  CHECK(queue.pop() == 1);
}

TEST_CASE("woken ranks run after the next batch", "[run_queue]") {
  RunQueue queue;
  // Batches are of 128. Every timeline is woken once, as soon as the one behind it ran.
  constexpr int kTimelines = 1024;
  for (int timeline = kTimelines - 1; timeline >= 0; --timeline) queue.push(timeline, 0);
  std::vector<int> turn_of_first(kTimelines, -1), turn_of_second(kTimelines, -1);
  for (int turn = 0; !queue.empty(); ++turn) {
    const int timeline = queue.pop();
    if (turn_of_first[timeline] >= 0) {
      turn_of_second[timeline] = turn;
      continue;
    }
    turn_of_first[timeline] = turn;
    if (timeline > 0) queue.push(timeline - 1, 0);
  }
  // The last of a batch is woken by the first of the next one. Between its two turns are the ranks
  // woken for its own batch, the next batch and the ranks woken for it, and the batch after that:
  // 128 each; and the few that were queued before the previous batch ended.
  int farthest = 0;
  for (int timeline = 0; timeline + 1 < kTimelines; ++timeline)
    farthest = std::max(farthest, turn_of_second[timeline] - turn_of_first[timeline]);
  CHECK(farthest > 128);
  CHECK(farthest <= 4 * 128 + 8);
  CHECK(turn_of_second[kTimelines - 1] == -1);
}

TEST_CASE("ranks woken by a collective run in order of their numbers", "[run_queue]") {
  RunQueue queue;
  constexpr int kTimelines = 1000;
  queue.push(0, 0);
  CHECK(queue.pop() == 0);
  for (int timeline = kTimelines - 1; timeline >= 0; --timeline) queue.push(timeline, 0);
  for (int timeline = 0; timeline < kTimelines; ++timeline) REQUIRE(queue.pop() == timeline);
  CHECK(queue.empty());
}

TEST_CASE("A program that becomes denser does not run away within a stretch", "[run_queue]") {
  RunQueue queue;
  queue.push(0, 0);
  queue.push(1, 0);
  // 10^6 ticks a turn: stretches double to 2^22 ticks, in which both have 4 turns.
  double clock[2] = {};
  for (int turn = 0; turn < 200; ++turn) {
    const int timeline = queue.pop();
    queue.push(timeline, clock[timeline] += 1e6);
  }
  // Now timeline 0 comes 1000 ticks further with each turn, timeline 1 one tick. Up to the end of
  // the stretch that would be 4194 turns. But it is cut when there were 64 for each of 2 timelines,
  // and the next is half as long; so timeline 0 gets ahead by 64 (at most 128) turns in each of
  // those of 2^22, 2^21, ... 2^17 ticks, until one is shorter than 128000 ticks.
  double ahead = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    const int timeline = queue.pop();
    queue.push(timeline, clock[timeline] += timeline == 0 ? 1000 : 1);
    ahead = std::max(ahead, clock[0] - clock[1]);
  }
  CHECK(ahead <= 6 * 128 * 1000);
}

TEST_CASE("every pushed rank is popped once", "[run_queue]") {
  RunQueue queue;
  // Clocks far apart, in no order, some alike.
  const std::vector<double> clocks = {5e9, 0, 3, 3, 1e15, 7e4, 0, 2.5};
  for (size_t i = 0; i < clocks.size(); ++i) queue.push(static_cast<int>(i), clocks[i]);
  std::vector<int> times(clocks.size());
  double latest = -1;
  for (size_t i = 0; i < clocks.size(); ++i) {
    REQUIRE_FALSE(queue.empty());
    const int timeline = queue.pop();
    ++times[timeline];
    // LoopCache are of 1, 2, 4 ... ticks, as each has but few turns: 0, 0 | 2.5, 3, 3 | 7e4 | ...
    CHECK(clocks[timeline] >= latest - 4);
    latest = std::max(latest, clocks[timeline]);
  }
  CHECK(queue.empty());
  CHECK(times == std::vector<int>(clocks.size(), 1));
}
