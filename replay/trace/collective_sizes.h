#pragma once

#include <cstdint>

#include "models/cost/collectives.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The payload for algorithm_seconds(), from the recorded sizes: the part that one member sends to,
/// or gets from, each other member; the whole vector for Bcast and for reductions to one result.
/// `members`: size of the communicator; `me`: local rank.
double payload_bytes(SizeConvention convention, CollectiveOp op, int members, int me, uint64_t sent,
                     uint64_t received);

}  // namespace rubato
