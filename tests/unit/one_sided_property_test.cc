// Random programs of one-sided communication: what must hold whatever a program does.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "replay/archive/text_source.h"
#include "replay/driver.h"
#include "tests/unit/seeds.h"

using namespace rubato;

namespace {

/// Rounds, each of one kind for all ranks: an epoch between fences, posts and starts around the
/// ring, or locks of the neighbour. Nobody waits for a later round, so there is no deadlock. Every
/// rank's clock goes on by random steps, so that much of what is recorded cannot have been; what
/// must hold, holds all the same.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string make() {
    const int ranks = 2 + below(4);
    now_.resize(ranks);
    text_ << "nodes";
    for (int rank = 0; rank < ranks; ++rank) text_ << ' ' << below(2) * (rank > 0);
    text_ << "\nwindow 1\nwindow 2\n";
    for (int rank = 0; rank < ranks; ++rank) call(rank, "init");
    for (int round = 0; round < 8; ++round) {
      const int kind = below(4);
      const int window = 1 + below(2);
      const int distance = 1 + below(ranks - 1);
      for (int rank = 0; rank < ranks; ++rank) {
        const int target = (rank + distance) % ranks;
        const int origin = (rank + ranks - distance) % ranks;
        if (kind == 0) {
          fence_round(rank, window);
        } else if (kind == 1) {
          epoch_round(rank, window, target, origin);
        } else if (kind == 2) {
          lock_round(rank, window, target);
        } else {
          call(rank, "barrier");
        }
      }
    }
    for (int rank = 0; rank < ranks; ++rank) text_ << rank << ": " << now_[rank] + 7 << " end\n";
    return text_.str();
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void call(int rank, const std::string& what) {
    const int enter = now_[rank] + (below(3) ? below(3000) : 0);
    now_[rank] = enter + below(500);
    text_ << rank << ": " << enter << ".." << now_[rank] << ' ' << what << '\n';
  }

  void operations(int rank, int window, int target) {
    const std::string on = " win " + std::to_string(window);
    for (int more = below(4); more > 0; --more) {
      const int aim = target >= 0 ? target : below(static_cast<int>(now_.size()));
      const std::string what = std::to_string(aim) + " " + std::to_string(below(9000)) + "B";
      const int kind = below(4);
      call(rank, (kind == 0   ? "put "
                  : kind == 1 ? "accumulate "
                  : kind == 2 ? "get "
                              : "fetch_and_op ") +
                     what + (kind == 3 ? " 8B" : "") + on);
    }
  }

  void fence_round(int rank, int window) {
    const std::string on = " win " + std::to_string(window);
    call(rank, "win_fence" + on);
    operations(rank, window, -1);
    call(rank, "win_fence" + on);
  }

  void epoch_round(int rank, int window, int target, int origin) {
    const std::string on = " win " + std::to_string(window);
    call(rank, "win_post " + std::to_string(origin) + on);
    call(rank, "win_start " + std::to_string(target) + on);
    operations(rank, window, target);
    call(rank, "win_complete" + on);
    call(rank, "win_wait" + on);
  }

  void lock_round(int rank, int window, int target) {
    const std::string on = " win " + std::to_string(window);
    const std::string at = " " + std::to_string(target);
    call(rank, "win_lock" + at + (below(2) ? " exclusive" : "") + on);
    operations(rank, window, target);
    if (below(2)) call(rank, (below(2) ? "win_flush" : "win_flush_local") + at + on);
    operations(rank, window, target);
    call(rank, "win_unlock" + at + on);
  }

  std::mt19937 random_;
  std::ostringstream text_;
  std::vector<int> now_;
};

std::vector<double> ends_of(const ScenarioResult& result) {
  INFO(result.deadlock);
  REQUIRE(result.deadlock.empty());
  std::vector<double> ends;
  for (const RankResult& rank : result.ranks) ends.push_back(rank.end);
  return ends;
}

}  // namespace

TEST_CASE("random one-sided programs: identity, lanes and monotonicity") {
  const std::vector<Scenario> scenarios = {
      parse_scenario("perfect"), parse_scenario("bandela:latency=1us,bandwidth=1GB/s"),
      parse_scenario("bandela:latency=20us,bandwidth=1GB/s"),
      parse_scenario("bandela:latency=20us,bandwidth=0.1GB/s"), parse_scenario("measured")};
  unsigned keeping_time = 0;
  for (unsigned seed = 0; seed < seeds(300); ++seed) {
    const std::string text = Generator(seed).make();
    INFO("seed " << seed << "\n" << text);
    const auto source = parse_text_trace(text);
    ReplayOptions options;
    options.verify = true;
    options.wait_states = true;
    const Results all = run_replay(*source, scenarios, options);
    CHECK(all.identity->differing == 0);
    options.verify = false;

    // A lane does not depend on its neighbours, to the bit.
    for (size_t i = 0; i + 1 < scenarios.size(); ++i) {
      // (With the clocks repaired in either case, which decides who held a lock before whom.)
      const Results alone = run_replay(*source, {scenarios[i], scenarios.back()}, options);
      CHECK(ends_of(alone.scenarios[0]) == ends_of(all.scenarios[i]));
      for (size_t rank = 0; rank < all.scenarios[i].ranks.size(); ++rank)
        CHECK(alone.scenarios[0].ranks[rank].waits == all.scenarios[i].ranks[rank].waits);
    }

    // Ranks wait inside MPI, and on `perfect` they do nothing else there, but for flushes that have
    // nothing to do, which keep their time. (So do calls that are let go because no order of locks
    // fits what is recorded: in one program of 300.)
    bool keeps_time = false;
    for (const ScenarioResult& result : all.scenarios) {
      for (const RankResult& rank : result.ranks) {
        INFO(result.name << ", rank " << &rank - result.ranks.data());
        const double waited = std::accumulate(rank.waits.begin(), rank.waits.end(), 0.0);
        CHECK(waited <= rank.mpi * (1 + 1e-9));
        if (&result != &all.scenarios[0]) continue;
        double left = rank.mpi - waited;
        for (size_t i = 0; i < all.calls.size(); ++i)
          if (all.calls[i].starts_with("MPI_Win_flush")) left -= rank.calls[i].time;
        CHECK(left > -1e-12);
        keeps_time = keeps_time || left > 1e-12;
      }
    }
    keeping_time += keeps_time;

    // Nobody gains from more latency or less bandwidth.
    for (size_t i = 0; i + 2 < scenarios.size(); ++i) {
      const std::vector<double> faster = ends_of(all.scenarios[i]);
      const std::vector<double> slower = ends_of(all.scenarios[i + 1]);
      for (size_t rank = 0; rank < faster.size(); ++rank) {
        INFO("rank " << rank << ", scenarios " << i << " and " << i + 1);
        CHECK(faster[rank] <= slower[rank] * (1 + 1e-12));
      }
    }
  }
  CHECK(keeping_time <= 1);
}
