#include "replay/rules/lane_machines.h"

#include "models/base/error.h"

namespace rubato {

void LaneMachines::require(int lane, Level level) const {
  if (interconnects[lane].has(level)) return;
  const std::string name = kLevelNames[static_cast<int>(level)];
  throw InputError("scenario '" + names[lane] + "': there are messages of level '" + name +
                   "', but the platform has no [level." + name +
                   "] and no wider level; add it, or place all ranks on one node with ppn=RANKS");
}

Wire LaneMachines::wire(PairClass pair, double bytes) const {
  Wire wire = interconnects[0].wire(pair, bytes);
  wire.data *= ticks_per_second;
  wire.port *= ticks_per_second;
  wire.gap *= ticks_per_second;
  return wire;
}

}  // namespace rubato
