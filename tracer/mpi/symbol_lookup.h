#pragma once

#include <string>
#include <vector>

/// MPI functions found by dlsym(), and libraries loaded with RTLD_DEEPBIND.
///
/// The tracer is loaded in front of the MPI library, so the loader binds references to MPI_Send to
/// the tracer. There are two exceptions:
///
///  * Lookup at run time: a program calls dlsym() on the handle of the MPI library (Python's
///    ctypes, numba-mpi, Julia), or a wrapper library looks for the next definition behind itself
///    (dlsym(RTLD_NEXT, "PMPI_Send"), as Darshan does).
///  * RTLD_DEEPBIND: a library loaded with it, and its dependencies, are searched first.
///
/// The tracer therefore interposes dlsym() and dlopen() as well. Both depend on their caller, so
/// ours jump to the real functions, which see the program as the caller. dlsym() returns the
/// tracer's PMPI function where the real one would return a function of the MPI library. After a
/// dlopen() with RTLD_DEEPBIND, references of the new libraries to MPI and loader functions are
/// rebound to the tracer at the next dlsym(), which a program needs to call such a library.
namespace rubato {
inline namespace tracing {

/// dlsym of the C library, as called by the tracer.
void* real_dlsym(void* handle, const char* name);

/// How calls of MPI got to the tracer, and what got past it.
struct Interception {
  bool by_reference = false;  ///< the loader bound a reference to the tracer
  bool by_dlsym = false;      ///< dlsym() returned functions of the tracer
  bool by_deepbind = false;   ///< references were rebound to the tracer
  /// Libraries with references that bypass the tracer, sorted: these calls are not recorded.
  std::vector<std::string> unwatched;
};
/// Takes some milliseconds; call it at the end of the run.
Interception interception();

}  // namespace tracing
}  // namespace rubato
