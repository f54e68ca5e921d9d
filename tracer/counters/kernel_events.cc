#include "tracer/counters/kernel_events.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace rubato {
inline namespace tracing {
namespace {

/// A file above the numbers that programs usually have. If a program closes all files, its next
/// ones get low numbers, so that no counter is read from a file of the program.
int moved_up(int file) {
  constexpr int kFirst = 200;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, kFirst);
  if (moved < 0) return file;
  close(file);
  return moved;
}

/// The file of an event of this thread; negative on failure.
int open_event(const KernelEvent& event, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = event.config;
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = event.user_only ? 1 : 0;
  const auto open = [&] {
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
  };
  int file = open();
  if (file < 0 && (errno == EACCES || errno == EPERM) && !event.in_kernel) {
    attributes.exclude_kernel = 1;  // what an unprivileged user may count
    file = open();
  }
  return file < 0 ? file : moved_up(file);
}

}  // namespace

const std::vector<KernelEvent>& kernel_events() {
  static const std::vector<KernelEvent> all = {
      {"perf::PAGE-FAULTS", PERF_COUNT_SW_PAGE_FAULTS, "#", "page faults", false},
      {"perf::MINOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MIN, "#", "page faults without I/O", false},
      {"perf::MAJOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "#", "page faults with I/O", false},
      {"perf::PAGE-FAULTS:u=1", PERF_COUNT_SW_PAGE_FAULTS, "#", "page faults of user code", false,
       false, true},
      {"perf::MINOR-FAULTS:u=1", PERF_COUNT_SW_PAGE_FAULTS_MIN, "#",
       "page faults of user code without I/O", false, false, true},
      {"perf::MAJOR-FAULTS:u=1", PERF_COUNT_SW_PAGE_FAULTS_MAJ, "#",
       "page faults of user code with I/O", false, false, true},
      {"perf::CONTEXT-SWITCHES", PERF_COUNT_SW_CONTEXT_SWITCHES, "#", "context switches", true},
      {"perf::CPU-MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS, "#", "moves to another core", true},
      {"perf::TASK-CLOCK", PERF_COUNT_SW_TASK_CLOCK, "ns", "time on a core", false, true},
  };
  return all;
}

const KernelEvent* kernel_event(const std::string& name) {
  const auto& all = kernel_events();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const KernelEvent& e) { return name == e.name; });
  return found == all.end() ? nullptr : &*found;
}

/// The clock is no member of the group: Linux 6.18 does not bring it up to date when the group is
/// read, and in a group that it leads the other events are counted only from the next context
/// switch on.
int KernelCounters::open(const std::vector<const KernelEvent*>& events) {
  const int program_errno = errno;
  int error = 0;
  int leader = -1;
  for (const KernelEvent* event : events) {
    const int file = open_event(*event, event->is_clock ? -1 : leader);
    if (file < 0) {
      error = errno;
      break;
    }
    if (event->is_clock)
      clock_ = count_;
    else if (leader < 0)
      leader = file;
    files_[count_++] = file;
  }
  if (error != 0) close();
  errno = program_errno;
  return error;
}

void KernelCounters::close() {
  for (; count_ > 0; --count_) ::close(files_[count_ - 1]);
  clock_ = kMaxCounters;
}

bool KernelCounters::read(uint64_t* values) {
  const int program_errno = errno;
  bool good = true;
  // The number of values, then the values.
  const auto read_some = [&](int file, size_t count, uint64_t* group) {
    const size_t bytes = (1 + count) * sizeof *group;
    good = good && ::read(file, group, bytes) == static_cast<ssize_t>(bytes) && group[0] == count;
  };
  const bool has_clock = clock_ < kMaxCounters;
  const size_t grouped = count_ - (has_clock ? 1 : 0);
  uint64_t group[1 + kMaxCounters], clock[2];
  if (grouped > 0) read_some(files_[clock_ == 0 ? 1 : 0], grouped, group);
  if (has_clock) read_some(files_[clock_], 1, clock);
  errno = program_errno;
  if (!good) return false;
  const uint64_t* next = group + 1;
  for (size_t i = 0; i < count_; ++i) values[i] = i == clock_ ? clock[1] : *next++;
  return true;
}

std::string how_to_permit(const std::string& event) {
  std::string level;
  std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
  const KernelEvent* own = kernel_event(event);
  const std::string needed = own == nullptr || !own->in_kernel ? "2" : "1";
  return "the kernel does not let this user count " + event + ": kernel.perf_event_paranoid is " +
         (level.empty() ? "unknown" : level) + " and has to be " + needed +
         " or less (as root: sysctl kernel.perf_event_paranoid=" + needed +
         "; containers may refuse it in any case)";
}

}  // namespace tracing
}  // namespace rubato
