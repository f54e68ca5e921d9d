#pragma once

#include <string>
#include <vector>

#include "models/placement/pairs.h"
#include "models/platform/interconnect.h"
#include "replay/rules/recorded/recorded_minima.h"

namespace rubato {

/// A group of scenarios with one structure: what they share, and what differs per lane.
struct LaneMachines {
  std::vector<Interconnect> interconnects;  ///< one per lane
  std::vector<std::string> names;           ///< of the scenarios, for error messages; one per lane
  std::vector<double> cpu;                  ///< one per lane
  Pairs pairs;                              ///< the same in all lanes
  double ticks_per_second = 1e9;
  double outside_ticks = 0;    ///< tracing overhead to subtract from each gap of compute
  double function_ticks = 0;   ///< and per function record in it
  double inside_ticks = 0;     ///< and from each call that keeps its time
  bool keep_stolen = false;    ///< the time in which threads had no core
  bool spinning_waits = true;  ///< polling loops are waits (polling.h); else as recorded
  bool looks_at_posts = true;  ///< as EventSource::looks_at_posts()
  const RecordedMinima* minima = nullptr;  ///< of the recording, if it was surveyed

  /// Errors: InputError where the platform of a lane has no costs for a level that messages use.
  void require(int lane, Level level) const;
  /// Of the first lane, in ticks.
  Wire wire(PairClass pair, double bytes) const;
};

}  // namespace rubato
