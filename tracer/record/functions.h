#pragma once

#include <cstdint>
#include <string>

namespace rubato {
inline namespace tracing {

/// Whether the program's functions were to be recorded, and what is known of them.
enum class FunctionHooks : uint32_t {
  kNotAsked,
  kUnseen,  ///< none called a hook: the program is not compiled for it
  kSeen,
  kOthers  ///< the program has hooks of its own, and ours are not called
};

/// Functions of programs that were compiled with -finstrument-functions: such a program calls
/// __cyg_profile_func_enter() and __cyg_profile_func_exit(), which are ours unless it has its own.
/// Their addresses go on record; see function_word().
///
/// Functions inside an MPI call, such as those of an MPI_Op, are not recorded.
namespace functions {

/// Starts recording functions, except functions excluded by the rules (function_filter.h). Call it
/// once, when the call of MPI_Init is recorded. From time to time some functions pass unrecorded,
/// unless rules exclude any (function_probe.h).
void start(const std::string& filter);

/// Whether functions of this process have called hooks, and whether these were ours.
FunctionHooks hooks();

/// Records kMarkFunctionEnter or kMarkFunctionLeave for this thread, unless the function is
/// excluded.
void note(unsigned mark, const void* function);

/// The next `functions` entries and exits on this thread are not recorded; then
/// FunctionProbe::passed() is called.
void pass(uint32_t functions);
/// Ends pass(); returns the number of functions that had not passed yet.
uint32_t stop_passing();

}  // namespace functions
}  // namespace tracing
}  // namespace rubato
