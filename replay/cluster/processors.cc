#include "replay/cluster/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace rubato {

int available_processors(int processes) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  // One that is bound to some of them has those for itself.
  const bool is_bound = CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN);
  return is_bound ? CPU_COUNT(&set) : std::max(1, CPU_COUNT(&set) / processes);
}

}  // namespace rubato
