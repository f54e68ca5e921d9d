#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "call_ids.h"
#include "tracer/mpi/mpi_headers.h"
#include "tracer/mpi/mpi_library.h"

/// The MPI library behind the wrappers, found at run time, and how a call gets from the program to
/// the wrapper.
///
/// Each call is recorded once, where it is about to enter MPI's own library:
///
///     program ─ MPI_Send ──▶ tracer ─────────────────────────────────▶ libmpi
///     program ─ MPI_Send ──▶ tracer ─▶ a tool's MPI_Send ─ PMPI_Send ─▶ tracer ─▶ libmpi
///     program's own MPI_Send ─ PMPI_Send ────────────────────────────▶ tracer ─▶ libmpi
///
/// The tracer defines MPI_Send and PMPI_Send. PMPI_Send records, unless the thread is inside a
/// recorded call: then the MPI library calls itself. MPI_Send records as well, except where the
/// next definition of MPI_Send belongs to another wrapper library (Darshan, mpiP, UnifyFS): then it
/// jumps there, and the call comes back as PMPI_Send. The symbols of an executable with an MPI_Send
/// of its own take precedence over preloaded ones, and it calls PMPI_Send. Fortran's bindings are
/// separate libraries, which call MPI_Send or PMPI_Send of C
/// (tests/e2e/calls/trace_fortran_symbols.sh), so they need no wrappers, but for some that take a
/// function of the program (callbacks.cc). Programs that look
/// functions up themselves: symbol_lookup.h.
///
/// The tracer is preloaded into whatever the user runs, also into programs that never load an MPI
/// library, so nothing here may refer to one by a relocation. Functions come from dlsym at their
/// first call; the predefined handles, which are constants under MPICH and addresses of data under
/// Open MPI, from load_handles(). Do not write MPI_COMM_WORLD, MPI_REQUEST_NULL and so on in the
/// tracer; the linker (-z defs) refuses them under Open MPI. MPI_STATUS_IGNORE, MPI_IN_PLACE and
/// the integer constants are numbers in both.
namespace rubato {
inline namespace tracing {

/// Name of a wrapped call and OTF2's role of its region.
struct CallInfo {
  const char* name;
  unsigned role;
};
extern const CallInfo kCalls[kCallCount];

/// The addresses of the PMPI functions that were looked up already.
extern std::atomic<void*> pmpi_table[kCallCount];
void* resolve_pmpi(CallId id);

template <class Function>
inline Function pmpi(CallId id) {
  void* address = pmpi_table[id].load(std::memory_order_relaxed);
  if (address == nullptr) [[unlikely]]
    address = resolve_pmpi(id);
  return reinterpret_cast<Function>(address);
}

/// PMPI(Comm_rank)(comm, &rank) calls PMPI_Comm_rank.
#define PMPI(name) ::rubato::pmpi<decltype(&PMPI_##name)>(::rubato::kMPI_##name)

/// A function of the MPI library in this process, or null; never one of the tracer's. Finds
/// libraries that were loaded with RTLD_LOCAL too (Python extensions).
void* mpi_function(const char* name);
/// Likewise a variable.
void* mpi_variable(const char* name);

/// Where the tracer's MPI_X and PMPI_X jump to, by CallId: the wrapper of X, or
///  * for MPI_X, another wrapper library's MPI_X (find_wrapper_libraries()), but for MPI_Pcontrol,
///  * after pass_everything() the MPI library's PMPI_X.
extern "C" __attribute__((visibility("hidden"))) void* rubato_mpi_entries[kCallCount];
extern "C" __attribute__((visibility("hidden"))) void* rubato_pmpi_entries[kCallCount];

/// Finds the wrapper libraries between the program and the MPI library. To be called when the
/// program's libraries are loaded; does nothing before there is an MPI library or when it has been
/// done. True when it was done by this call.
bool find_wrapper_libraries();
/// The MPI_Pcontrol of a wrapper library behind the tracer; null where there is none.
extern std::atomic<decltype(&PMPI_Pcontrol)> next_pcontrol;
/// File names of these libraries, and "the program" if that has wrappers itself; sorted.
const std::vector<std::string>& wrapper_libraries();

/// Disables all wrappers: calls go straight to the MPI library. For a library with another mpi.h,
/// whose handles our wrappers would truncate.
void pass_everything();

/// The predefined handles that the tracer needs.
struct Handles {
  MPI_Comm world;
  MPI_Comm self;
  MPI_Comm comm_null;
  MPI_Request request_null;
  MPI_Datatype datatype_null;
  MPI_Datatype byte;
  MPI_Datatype int64;
  MPI_Info info_null;
  MPI_Op min;
  MPI_Op max;
  MPI_Op sum;
  MPI_Op no_op;
  MPI_Errhandler errors_return;
};
extern Handles handles;

/// Fills `handles`; false if the MPI library is not of the kind this tracer was built for, or lacks
/// one of them.
bool load_handles();

/// Name of the missing handle; null if the library is of the other kind.
const char* missing_handle();

template <class Handle>
inline uint64_t handle_bits(Handle handle) {
  return (uint64_t)handle;  // an integer under MPICH, a pointer under Open MPI
}

/// Size of a datatype in bytes; 0 for MPI_DATATYPE_NULL (which MPI allows where a count is 0).
inline uint64_t type_size(MPI_Datatype type) {
  if (const uint64_t known = library::size_in_handle(type); known != 0) return known;
  if (type == handles.datatype_null) return 0;
  int size = 0;
  PMPI(Type_size)(type, &size);
  if (size != MPI_UNDEFINED) return static_cast<uint64_t>(size);
  MPI_Count large = 0;
  PMPI(Type_size_x)(type, &large);
  return large < 0 ? 0 : static_cast<uint64_t>(large);
}

/// Bytes of `count` elements.
template <class Count>
uint64_t bytes_of(Count count, MPI_Datatype type) {
  return static_cast<uint64_t>(count) * type_size(type);
}

}  // namespace tracing
}  // namespace rubato
