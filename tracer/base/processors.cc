#include "tracer/base/processors.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace rubato {
inline namespace tracing {
namespace {

/// The cores of a set of `bits`, runs of them as FIRST-LAST.
std::string list_of(const cpu_set_t* set, size_t size, int bits) {
  std::string list;
  for (int i = 0; i < bits; ++i) {
    if (!CPU_ISSET_S(i, size, set)) continue;
    const int first = i;
    while (i + 1 < bits && CPU_ISSET_S(i + 1, size, set)) ++i;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (i > first) list += '-' + std::to_string(i);
  }
  return list;
}

/// The socket of a core; -1 if unknown.
int socket_of_core(long core, const std::string& directory) {
  const std::string name =
      directory + "/cpu" + std::to_string(core) + "/topology/physical_package_id";
  FILE* file = std::fopen(name.c_str(), "re");
  if (file == nullptr) return -1;
  int socket = -1;
  if (std::fscanf(file, "%d", &socket) != 1) socket = -1;
  std::fclose(file);
  return socket;
}

}  // namespace

int socket_of_cores(const std::string& list, const std::string& directory) {
  int socket = -1;
  const char* at = list.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    if (end == at || (*end != ',' && *end != '\0')) return -1;
    for (long core = first; core <= last; ++core) {
      const int here = socket_of_core(core, directory);
      if (here < 0 || (socket >= 0 && here != socket)) return -1;
      socket = here;
    }
    at = *end == ',' ? end + 1 : end;
  }
  return socket;
}

Processors processors_now() {
  Processors now;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores > 0) now.cores_on_node = static_cast<uint64_t>(cores);
  // The mask of a large machine does not fit the usual set.
  for (int bits = 1024; bits <= 1 << 16; bits *= 4) {
    cpu_set_t* set = CPU_ALLOC(bits);
    const size_t size = CPU_ALLOC_SIZE(bits);
    const bool known = set != nullptr && sched_getaffinity(0, size, set) == 0;
    if (known) {
      now.affinity_cores = static_cast<uint64_t>(CPU_COUNT_S(size, set));
      now.affinity_list = list_of(set, size, bits);
    }
    CPU_FREE(set);
    if (known) break;
  }
  now.socket = socket_of_cores(now.affinity_list);
  return now;
}

uint64_t involuntary_switches(pid_t thread) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/status", thread);
  FILE* file = std::fopen(name, "re");
  if (file == nullptr) return kUnknownSwitches;
  char line[256];
  unsigned long long count = kUnknownSwitches;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1) break;
  }
  std::fclose(file);
  return count;
}

uint64_t own_involuntary_switches() {
  rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<uint64_t>(usage.ru_nivcsw) : 0;
}

}  // namespace tracing
}  // namespace rubato
