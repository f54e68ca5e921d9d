#pragma once

#include "models/scenario/scenario.h"

namespace rubato {

/// The same machine replayed in time order but without contention: unlimited buses on all levels.
inline Scenario with_all_buses(Scenario scenario) {
  scenario.name = "buses";
  scenario.platform.contention.model = network_model("buses");
  scenario.platform.contention.levels.fill(true);
  return scenario;
}

}  // namespace rubato
