#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rubato {
inline namespace tracing {

/// The most counters that one recording may have.
inline constexpr size_t kMaxCounters = 12;

/// An event that the Linux kernel counts by itself, without counters of the processor. PAPI has the
/// same names, but leaves out what happens in the kernel, and so counts no context switch; and on a
/// machine without such counters it knows none of them.
struct KernelEvent {
  const char* name;
  uint64_t config;  ///< PERF_COUNT_SW_...
  const char* unit;
  const char* description;
  bool in_kernel;  ///< happens only inside the kernel
  bool is_clock = false;
  bool user_only = false;  ///< what happens inside the kernel does not count
};

/// All of them.
const std::vector<KernelEvent>& kernel_events();
/// Null for a name that is not one of them.
const KernelEvent* kernel_event(const std::string& name);

/// Counts events of the calling thread. One system call reads all, and another one the clock. Never
/// prints or changes errno.
class KernelCounters {
 public:
  /// 0, or the error of perf_event_open().
  int open(const std::vector<const KernelEvent*>& events);
  void close();
  bool is_open() const { return count_ > 0; }
  size_t count() const { return count_; }
  /// The numbers counted since open(); false if the program has closed the files.
  bool read(uint64_t* values);

 private:
  std::array<int, kMaxCounters> files_{};
  size_t count_ = 0;
  size_t clock_ = kMaxCounters;  ///< place of the clock
};

/// Advice on an event that the kernel does not let this user count: "... kernel.perf_event_paranoid
/// ...".
std::string how_to_permit(const std::string& event);

}  // namespace tracing
}  // namespace rubato
