#pragma once

#include <mpi.h>

#include <optional>

#include "calibrate/clock/global_clock.h"
#include "models/collective/collectives.h"

namespace rubato {

/// The payload from which on the members of a rooted collective hold each other beyond its
/// semantics: one member comes late (the root of a gather or reduction; of the others the last
/// child, which passes nothing on), and another member is still in the call when it comes.
/// Collective; all ranks get the answer.
std::optional<size_t> find_sync_limit(MPI_Comm comm, CollectiveOp op, size_t max_bytes,
                                      const GlobalClock& clock);

}  // namespace rubato
