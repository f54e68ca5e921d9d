// Notification of processes about arrivals at a collective.

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "replay/matching/relay.h"

using namespace rubato;

TEST_CASE("rounds of a relay") {
  // The highest digits of 6 = 110: 1, 3 and 6 others are known behind the three rounds. For the
  // first, from the neighbour, with its own; for the next two, of the processes 2 and 3 in front,
  // from the one 2 in front: its own, and the one in front of that; for the last three, 4 to 6 in
  // front, from the one 3 in front what it was told, 1 to 3 in front of it.
  REQUIRE(relay_rounds(7) == 3);
  const int distances[] = {1, 2, 3};
  const bool with_own[] = {true, true, false};
  for (int round = 0; round < 3; ++round) {
    INFO("round " << round);
    CHECK(relay_round(7, round).distance == distances[round]);
    CHECK(relay_round(7, round).with_own == with_own[round]);
  }
  CHECK(relay_rounds(2) == 1);
  CHECK(relay_rounds(1024) == 10);
  CHECK(relay_rounds(1025) == 11);
}

TEST_CASE("a relay notifies each process of all others once, in any order") {
  struct Message {
    int to, round;
    Arrivals<1> members;
  };
  std::mt19937 random(1);
  for (const int processes : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100}) {
    INFO(processes << " processes");
    std::vector<Relay<Arrivals<1>>> relays(processes);
    std::vector<Arrivals<1>> own(processes);
    std::vector<int> sent(processes), done(processes);
    std::vector<Message> under_way;
    const auto go_on = [&](int self) {
      done[self] +=
          relays[self].go_on(processes, [&](int round, int distance, const Arrivals<1>& members) {
            ++sent[self];
            under_way.push_back({(self + distance) % processes, round, members});
          });
    };
    // Each has as many members as its number says; timelines are numbered through. Two enter last.
    std::vector<int> order;
    int all = 0;
    for (int self = 0; self < processes; ++self) {
      order.push_back(self);
      for (int member = 0; member < self; ++member)
        own[self].add(self, Lanes<1>(self % (processes - 1)), all++);
    }
    std::shuffle(order.begin(), order.end(), random);
    while (!order.empty() || !under_way.empty()) {
      if (!order.empty() && random() % 3 == 0) {
        relays[order.back()].come(own[order.back()]);
        go_on(order.back());
        order.pop_back();
      } else if (!under_way.empty()) {
        const size_t which = random() % under_way.size();
        const Message message = under_way[which];
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
        relays[message.to].take(message.round, message.members);
        go_on(message.to);
      }
    }
    for (int self = 0; self < processes; ++self) {
      CHECK(done[self] == 1);
      CHECK(sent[self] == relay_rounds(processes));
      Arrivals<1> others;
      for (int other = 0; other < processes; ++other) {
        if (other != self) others.add(own[other]);
      }
      CHECK(relays[self].others().count == all - self);
      CHECK(relays[self].others().last[0] == others.last[0]);
      CHECK(relays[self].others().recorded_last == others.recorded_last);
      CHECK(relays[self].others().latest == others.latest);
    }
  }
}
