#pragma once

#include "models/scenario/scenario.h"

namespace rubato {

/// The same machine in the order of time, where nobody is in anybody's way: as many buses as like,
/// for all levels.
inline Scenario with_all_buses(Scenario scenario) {
  scenario.name = "buses";
  scenario.platform.contention.model = network_model("buses");
  scenario.platform.contention.levels.fill(true);
  return scenario;
}

}  // namespace rubato
