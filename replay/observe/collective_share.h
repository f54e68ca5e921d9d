#pragma once

#include <cstdint>

#include "replay/trace/trace.h"

namespace rubato {

/// One member's share of a collective in MPInside's tables (paper, section 3.2).
struct CollectiveShare {
  bool sends = false;     ///< it counts among the sends of the member
  bool receives = false;  ///< and among its receives
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  uint64_t size = 0;  ///< bytes of payload for one other member, or of the vector
};

/// The share of member `me` (its local rank) in `action`, a kCollective or kWaitCollective.
///
///   bcast            the root sends the buffer once, each other member receives it
///   scatter          the root sends all parts, each other member receives its own
///   reduce           each member but the root sends its vector, the root receives one
///   gather           each member but the root sends its part, the root receives all
///   all others       every member sends and receives: the buffer times the number of members
///   barrier, fence   no requests; only their calls are counted
///
/// Sizes are as recorded: in Score-P's convention they are the products already.
CollectiveShare collective_share(const TraceDefinitions& trace, const Action& action, int me);

}  // namespace rubato
