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
/// the call of MPI_Init is on record.
void start(const std::string& filter);

/// Puts kMarkFunctionEnter or kMarkFunctionLeave on this thread's record, unless the function is
/// left out.
void note(unsigned mark, const void* function);

}  // namespace functions
}  // namespace rubato
