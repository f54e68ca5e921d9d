#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

/// The kernel's information about cores, to detect ranks that shared them.
namespace rubato {
inline namespace tracing {

/// 0 where it is not known.
struct Processors {
  uint64_t affinity_cores = 0;  ///< that this thread may run on
  std::string affinity_list;    ///< which ones, as taskset has it: "0-3,8"
  uint64_t cores_on_node = 0;
  int socket = -1;  ///< that all of these cores are on; -1 where they are on several
};
Processors processors_now();

/// The common socket of the cores in a list ("0-3,8"), by the kernel's numbers (hwloc's source); -1
/// if there are several, or if unknown.
int socket_of_cores(const std::string& list,
                    const std::string& directory = "/sys/devices/system/cpu");

inline constexpr uint64_t kUnknownSwitches = UINT64_MAX;

/// How often a thread of this process was taken off its core; kUnknownSwitches when it has ended.
uint64_t involuntary_switches(pid_t thread);
/// The same for the calling thread, by one system call.
uint64_t own_involuntary_switches();

}  // namespace tracing
}  // namespace rubato
