#pragma once

#include <string>

#include "tracer/archive/archive_definitions.h"

namespace rubato {
inline namespace tracing {

/// Functions of programs that were compiled with -finstrument-functions: such a program calls
/// __cyg_profile_func_enter() and __cyg_profile_func_exit(), which are ours unless it has its own.
/// Their addresses go on record; see function_word().
///
/// Functions inside an MPI call, such as those of an MPI_Op, are not recorded.
namespace functions {

/// Starts to record functions, except those that the rules exclude (function_filter.h). Once, when
/// the call of MPI_Init is on record. Now and then some pass unrecorded, unless rules exclude any
/// (function_probe.h).
void start(const std::string& filter);

/// Whether a function of this process has called a hook, and ours.
FunctionHooks hooks();

/// Records kMarkFunctionEnter or kMarkFunctionLeave for this thread, unless the function is
/// excluded.
void note(unsigned mark, const void* function);

/// The next functions that this thread enters or leaves pass by unrecorded; then its probe is told
/// (function_probe.h).
void pass(uint32_t functions);
/// Ends that; returns how many had not passed yet.
uint32_t stop_passing();

}  // namespace functions
}  // namespace tracing
}  // namespace rubato
