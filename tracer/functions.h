#pragma once

#include <string>

namespace rubato {

/// Functions of programs that were compiled with -finstrument-functions: such a program calls
/// __cyg_profile_func_enter() and __cyg_profile_func_exit(), which are ours unless it has its own.
/// Their addresses go on record; see function_word().
///
/// Not recorded is what runs inside an MPI call, such as the functions behind an MPI_Op.
namespace functions {

/// Starts to record them, but for those that the rules leave out (function_filter.h). Once, when
/// the call of MPI_Init is on record. `probe_overhead`: some pass by unrecorded (function_probe.h).
void start(const std::string& filter, bool probe_overhead);

/// Puts kMarkFunctionEnter or kMarkFunctionLeave on this thread's record, unless the function is
/// left out.
void note(unsigned mark, const void* function);

/// The next functions that this thread enters or leaves pass by unrecorded; then its probe is told
/// (function_probe.h).
void pass(uint32_t functions);
/// That is over; returns how many had not passed by yet.
uint32_t stop_passing();

}  // namespace functions
}  // namespace rubato
