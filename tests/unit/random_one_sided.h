#pragma once

#include <random>
#include <sstream>
#include <string>
#include <vector>

/// Random programs of one-sided communication.
namespace rubato::property {

/// Rounds, each of one kind for all ranks: an epoch between fences, posts and starts around the
/// ring, or locks of the neighbour. No rank waits for a later round, so there is no deadlock. Every
/// rank's clock advances by random steps, so many recorded times are impossible; the tested
/// properties must hold nevertheless.
class OneSidedGenerator {
 public:
  explicit OneSidedGenerator(unsigned seed) : random_(seed) {}

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

}  // namespace rubato::property
