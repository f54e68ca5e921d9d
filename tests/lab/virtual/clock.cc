// The calibrator's clock under SMPI: it has the full resolution of SimGrid's, and computing is
// sleeping.
#include "calibrate/clock/clock.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>

namespace rubato {

double now() {
  return simgrid_get_clock();
}

void compute(double seconds) {
  if (seconds > 0) sg_actor_sleep_for(seconds);
}

void wait_until(double time) {
  compute(time - now());
}

}  // namespace rubato
