#pragma once

#include <cstdint>

#include "models/cost/collectives.h"
#include "replay/trace/trace.h"

namespace rubato {

/// The payload that algorithm_seconds() wants from the sizes an archive recorded: what one member
/// contributes to, or gets from, each other one; the whole vector for Bcast and the reductions to
/// one result. `members` of the communicator, `me` the local rank.
double payload_bytes(SizeConvention convention, CollectiveOp op, int members, int me, uint64_t sent,
                     uint64_t received);

}  // namespace rubato
