#include "calibrate/clock/clock.h"

#include <sched.h>

#include <ctime>

namespace rubato {

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void compute(double seconds) {
  // Ranks may share a core, and the partner of this one may need it meanwhile. The last moments are
  // spent on the core, so that the timing that follows finds it warm.
  constexpr double kKeep = 10e-6;
  const double until = now() + seconds;
  for (double left = seconds; left > 0; left = until - now()) {
    if (left > kKeep) sched_yield();
  }
}

void wait_until(double time) {
  while (now() < time) continue;
}

}  // namespace rubato
