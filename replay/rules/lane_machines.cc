#include "replay/rules/lane_machines.h"

#include "models/base/error.h"

namespace rubato {

void LaneMachines::require(int lane, Level level) const {
  if (interconnects[lane].has(level)) return;
  if (level == Level::kSocket) level = Level::kNode;  // which would do
  const std::string name = kLevelNames[static_cast<int>(level)];
  std::string other = name == "network" ? "node" : "network";
  for (int i = 0; i < kLevels; ++i) {
    if (interconnects[lane].has(static_cast<Level>(i))) other = kLevelNames[i];
  }
  throw InputError("scenario '" + names[lane] + "': there are messages of level '" + name +
                   "', but the platform has no [level." + name +
                   "]; add it, or let another level stand in with --fallback-level " + other);
}

Interconnect::Wire LaneMachines::wire(Level level, double bytes) const {
  Interconnect::Wire wire = interconnects[0].wire(level, bytes);
  wire.data *= ticks_per_second;
  wire.port *= ticks_per_second;
  wire.gap *= ticks_per_second;
  return wire;
}

}  // namespace rubato
