#pragma once

// Timelines that wait for one-sided operations that flow through a network
// (rules/one_sided_flows.h). Used in the order of time only; elsewhere windows.h computes when
// operations end. Times in ticks.

#include <cstdint>
#include <limits>
#include <vector>

#include "replay/trace/action.h"

namespace rubato {

/// The operations of an origin with one target, until a fence, a complete, or the end of the window
/// collects them.
struct Landing {
  /// An unlock that releases its lock once all operations have landed.
  struct Release {
    Action unlock;
    uint32_t turn = 0;
    int32_t timeline = 0;
    double earliest = 0;  ///< when its notification reaches the target
  };

  int under_way = 0;
  double last = -std::numeric_limits<double>::infinity();  ///< arrival of the latest operation
  std::vector<int32_t> waiting;  ///< timelines that wait for all operations
  std::vector<Release> releases;
};

/// The operations that share a number (OneSidedAction::slot).
struct SlotFlows {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Result {
    double gap = 0;  ///< how long it occupies the in-port
    double arrival = 0;
  };

  int leaving = 0;               ///< operations without local completion so far
  int under_way = 0;             ///< operations that are not complete
  double left = kNever;          ///< latest local completion of operations delayed by others
  double landed = kNever;        ///< latest arrival at the target
  std::vector<Result> results;   ///< fetched data, in the order of the calls
  std::vector<int32_t> waiting;  ///< timelines
};

}  // namespace rubato
