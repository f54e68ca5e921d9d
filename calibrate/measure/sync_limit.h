#pragma once

#include <mpi.h>

#include <optional>

#include "calibrate/clock/global_clock.h"
#include "models/collective/collectives.h"

namespace rubato {

/// The payload from which on the members of a rooted collective synchronise more than its semantics
/// demand. For each test one member comes late (the root of a gather or reduction; in others the
/// last child, which passes nothing on); the payload is above the limit if another member is still
/// in the call then. Collective; all ranks get the result.
std::optional<size_t> find_sync_limit(MPI_Comm comm, CollectiveOp op, size_t max_bytes,
                                      const GlobalClock& clock);

}  // namespace rubato
