#pragma once

#include "tracer/definitions.h"

namespace rubato {

/// Gives windows and the groups of their synchronisation numbers for the whole job, after
/// communicators have theirs. Collective over `comm`, which holds all ranks.
///
/// A window is reported by its first member. Those that hold one process alone share definitions,
/// as such communicators do: the k-th of them on every rank is the k-th, on MPI_COMM_SELF.
void unify_windows(MPI_Comm comm, Definitions& definitions);

}  // namespace rubato
