#pragma once

// Who waits for one-sided operations that flow through a network (rules/one_sided_flows.h). In the
// order of time alone; without it, the arithmetic of windows.h says when they end. Ticks.

#include <cstdint>
#include <limits>
#include <vector>

#include "replay/trace/action.h"

namespace rubato {

/// What an origin aims at a target until a fence, a complete, or the end of the window shows it.
struct Landing {
  /// An unlock that gives its lock back once all has landed.
  struct Release {
    Action unlock;
    uint32_t turn = 0;
    int32_t timeline = 0;
    double earliest = 0;  ///< when the word of it is at the target
  };

  int under_way = 0;
  double last = -std::numeric_limits<double>::infinity();  ///< arrival of the latest
  std::vector<int32_t> waiting;                            ///< timelines, for all of them
  std::vector<Release> releases;
};

/// The operations of a number (OneSidedAction::slot).
struct SlotFlows {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Result {
    double gap = 0;  ///< for how long it occupies the in-port
    double arrival = 0;
  };

  int leaving = 0;              ///< those whose local end is to come
  int under_way = 0;            ///< those that are not over
  double left = kNever;         ///< local end of the latest that others had held up when it was due
  double landed = kNever;       ///< arrival of the latest at the target
  std::vector<Result> results;  ///< what is fetched, in the order of the calls
  std::vector<int32_t> waiting;  ///< timelines
};

}  // namespace rubato
