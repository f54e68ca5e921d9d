#include "replay/cluster/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <locale>

namespace rubato {
namespace {

/// The number of processors that a container may use, by the quota of its control group (cpu.max:
/// microseconds of each period); no limit if there is none.
int quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  file.imbue(std::locale::classic());
  double time = 0, period = 0;
  if (!(file >> time >> period) || !(period > 0)) return std::numeric_limits<int>::max();  // "max"
  return std::max(1, static_cast<int>(std::min(time / period, 1e6)));
}

}  // namespace

int available_processors(int processes) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  // A process bound to some processors has those for itself; the quota is shared by all.
  const bool is_bound = CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN);
  const int own = is_bound ? CPU_COUNT(&set) : CPU_COUNT(&set) / processes;
  return std::max(1, std::min(own, quota() / processes));
}

}  // namespace rubato
