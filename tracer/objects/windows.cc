#include "tracer/objects/windows.h"

#include <deque>
#include <mutex>

#include "tracer/layout/journal.h"
#include "tracer/layout/record.h"
#include "tracer/objects/handle_table.h"
#include "tracer/objects/requests.h"

namespace rubato {
inline namespace tracing {

Window::Window(const Communicator& comm, uint32_t number, bool allocated_by_mpi)
    : id(number),
      communicator(comm.id),
      allocated(allocated_by_mpi),
      recordable(comm.recordable),
      self_like(comm.self_like()),
      over(comm.identity),
      size_(comm.size),
      pending_(new std::atomic<uint64_t>[2 * static_cast<size_t>(comm.size)] {}),
      touched_(new std::atomic<uint64_t>[static_cast<size_t>(comm.size) / 64 + 1] {}) {}

uint64_t Window::operation(RmaClass kind, int target) {
  const auto t = static_cast<size_t>(target);
  std::atomic<uint64_t>& slot = pending_[2 * t + static_cast<size_t>(kind)];
  uint64_t found = slot.fetch_and(~kLocallyDone) & ~kLocallyDone;
  if (found == 0) {
    const uint64_t fresh = windows::next_matching();
    if (slot.compare_exchange_strong(found, fresh)) {
      open_.fetch_add(1);
      found = fresh;
    }
  }
  touched_[t / 64].fetch_or(uint64_t{1} << (t % 64));
  return found;
}

namespace {

/// A key that is no handle: those are 32-bit numbers or addresses.
uint64_t remote_key(uint32_t window, int target) {
  return uint64_t{1} << 62 | uint64_t{window} << 32 | static_cast<uint32_t>(target);
}

}  // namespace

void Window::add_remote(uint64_t matching, int target) {
  const auto t = static_cast<size_t>(target);
  requests::add_number(remote_key(id, target), matching);
  open_.fetch_add(1);
  touched_[t / 64].fetch_or(uint64_t{1} << (t % 64));
}

bool Window::take_remote(int target, uint64_t& matching) {
  return requests::take_number(remote_key(id, target), matching);
}

namespace windows {
namespace {

HandleTable<Window> by_handle;
struct Group {
  uint32_t number;
  std::vector<int> world_ranks;
};
HandleTable<Group> group_by_hash;

/// Protects the tables against other writers. Never destroyed: a program may call MPI while it
/// ends.
struct State {
  std::mutex mutex;
  std::deque<Window> windows;
  std::deque<Group> groups;
};
State& state() {
  static State* const only = new State;
  return *only;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15u + b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 31;
}

WindowReport report(const Window& window) {
  WindowReport report;
  report.id = window.id;
  report.identity = window.identity;
  report.communicator = window.over;
  report.self_like = window.self_like;
  report.recordable = window.recordable;
  report.name = window.name;
  return report;
}

}  // namespace

uint64_t next_matching() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

Window* find(MPI_Win win) {
  return by_handle.find(handle_bits(win));
}

Window* by_id(uint32_t id) {
  const std::lock_guard lock(state().mutex);
  return &state().windows[id];
}

Window* created(MPI_Win win, MPI_Comm comm, bool allocated) {
  Communicator* over = communicators::find(comm);
  const std::lock_guard lock(state().mutex);
  Window& window =
      state().windows.emplace_back(*over, static_cast<uint32_t>(state().windows.size()), allocated);
  window.recordable = window.recordable && window.id <= kLastNumber;
  window.identity = mix(over->identity, ++over->windows);
  by_handle.bind(handle_bits(win), &window);
  journal::window(report(window));
  return &window;
}

void forget(MPI_Win win) {
  restore(win, nullptr);
}

void restore(MPI_Win win, Window* window) {
  const std::lock_guard lock(state().mutex);
  by_handle.bind(handle_bits(win), window);
}

void set_name(MPI_Win win, const char* name) {
  Window* window = find(win);
  if (window == nullptr) return;
  const std::lock_guard lock(state().mutex);
  window->name = name;
  journal::window_name(window->id, window->name);
}

std::vector<WindowReport> reports() {
  const std::lock_guard lock(state().mutex);
  std::vector<WindowReport> list;
  for (const Window& window : state().windows) list.push_back(report(window));
  return list;
}

uint32_t group_number(MPI_Group group) {
  thread_local std::vector<int> world_ranks;
  communicators::world_ranks(group, world_ranks);
  uint64_t hash = world_ranks.size();
  for (const int rank : world_ranks) hash = mix(hash, static_cast<uint64_t>(rank));
  // Groups with the same hash: try the next number.
  for (;; ++hash) {
    const Group* known = group_by_hash.find(hash);
    if (known == nullptr) break;
    if (known->world_ranks == world_ranks) return known->number;
  }
  const std::lock_guard lock(state().mutex);
  for (;; ++hash) {
    const Group* known = group_by_hash.find(hash);
    if (known == nullptr) break;
    if (known->world_ranks == world_ranks) return known->number;
  }
  Group& fresh =
      state().groups.emplace_back(Group{static_cast<uint32_t>(state().groups.size()), world_ranks});
  journal::group(fresh.world_ranks);
  group_by_hash.bind(hash, &fresh);
  return fresh.number;
}

std::vector<std::vector<int>> groups() {
  const std::lock_guard lock(state().mutex);
  std::vector<std::vector<int>> list;
  for (const Group& group : state().groups) list.push_back(group.world_ranks);
  return list;
}

}  // namespace windows
}  // namespace tracing
}  // namespace rubato
