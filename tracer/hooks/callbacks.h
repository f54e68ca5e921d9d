#pragma once

#include "tracer/record/own_work.h"

/// Functions that the program gives to MPI: MPI gets one of the tracer's in their place, which
/// calls the program's with all its arguments and records how long it ran (own_work.h).
///
/// It does not know their arguments: on x86-64 all of them are words in registers, in C and in
/// Fortran, but the last one of Fortran's longest. There is one for each function of the program
/// and kind, for as long as the process lives, so MPI may call it whenever it likes: MPI_Op_free
/// does not end a reduction under way. Beyond kMostCallbacks MPI gets the program's own.
namespace rubato {
inline namespace tracing {

inline constexpr size_t kMostCallbacks = 256;

/// What MPI gets in place of `function`: null, and what MPI itself defines for attributes and data
/// representations (MPI_COMM_DUP_FN), stay as they are. Not for the hot path.
void* interposed(void* function, CallbackKind kind);
template <class Function>
Function* interposed(Function* function, CallbackKind kind) {
  return reinterpret_cast<Function*>(interposed(reinterpret_cast<void*>(function), kind));
}

}  // namespace tracing
}  // namespace rubato
