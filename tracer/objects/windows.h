#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tracer/objects/communicators.h"

/// The windows of one-sided communication of this process, the operations under way on them, and
/// the groups of their synchronisation.
///
/// As with communicators, all members compute the same identity for a window: it is the n-th one
/// made on its communicator.
namespace rubato {
inline namespace tracing {

/// Operations of one kind towards one target share a number until they complete. The kinds are
/// puts, whose remote end comes later than the local one, and gets.
enum class RmaClass : unsigned { kPut, kGet };

class Window {
 public:
  Window(const Communicator& comm, uint32_t number, bool allocated);

  /// The number of the operations of this kind under way, a new one if there are none.
  uint64_t operation(RmaClass kind, int target);
  /// An operation with its own request: its remote completion is reported with those of the target.
  void add_remote(uint64_t matching, int target);

  /// Numbers of operations under way: an upper bound for the visits of complete().
  size_t open() const { return open_.load(std::memory_order_relaxed); }

  /// Ends the operations under way to a target; `visit(number, local, remote)` for each, with the
  /// ends reached now. With `remotely` false only local ends are reached.
  template <class Visit>
  void complete(int target, bool remotely, Visit visit);
  template <class Visit>
  void complete_all(bool remotely, Visit visit);

  uint32_t id;             ///< local number
  uint32_t communicator;   ///< local number
  bool allocated;          ///< MPI made its memory
  bool recordable = true;  ///< false: its communicator is not, or see kLastNumber
  bool self_like = false;  ///< its communicator is
  uint64_t identity = 0;
  uint64_t over = 0;  ///< identity of its communicator
  std::string name;
  std::atomic<uint32_t> access{0};    ///< group of MPI_Win_start
  std::atomic<uint32_t> exposure{0};  ///< group of MPI_Win_post

 private:
  static constexpr uint64_t kLocallyDone = uint64_t{1} << 63;
  bool take_remote(int target, uint64_t& matching);

  int size_;
  std::unique_ptr<std::atomic<uint64_t>[]> pending_;  ///< two for each target
  std::unique_ptr<std::atomic<uint64_t>[]> touched_;  ///< a bit for each target
  std::atomic<size_t> open_{0};
};

namespace windows {

/// Numbers for operations, unique in this process.
uint64_t next_matching();

/// Null if its creation was not seen.
Window* find(MPI_Win win);
Window* by_id(uint32_t id);
Window* created(MPI_Win win, MPI_Comm comm, bool allocated);
void forget(MPI_Win win);
void restore(MPI_Win win, Window* window);
void set_name(MPI_Win win, const char* name);

/// All windows, for the archive's writer.
std::vector<WindowReport> reports();

/// Local number of a group; those with the same members have the same.
uint32_t group_number(MPI_Group group);
/// World ranks of all groups by their numbers.
std::vector<std::vector<int>> groups();

}  // namespace windows

template <class Visit>
void Window::complete(int target, bool remotely, Visit visit) {
  const auto t = static_cast<size_t>(target);
  if (target < 0 || target >= size_) return;
  const uint64_t bit = uint64_t{1} << (t % 64);
  if (remotely) touched_[t / 64].fetch_and(~bit);
  for (const RmaClass kind : {RmaClass::kPut, RmaClass::kGet}) {
    std::atomic<uint64_t>& slot = pending_[2 * t + static_cast<size_t>(kind)];
    if (remotely || kind == RmaClass::kGet) {  // what was got is complete at both ends
      const uint64_t found = slot.exchange(0);
      if (found == 0) continue;
      open_.fetch_sub(1);
      visit(found & ~kLocallyDone, (found & kLocallyDone) == 0, true);
    } else {
      uint64_t found = slot.load();
      if (found == 0 || (found & kLocallyDone) != 0) continue;
      if (slot.compare_exchange_strong(found, found | kLocallyDone)) visit(found, true, false);
    }
  }
  uint64_t matching;
  while (remotely && take_remote(target, matching)) {
    open_.fetch_sub(1);
    visit(matching, false, true);
  }
}

template <class Visit>
void Window::complete_all(bool remotely, Visit visit) {
  for (int base = 0; base < size_; base += 64) {
    uint64_t bits = touched_[static_cast<size_t>(base) / 64].load();
    for (; bits != 0; bits &= bits - 1) {
      complete(base + __builtin_ctzll(bits), remotely, visit);
    }
  }
}

}  // namespace tracing
}  // namespace rubato
