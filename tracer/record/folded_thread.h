#pragma once

#include <cstdint>

namespace rubato {
inline namespace tracing {

/// The latest calls of one row that received nothing, with no other in between.
struct Polls {
  uint32_t call = UINT32_MAX;  ///< index of its sums
  uint64_t enter = 0, leave = 0;
  uint64_t ticks = 0;   ///< in them
  uint64_t stolen = 0;  ///< nanoseconds
};

/// The state of a thread between two segments of its records.
struct FoldedThread {
  uint32_t number = 0;
  uint64_t posted = 0;  ///< requests
  Polls polls = {};
};

}  // namespace tracing
}  // namespace rubato
