// When batches go from one process to another. Here threads take the part of processes.

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "replay/cluster/memory_transport.h"
#include "replay/cluster/one_process.h"
#include "replay/cluster/team.h"

using namespace rubato;

namespace {

/// A process that records the numbers sent by others.
struct Player {
  Player(MemoryNetwork& network, int self) : transport(network.transport(self)), team(*transport) {}

  void tell(int to, uint64_t number, bool awaited = false) {
    team.batch(to).number(number);
    team.put(to, awaited);
  }
  /// Is busy until it has received so many numbers, and polls now and then; gives up after ten
  /// seconds.
  bool work_until(size_t numbers) {
    const auto start = std::chrono::steady_clock::now();
    while (told.size() < numbers) {
      team.look(take);
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(10)) return false;
    }
    return true;
  }
  void finish() {
    while (team.rest(true, take) == Team::Verdict::kGoOn) {
    }
  }

  std::unique_ptr<Transport> transport;
  Team team;
  std::vector<uint64_t> told;
  const Team::Take take = [this](int, ByteReader& from) {
    while (!from.empty()) told.push_back(from.number());
  };
};

}  // namespace

TEST_CASE("a process that waits gets a batch that is not full") {
  MemoryNetwork network(2);
  bool answered = false;
  std::jthread other([&] {
    Player player(network, 1);
    player.tell(0, 1);
    player.team.rest(false, player.take);  // until it has a message from 0
    player.tell(0, 10 + player.told.at(0), true);
    player.finish();
  });
  Player player(network, 0);
  if (player.work_until(1)) {
    // It waits, so the next look sends this, although this process never rests.
    player.tell(1, 2);
    answered = player.work_until(2);
  }
  player.finish();
  REQUIRE(answered);
  CHECK(player.told == std::vector<uint64_t>{1, 12});
  CHECK(player.team.batches_sent() == 1);
}

TEST_CASE("a process that works gets what it will wait for at once, and other batches when full") {
  MemoryNetwork network(2);
  bool got_awaited = false;
  {
    std::jthread other([&] {
      Player player(network, 1);
      got_awaited = player.work_until(2);
      player.finish();
    });
    Player player(network, 0);
    player.tell(1, 1);
    player.tell(1, 2, true);  // with what there was
    CHECK(player.team.batches_sent() == 1);
    // A number below 128 is a byte: 8 KiB are a batch.
    for (int i = 0; i < 8191; ++i) player.tell(1, 3);
    CHECK(player.team.batches_sent() == 1);
    player.tell(1, 3);
    CHECK(player.team.batches_sent() == 2);
    CHECK(player.team.bytes_sent() == 2 + 8192);
    player.finish();
  }
  CHECK(got_awaited);
}

TEST_CASE("processes without messages terminate") {
  MemoryNetwork network(3);
  std::vector<std::jthread> others;
  for (int self = 1; self < 3; ++self)
    others.emplace_back([&network, self] { Player(network, self).finish(); });
  Player player(network, 0);
  player.finish();
  CHECK(player.team.batches_sent() == 0);
}

TEST_CASE("the progress of all is the mean of reported progress") {
  MemoryNetwork network(3);
  {
    std::vector<std::jthread> others;
    for (int self = 1; self < 3; ++self) {
      others.emplace_back([&network, self] {
        Player player(network, self);
        // The second update comes too soon to be sent.
        CHECK(player.team.progress_of_all(0.2 * self) == 0.2 * self);
        CHECK(player.team.progress_of_all(0.9) == 0.9);
        player.finish();
        player.team.all(true);
      });
    }
    Player player(network, 0);
    // A process without updates counts with this one's progress.
    CHECK(player.team.progress_of_all(0.3) == Approx(0.3));
    player.finish();
    // 0.2 and 0.4 of the others: (0.6 + 0.2 + 0.4) / 3.
    CHECK(player.team.progress_of_all(0.6) == Approx(0.4));
    CHECK(player.team.all(true));
  }
}

TEST_CASE("a process that waits for one that ended early is notified") {
  MemoryNetwork network(3);
  bool told[2] = {};
  {
    std::vector<std::jthread> others;
    for (int self = 1; self < 3; ++self) {
      others.emplace_back([&network, &told, self] {
        Player player(network, self);
        try {
          player.finish();
        } catch (const NeedsOneProcess& needs) {
          told[self - 1] = needs.why == OneProcess::kFailed;
        }
      });
    }
    network.abandon();  // 0 says nothing
  }
  CHECK(told[0]);
  CHECK(told[1]);
}
