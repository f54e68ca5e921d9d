#pragma once

#include "tracer/session/session.h"

/// Whether this program can be traced at all: by this MPI library, and on all ranks.
namespace rubato {
inline namespace tracing {

/// Loads the handles of the MPI library. False, with a message of one rank, if the program has
/// loaded, after its start, an MPI library of the other kind (only its launcher could tell) or one
/// that the tracer does not know. Then it runs untraced.
bool has_known_library();

/// False, with a message of one rank, if some ranks are not traced. These would not take part in
/// the tracer's communication, so the program runs untraced. Call it once, after MPI_Init.
bool every_rank_is_traced();

}  // namespace tracing
}  // namespace rubato
