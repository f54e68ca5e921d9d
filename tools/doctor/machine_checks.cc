#include <dlfcn.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "models/base/number_text.h"
#include "tools/doctor/checks.h"
#include "tools/format/numbers.h"

namespace rubato {
namespace {

constexpr double kMemoryPerProcess = 256.0 * 1024 * 1024;  // the default of --memory
/// Load by others from which on a run is disturbed: a quarter of a core.
constexpr double kBusy = 0.25;

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The cores that this process may use.
cpu_set_t own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

/// True if the kernel lets this process count `config` events of `type`.
bool can_count(uint32_t type, uint64_t config, int& error) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  error = errno;
  if (file >= 0) close(static_cast<int>(file));
  return file >= 0;
}

/// The file of PAPI's library; "" without one.
std::string papi_library() {
  for (const char* name : {"libpapi.so", "libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7",
                           "libpapi.so.6.0", "libpapi.so.6", "libpapi.so.5"}) {
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      dlclose(library);
      return name;
    }
  }
  return "";
}

/// The quota of this control group in cores; 0 without one.
double core_quota() {
  std::istringstream line(
      first_line_of("/sys/fs/cgroup/cpu.max"));  // "150000 100000", "max 100000"
  double quota = 0, period = 0;
  if (!(line >> quota >> period) || period <= 0) return 0;
  return quota / period;
}

}  // namespace

Check memory_check() {
  const char* temporary = std::getenv("TMPDIR");
  const auto cores = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  std::string found;
  for (const std::string place : {"/dev/shm", temporary ? temporary : "/tmp"}) {
    struct statvfs space;
    if (access(place.c_str(), W_OK | X_OK) != 0 || statvfs(place.c_str(), &space) != 0) continue;
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    const auto processes = static_cast<uint64_t>(free / kMemoryPerProcess);
    if (!found.empty()) found += "; ";
    found += fmt::format("{} has {} for {} of {}", place, show_bytes(free),
                         counted(processes, "process", "processes"), show_bytes(kMemoryPerProcess));
    if (processes < cores) continue;
    if (place == "/dev/shm") return {"memory", Check::kOk, found, ""};
    return {"memory", Check::kWarn, found,
            "records on a disk disturb a run; 'rubato trace --memory 64MiB' needs less"};
  }
  if (found.empty())
    return {"memory", Check::kFail, "neither /dev/shm nor TMPDIR can be written",
            "name a directory with 'rubato trace --records DIR'"};
  return {"memory", Check::kWarn, found,
          "this is less than a process per core needs; use 'rubato trace --memory 64MiB'"};
}

Check counter_check() {
  const std::string paranoid = first_line_of("/proc/sys/kernel/perf_event_paranoid");
  const std::string setting = paranoid.empty() ? "no kernel.perf_event_paranoid"
                                               : "kernel.perf_event_paranoid = " + paranoid;
  const std::string papi = papi_library();
  const std::string library = papi.empty() ? ", no PAPI" : ", PAPI (" + papi + ")";
  int error = 0;
  const bool software = can_count(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, error);
  const bool hardware = can_count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, error);
  if (hardware) return {"counters", Check::kOk, "hardware and software, " + setting + library, ""};
  if (software)
    return {
        "counters", Check::kWarn, "software only, " + setting + library,
        "this machine offers no hardware counters, as most virtual machines; page faults, context "
        "switches and task clock work"};
  return {
      "counters", Check::kWarn, "none, " + setting + library,
      "ask the administrator for kernel.perf_event_paranoid = 2; tracing works without counters"};
}

Check clock_check() {
  const std::string sources =
      first_line_of("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  const std::string current =
      first_line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (sources.find("tsc") != std::string::npos)
    return {"clock", Check::kOk, "time-stamp counter; the kernel uses " + current, ""};
  return {"clock", Check::kWarn,
          "CLOCK_MONOTONIC from " + (current.empty() ? "an unknown source" : current),
          "the kernel does not trust the time-stamp counter, so a time stamp costs more"};
}

Check core_check() {
  const cpu_set_t own = own_cores();
  const int count = CPU_COUNT(&own);
  std::set<std::string> siblings;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &own)) continue;
    siblings.insert(first_line_of(
        fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core)));
  }
  std::string found = counted(static_cast<uint64_t>(count), "processor", "processors");
  if (static_cast<int>(siblings.size()) < count && !siblings.count(""))
    found += fmt::format(" on {}", counted(siblings.size(), "core", "cores"));
  const auto online = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < online) found += fmt::format(" of {} in this machine", online);
  std::string advice;
  if (const double quota = core_quota(); quota > 0 && quota < count) {
    found += fmt::format(", of which this control group may use {:.1f}", quota);
    advice = "start at most as many ranks as the quota has cores";
  }
  const double load = leading_number(first_line_of("/proc/loadavg").c_str());
  found += fmt::format(", load {:.1f} in the last minute", load);
  if (load > kBusy) {
    if (!advice.empty()) advice += "; ";
    advice += "other programs share the cores: times recorded now include their disturbance";
  }
  return {"cores", advice.empty() ? Check::kOk : Check::kWarn, found, advice};
}

}  // namespace rubato
