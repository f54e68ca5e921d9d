#pragma once

#include <string>
#include <vector>

/// MPI functions that are found by dlsym, and libraries that are loaded with RTLD_DEEPBIND.
///
/// The loader takes the tracer's MPI_Send for a reference to MPI_Send, as the tracer is in front of
/// the MPI library. It does not where
///
///  * a program asks for the function itself, by dlsym() on the handle of the MPI library (Python's
///    ctypes, numba-mpi, Julia), or a wrapper library asks for the next one behind itself
///    (dlsym(RTLD_NEXT, "PMPI_Send"), as Darshan does),
///  * a library is loaded with RTLD_DEEPBIND: then it and the libraries it needs come first.
///
/// So the tracer stands in front of dlsym() and dlopen() as well. Both depend on who calls them, so
/// ours jump to the real ones, which see the program as the caller. dlsym() answers with the
/// tracer's PMPI function where the real one would with a function of the MPI library. After a
/// dlopen() with RTLD_DEEPBIND, references of the new libraries to functions of the MPI library,
/// and to the loader's, are led to the tracer at the next dlsym(), without which nobody gets into
/// such a library.
namespace rubato {
inline namespace tracing {

/// dlsym of the C library, as called by the tracer.
void* real_dlsym(void* handle, const char* name);

/// How calls of MPI got to the tracer, and what got past it.
struct Interception {
  bool by_reference = false;  ///< the loader bound a reference to the tracer
  bool by_dlsym = false;      ///< the process asked for functions of MPI
  bool by_deepbind = false;   ///< references were led to the tracer
  /// Libraries whose references lead past the tracer, sorted: what they call by these is not seen.
  std::vector<std::string> unwatched;
};
/// For the end of the run: takes some milliseconds.
Interception interception();

}  // namespace tracing
}  // namespace rubato
